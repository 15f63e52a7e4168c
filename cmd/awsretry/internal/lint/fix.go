package lint

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// Fixed is a file with mechanical cures: headers, keys and quotes of retry settings as all tools read them, and the
// whole in UTF-8 without a mark. What the values mean stays, and so does every other byte.
type Fixed struct {
	Path          string
	Before, After string
	Decoded       string // What the file began with or was, if that is cured.
	Lines         []FixedLine
}

// FixedLine is a line that differs. Its texts have no comment, and of values only those of retry settings.
type FixedLine struct {
	Number        int
	Before, After string
}

// edit is the cure of a line.
type edit struct {
	line     int32
	old, new string
	target   string // What there must be once only afterwards: a header of a profile, or a setting of one.
	adds     bool   // It is not there before.
}

// Fix returns the files that have cures. The error is a [*config.UnreadableError] for a file that code named and that
// cannot be read, or is missing, and for any file above 4 MiB.
func Fix(src config.Sources) (fixed []Fixed, err error) {
	r := report{fixing: true}
	if err := r.open(src); err != nil {
		return nil, err
	}
	r.look()
	var before [2]string
	for i := range r.files {
		x := &r.files[i]
		if x.Err != nil && x.ByCode {
			return nil, &config.UnreadableError{Kind: x.Kind, File: x.Path, Err: x.Err}
		}
		x.decode()
		before[i] = x.Data
	}
	for again := true; again; { // The keys of a section have cures once its header is cured.
		again = false
		r.pair.Read("", true)
		r.sections()
		for i := range r.files {
			x := &r.files[i]
			again = x.apply() || again
			x.found, x.last = map[string]*kept{}, nil
		}
	}
	for i := range r.files {
		x := &r.files[i]
		if x.Data == before[i] && x.decoded == "" || i == 1 && r.same {
			continue
		}
		f := Fixed{Path: x.Path, Before: x.Raw, After: x.Data, Decoded: x.decoded}
		if x.BOM && x.decoded == "" {
			f.After = "\uFEFF" + f.After
		}
		after := strings.Split(x.Data, "\n")
		for n, line := range strings.Split(before[i], "\n") {
			if line != after[n] {
				f.Lines = append(f.Lines, FixedLine{n + 1, uncommented(line), uncommented(after[n])})
			}
		}
		fixed = append(fixed, f)
	}
	return fixed, nil
}

func uncommented(line string) string {
	l := sharedfile.Line{Text: sharedfile.Trim(line), Kind: sharedfile.PropertyLine}
	if strings.HasPrefix(l.Text, "[") {
		return sharedfile.BeforeAny(l.Text)
	}
	p := l.Split()
	return p.Key + " " + string(p.Sign) + " " + p.Value
}

// decode makes the data UTF-8 without a mark, if that is certain.
func (x *file) decode() {
	x.line = 1
	text, what := x.Raw, ""
	switch {
	case x.hides(codeMalformedLine), x.hides(codeReadDifferently):
	case x.UTF16:
		text, what = fromUTF16(x.Raw), "UTF-16"
	case x.BOM:
		text, what = strings.TrimLeft(x.Raw, "\uFEFF"), "a byte-order mark"
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		text, what = text[2:], "the mark of UTF-16"
	}
	if what != "" && utf8.ValidString(text) && text != x.Raw {
		x.Data, x.Valid, x.UTF16, x.decoded = text, true, false, what
	}
}

// fromUTF16 returns a text in UTF-8, or as it is if it is not UTF-16 without fault.
func fromUTF16(raw string) string {
	var order binary.ByteOrder = binary.LittleEndian
	if raw[0] == 0 || raw[0] == 0xfe {
		order = binary.BigEndian
	}
	units := make([]uint16, len(raw)/2)
	_, err := binary.Decode([]byte(raw), order, units)
	text := string(utf16.Decode(units))
	if err != nil || len(raw)%2 != 0 || strings.ContainsRune(text, utf8.RuneError) {
		return raw
	}
	return strings.TrimPrefix(text, "\uFEFF")
}

// apply changes the lines that have cures, and reports whether there are any.
func (x *file) apply() bool {
	counts := map[string]int{}
	for place, s := range x.Sections {
		for i := range s.Lines {
			if place.Profile && s.Lines[i].Kind == sharedfile.Header {
				counts[place.Name]++
			}
		}
		for _, given := range s.Settings() {
			counts[place.Name+"\n"+given.Key]++
		}
	}
	for _, e := range x.edits {
		if e.adds {
			counts[e.target]++
		}
	}
	x.edits = slices.DeleteFunc(x.edits, func(e edit) bool { return counts[e.target] > 1 })
	if len(x.edits) == 0 {
		return false
	}
	lines := strings.Split(x.Data, "\n")
	for _, e := range x.edits {
		lines[e.line-1] = strings.Replace(lines[e.line-1], e.old, e.new, 1)
	}
	x.Data, x.edits = strings.Join(lines, "\n"), nil
	return true
}

// cureHeader notes the cure of a header for a profile, unless it is written as all tools read it.
func (x *file) cureHeader(l *sharedfile.Line, name string, misnamed bool) {
	if !x.fixing {
		return
	}
	old, cured := sharedfile.BeforeAny(l.Text), x.headerFor(name, sharedfile.HeaderName(l.Text))
	code := codeReadDifferently
	if misnamed {
		code = codeIgnoredSection
	}
	if old != cured && sharedfile.IsIdentifier(name) && !x.hides(code) {
		x.edits = append(x.edits, edit{l.Number, old, cured, name, misnamed})
	}
}

// cure notes the cures of a property of a profile.
func (e *section) cure(p sharedfile.Property) {
	if !e.fixing {
		return
	}
	plain := p.Value
	if last := len(plain) - 1; last > 0 && (plain[0] == '"' || plain[0] == '\'') && plain[last] == plain[0] {
		plain = sharedfile.Trim(plain[1:last])
	}
	c, code := edit{line: e.line, old: p.Key, new: sharedfile.RetryKey(p.Key)}, codeReadDifferently
	if c.new == "" {
		c.new, c.adds, code = sharedfile.Lookalike(p.Key), true, codeMisspeltKey
		isRetries := c.new == sharedfile.MaxAttempts && strings.Contains(sharedfile.ASCIILower(p.Key), "retr") // One less than attempts.
		if c.new == "" || isRetries || e.continued || !e.Valid || refused(c.new, plain) != nil {
			return
		}
	}
	if e.hides(code) {
		return
	}
	c.target = e.Name + "\n" + c.new
	if p.Key != c.new {
		e.edits = append(e.edits, c)
	}
	if plain != p.Value && !e.continued && refused(c.new, plain) == nil && !e.hides(codeInvalidValue) {
		quotes := edit{line: e.line, old: p.Value, new: plain}
		if c.adds {
			quotes.target = c.target
		}
		e.edits = append(e.edits, quotes)
	}
}
