package sharedfile

import "strings"

// more stands for the lines of a value that are left out.
const more = "\n..."

// Setting is a retry setting in a section.
type Setting struct {
	Key       string
	Text      string // Of several lines the first, a newline and "...": the others may hold a secret.
	Line      int
	Sign      bool // The second line has an equals sign or a colon.
	Commented bool // The line is indented, and a comment follows the value.
}

// First returns the first line of the text.
func (s Setting) First() string { return strings.TrimSuffix(s.Text, more) }

// Settings returns the retry settings in the order of their lines.
func (s *Section) Settings() []Setting {
	if s.settings != nil {
		return s.settings
	}
	all := make([]Setting, 0, 2)
	within := false // a setting
	for i := range s.Lines {
		switch l := &s.Lines[i]; l.Kind {
		case PropertyLine:
			within = false
			if first := lowerByte(l.Text[0]); first != RetryMode[0] && first != MaxAttempts[0] {
				continue
			}
			p := l.Split()
			if key := RetryKey(p.Key); key != "" {
				all, within = append(all, Setting{Key: key, Text: p.Value, Line: int(l.Number), Commented: p.Comment && l.Depth > 0}), true
			}
		case Continuation:
			if last := len(all) - 1; within && !strings.HasSuffix(all[last].Text, more) {
				all[last].Text += more
				all[last].Sign = l.Split().Sign != 0
			}
		case Header, SubProperty, Skipped, Malformed, Comment:
		}
	}
	s.settings = all
	return all
}

// Value is the value of a property with all lines that continue it.
type Value struct {
	Text   []byte
	Secret bool // A further line has the key of a secret.
	Group  bool // The further lines are sub-properties.
}

// Values returns the properties by key in lower case. The last of equal keys wins.
func (s *Section) Values() map[string]*Value {
	if s == nil {
		return nil
	}
	all := map[string]*Value{}
	var v *Value
	for i := range s.Lines {
		l := &s.Lines[i]
		switch p := l.Split(); {
		case l.Kind == PropertyLine && !p.Dropped():
			v = &Value{Text: []byte(p.Value)}
			all[ASCIILower(p.Key)] = v
		case l.Kind == Continuation:
			v.Text, v.Secret = append(append(v.Text, '\n'), l.Text...), v.Secret || IsSecret(p.Key)
		case l.Kind == SubProperty:
			v.Group = true
		}
	}
	return all
}

// IsSecret reports whether the value of a key is never shown.
func IsSecret(key string) bool {
	key = ASCIILower(key)
	return strings.Contains(key, "secret") || strings.Contains(key, "token") || strings.Contains(key, "access_key")
}
