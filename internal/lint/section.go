package lint

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// section looks at the lines that one file has for one place.
type section struct {
	*file
	sharedfile.Place

	first   *sharedfile.Line              // The first header.
	current *sharedfile.Line              // The header of the current section.
	above   map[string]sharedfile.Setting // What the stronger file has.
	colons  map[string]int32              // The last line of each key with a ':', by what is before that.
	creds   [2]int32                      // The lines of the access key and of the secret key.

	// Since the current header:
	group  bool  // There was a property without a value.
	open   bool  // The last property has none.
	indent int32 // How many characters of whitespace are before the last property, or the largest number.
}

// section adds the findings about the lines that one of the files has for a place.
func (r *report) section(i int, p sharedfile.Place, s *sharedfile.Section) {
	e := &section{file: &r.files[i], Place: p, first: &s.Lines[0]}
	stronger := r.pair.Readings[1].Sections[p]
	if i == 0 && p.Profile && stronger != nil {
		e.above = map[string]sharedfile.Setting{}
		for _, v := range stronger.Settings() {
			e.above[v.Key] = v
		}
	}
	keys := map[string]int32{} // The last line of each key, in lower case. A field would move it to the heap.
	for i := range s.Lines {
		e.look(&s.Lines[i], keys)
	}
	if p.Profile {
		e.values(s, keys)
		e.line = max(e.creds[0], e.creds[1])
		e.noteIf(e.line > 0 && min(e.creds[0], e.creds[1]) == 0 && (i == 1 || stronger == nil), toolGo,
			"a profile with one of aws_access_key_id and aws_secret_access_key is refused")
	}
}

// look looks at one line.
func (e *section) look(l *sharedfile.Line, keys map[string]int32) {
	p := l.Split()
	key := sharedfile.RetryKey(p.Key)
	e.line = l.Number
	if l.Kind == sharedfile.Continuation || l.Kind == sharedfile.Skipped || l.Kind == sharedfile.PropertyLine && (l.Depth == 0 || !e.group) {
		at := slices.Index([]string{"aws_access_key_id", "aws_secret_access_key"}, sharedfile.ASCIILower(p.Key))
		if at >= 0 { // For aws-sdk-go-v2 a continuation is a property of its own.
			e.creds[at] = e.line
		}
	}
	switch l.Kind {
	case sharedfile.Header:
		e.header(l)
	case sharedfile.PropertyLine:
		e.property(l, p, key, keys)
	case sharedfile.Continuation, sharedfile.Skipped:
		names, above := toolGo, "a property with a value"
		if l.Kind == sharedfile.Skipped {
			above = "a skipped line"
		}
		if p.Sign == '=' && p.Key == key && p.Value != "" {
			names += ", " + toolJS
		}
		before, _, _ := strings.Cut(p.Key, ":") // For aws-sdk-go-v2 the key ends there.
		e.noteIf(e.Profile && sharedfile.RetryKey(sharedfile.Trim(before)) != "" && !e.open, names, "below "+above+" an indented line is a property of its own")
		e.hidden(l, p)
	case sharedfile.SubProperty:
		e.noteIf(p.Sign == ':', python, "':' in place of '=' in a sub-property"+unreadable)
	default:
		return
	}
	switch {
	case key == "" || l.Kind == sharedfile.PropertyLine:
	case l.Kind == sharedfile.Skipped:
		e.warn("indented-key", key+" has no effect here: the line is indented deeper than one that is skipped, so it is skipped too")
	default:
		e.warn("indented-key", key+" has no effect here: the line is indented deeper than the property above, so it belongs to that")
	}
	e.noteIf(p.Value == "'" || p.Value == `"`, toolGo, crash)
	_, after, cut := strings.Cut(l.Text, "\r")
	e.noteIf(cut, python, endsAtCR)
	e.noteIf(cut && !strings.ContainsAny(after, "=:"), python, "what follows the CR"+unreadable)
}

func (e *section) header(l *sharedfile.Line) {
	if e.current != nil {
		e.again(l)
	}
	e.current, e.group, e.open, e.indent = l, false, false, math.MaxInt32
	text, key := sharedfile.BeforeAny(l.Text), sharedfile.HeaderName(l.Text)
	comment, inner := l.Text[len(text):], text[1:len(text)-1]
	e.noteIf(strings.Contains(comment, "]"), python, "the name goes on up to the ']' in the comment")
	e.noteIf(inner == "__proto__" || inner == "profile __proto__", toolJS, "a section of this name"+unreadable)
	config := e.Kind == sharedfile.Config
	rest, prefixed := strings.CutPrefix(key, "profile")
	if !e.Profile { // Other tools take some sections that are no profile for one.
		e.noteIf(config && prefixed && strings.ContainsAny(rest, " \t"), python, "the section is a profile, as its header begins with profile")
		e.noteIf(config && prefixed && strings.HasPrefix(rest, "."), toolJS, "the section is a profile, as its header begins with profile and a dot")
		return
	}
	names := toolJS
	if !config || key == sharedfile.DefaultProfile || inner[0] != key[0] {
		names = python + ", " + toolJS
	}
	e.noteIf(len(inner) > len(key), names, "the blanks inside the brackets are part of the name")
	if !config {
		e.noteIf(inner == forAll, python, "the section is no profile, and its keys count in every profile of the file")
		e.noteIf(twoWords(inner), toolJS, "the profile is not found, as its name has a blank")
		e.noteIf(strings.Contains(key, "  ") || strings.Contains(key, "\t"), toolGo, "several blanks in the name, or a tab, are read as one space")
		return
	}
	if key == sharedfile.DefaultProfile {
		return
	}
	name := sharedfile.Trim(rest)
	plain := sharedfile.Unquoted(name)
	quotes := len(plain) < len(name)
	e.noteIf(quotes, toolGo, "the quotes are part of the name")
	e.noteIf(!quotes && strings.ContainsAny(name, " \t'\"\\"), python,
		"the profile is not found, as blanks, quotes and backslashes in a name mean what they mean to a shell")
	e.noteIf(len(rest) > len(name)+1, toolJS, "the profile is not found, as more than one blank stands before its name")
	e.noteIf(!sharedfile.IsIdentifier(plain), toolJS,
		"the profile is not found, as its name has other characters than letters, digits and _/.%@:+-")
}

// again reports another section for the place.
func (e *section) again(l *sharedfile.Line) {
	if e.Profile {
		e.warn("duplicate-section", "profile "+sharedfile.Quote(e.Name)+" has a section on line "+
			strconv.Itoa(int(e.first.Number))+" already; the two count as one")
	}
	before, _, _ := strings.Cut(e.first.Text, "]")
	again, _, _ := strings.Cut(l.Text, "]")
	e.noteIf(before == again && e.Name != forAll, python, "a section that stands twice"+unreadable)
	e.noteIf(before != again && e.Profile, python, "of two sections for one profile the last one counts")
}

func (e *section) property(l *sharedfile.Line, p sharedfile.Property, key string, keys map[string]int32) {
	before, _, colon := strings.Cut(p.Key, ":")
	e.noteIf(colon && before == "", python, "a ':' before the key"+unreadable)
	e.noteIf(colon && sharedfile.RetryKey(sharedfile.Trim(before)) != "" && e.Profile, toolGo+", "+python, "the key ends at the ':'")
	e.hidden(l, p)
	e.repeated(p, key, keys)
	if key != "" && e.Profile {
		e.setting(l, p, key)
	}
	if meant := sharedfile.Lookalike(p.Key); meant != "" && e.Profile {
		e.warn("misspelt-key", sharedfile.Quote(p.Key)+" is not a retry setting and has no effect; "+meant+" is")
	}
	e.open = p.Value == ""
	e.group = e.group || e.open
	deeper := l.Indent > max(e.indent, l.Depth) // For botocore all whitespace counts.
	e.noteIf(deeper, python, "whitespace other than spaces and tabs indents a line too, so the line belongs to the property above")
	if !deeper {
		e.indent = l.Indent
	}
}

// repeated reports a key that stands in the section or profile already.
func (e *section) repeated(p sharedfile.Property, key string, keys map[string]int32) {
	lower := sharedfile.ASCIILower(p.Key)
	name, _, colon := strings.Cut(lower, ":") // For botocore the key ends there.
	before := keys[lower]
	last := max(before, e.colons[name])
	keys[lower] = e.line
	if colon {
		if e.colons == nil {
			e.colons = map[string]int32{}
		}
		last = max(last, keys[name])
		e.colons[name] = e.line
	}
	e.noteIf(last > e.current.Number, python, "a key that stands twice in one section"+unreadable)
	if before > 0 && e.Profile && !p.Dropped() {
		if key == "" {
			key = "a key" // It may be a secret that was pasted instead of a key.
		}
		e.warn("duplicate-key", key+" of profile "+sharedfile.Quote(e.Name)+
			" is set on line "+strconv.Itoa(int(before))+" already; the later one counts")
	}
}

// hidden looks for a retry setting behind a byte-order mark. The property may be indented below one without a
// value, to which it belongs for the JavaScript tool. All of its whitespace counts.
func (e *section) hidden(l *sharedfile.Line, p sharedfile.Property) {
	if !e.Profile || p.Sign != '=' || !strings.Contains(p.Key, "\uFEFF") {
		return
	}
	key := trimJS(p.Key)
	setting := key != p.Key && key != "" && key == sharedfile.RetryKey(key) && trimJS(p.Value) != ""
	e.noteIf(setting && (!e.group || l.Indent == 0 && !strings.HasPrefix(l.Text, "\uFEFF")), toolJS, bomIsBlank+", so the line is a setting")
}

// setting looks at a retry setting of a profile.
func (e *section) setting(l *sharedfile.Line, p sharedfile.Property, key string) {
	e.noteIf(p.Comment, python, "the comment is part of the value")
	e.noteIf(p.Sign == ':', toolJS, "a property with ':' in place of '=' does not count")
	e.noteIf(p.Key != key, toolJS, "a key that is not in lower case does not count")
	e.noteIf(strings.Contains(p.Value, "\uFEFF"), toolJS, bomIsBlank+", also in a value")
	names := toolJS
	if l.Depth > 0 {
		names = toolGo + ", " + toolJS
	}
	e.noteIf(l.Indent > 0 && e.group, names, "the indented line belongs to the property without a value further up")
	if key == sharedfile.MaxAttempts {
		e.noteIf(true, toolGo, octal(p.Value))
	} else {
		e.noteIf(true, allTools, modeElsewhere(p.Value))
	}
	by, beaten := e.above[key]
	if beaten && !e.pair.Same() {
		e.warn("shadowed-key", key+" of profile "+sharedfile.Quote(e.Name)+
			" has no effect: "+e.pair.Files[1].Path+":"+strconv.Itoa(by.Line)+" overrides it")
		e.noteIf(p.Value != by.Text, toolJS, "the config file wins over the credentials file")
	}
}
