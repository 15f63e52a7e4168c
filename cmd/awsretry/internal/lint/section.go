package lint

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// section looks at the lines that one file has for one place.
type section struct {
	*file
	sharedfile.Place

	first    *sharedfile.Line              // The first header.
	current  *sharedfile.Line              // The header of the current section.
	settings []sharedfile.Setting          // The retry settings that are left.
	above    map[string]sharedfile.Setting // What the stronger file has.

	// Since the current header:
	group, quoted bool                // There was a property without a value, or with quotes around nothing.
	last          sharedfile.Property // The last property for aws-sdk-go-v2.
	indent        int32               // How many characters of whitespace are before the last property, or the largest number.
}

// section adds the findings about the lines that one of the files has for a place.
func (r *report) section(i int, p sharedfile.Place, s *sharedfile.Section) {
	e := &section{file: &r.files[i], Place: p, first: &s.Lines[0], settings: s.Settings()}
	stronger := r.pair.Files[1].Sections[p]
	if i == 0 && stronger != nil {
		e.above = map[string]sharedfile.Setting{}
		for _, v := range stronger.Settings() {
			e.above[v.Key] = v
		}
	}
	// The last line of each key, in lower case: as it is, with '=' before it if it is a key for aws-sdk-go-v2 too, and with
	// '=' behind what is before a ':'. A field would move the map to the heap.
	keys := map[string]int32{}
	for i := range s.Lines {
		e.look(&s.Lines[i], keys)
	}
	id, secret := keys["=aws_access_key_id"], keys["=aws_secret_access_key"]
	e.line = max(id, secret)
	e.noteIf(p.Profile && e.line > 0 && min(id, secret) == 0 && (i == 1 || stronger == nil), toolGo,
		"a profile with one of aws_access_key_id and aws_secret_access_key is refused")
}

func (e *section) look(l *sharedfile.Line, keys map[string]int32) {
	p := l.Split()
	key := sharedfile.RetryKey(p.Key)
	e.line = l.Number
	if lower := sharedfile.ASCIILower(p.Key); strings.HasPrefix(lower, "aws_") && l.Kind != sharedfile.SubProperty &&
		(l.Kind != sharedfile.PropertyLine || l.Depth == 0 || !e.group && !e.quoted) {
		keys["="+lower] = e.line
	}
	lost := "the property above, so it belongs to that"
	switch l.Kind {
	case sharedfile.Header:
		e.header(l, keys)
	case sharedfile.PropertyLine:
		e.property(l, p, key, keys)
	case sharedfile.SubProperty:
		e.noteIf(p.Sign == ':', python, "':' in place of '=' in a sub-property"+unreadable)
	default: // A continuation, or a line that is skipped or malformed.
		names := toolGo
		if p.Sign == '=' && p.Key == key && p.Value != "" {
			names += ", " + toolJS
		}
		before, _, _ := strings.Cut(p.Key, ":") // For aws-sdk-go-v2 the key ends there.
		e.noteIf(e.Profile && sharedfile.RetryKey(sharedfile.Trim(before)) != "" && (e.last.Value != "" || e.last.Key == "" || l.Depth == 0), names, "the line is a property of its own")
		e.noteIf(e.Profile && sharedfile.RetryKey(e.last.Key) != "" && p.Sign == 0 && l.Kind != sharedfile.Continuation, toolGo, "the line continues the setting above, which is refused")
		if p.Sign != 0 {
			e.last = p
		}
		e.hidden(l, p)
		if l.Kind == sharedfile.Skipped {
			lost = "one that is skipped, so it is skipped too"
		}
	}
	e.noteIf(oneQuote(p), toolGo, crash)
	_, after, cut := strings.Cut(l.Text, "\r")
	e.noteIf(cut, python, endsAtCR)
	e.noteIf(cut && !strings.ContainsAny(after, "=:"), python, "what follows the CR"+unreadable)
	if key != "" && l.Kind != sharedfile.PropertyLine && l.Kind != sharedfile.Malformed {
		e.warn("indented-key", "%s has no effect here: the line is indented deeper than %s", key, lost)
	}
}

func (e *section) header(l *sharedfile.Line, keys map[string]int32) {
	before, _, _ := strings.Cut(l.Text, "]")
	if l != e.first && e.Profile {
		e.warn("duplicate-section", "profile %s has a section on line %d already; the two count as one", sharedfile.Quote(e.Name), e.first.Number)
		e.noteIf(keys[before] == 0, python, "of two sections for one profile the last one counts")
	}
	e.noteIf(keys[before] > 0 && e.Name != forAll, python, "a section that stands twice"+unreadable)
	keys[before] = e.line // No key begins with a bracket.
	e.current, e.group, e.quoted, e.last, e.indent = l, false, false, sharedfile.Property{}, math.MaxInt32
	text, key := sharedfile.BeforeAny(l.Text), sharedfile.HeaderName(l.Text)
	comment, inner := l.Text[len(text):], text[1:len(text)-1]
	e.noteIf(strings.Contains(comment, "]"), python, "the name goes on up to the ']' in the comment")
	e.noteIf(inner == "__proto__" || inner == "profile __proto__", toolJS, "a section of this name"+unreadable)
	config := e.Kind == sharedfile.Config
	rest, prefixed := strings.CutPrefix(key, "profile")
	names := toolJS
	if !config || key == sharedfile.DefaultProfile || inner[0] != key[0] {
		names = python + ", " + toolJS
	}
	e.noteIf(e.Profile && len(inner) > len(key), names, "the blanks inside the brackets are part of the name")
	switch {
	case !e.Profile: // Other tools take some sections that are no profile for one.
		e.noteIf(config && prefixed && strings.ContainsAny(rest, " \t"), python, "the section is a profile, as its header begins with profile")
		e.noteIf(config && prefixed && strings.HasPrefix(rest, "."), toolJS, "the section is a profile, as its header begins with profile and a dot")
	case !config:
		e.noteIf(inner == forAll, python, "the section is no profile, and its keys count in every profile of the file")
		e.noteIf(twoWords(inner), toolJS, "the profile is not found, as its name has a blank")
		e.noteIf(strings.Contains(key, "  ") || strings.Contains(key, "\t"), toolGo, "several blanks in the name, or a tab, are read as one space")
	case key != sharedfile.DefaultProfile:
		name := strings.TrimLeft(rest, " \t")
		plain := sharedfile.Unquoted(name)
		quotes := len(plain) < len(name)
		e.noteIf(quotes, toolGo, "the quotes are part of the name")
		e.noteIf(!quotes && strings.ContainsAny(name, " \t'\"\\"), python,
			"the profile is not found, as blanks, quotes and backslashes in a name mean what they mean to a shell")
		e.noteIf(len(rest) > len(name)+1, toolJS, "the profile is not found, as more than one blank stands before its name")
		e.noteIf(!sharedfile.IsIdentifier(plain), toolJS,
			"the profile is not found, as its name has other characters than letters, digits and _/.%@:+-")
	}
}

func (e *section) property(l *sharedfile.Line, p sharedfile.Property, key string, keys map[string]int32) {
	before, _, colon := strings.Cut(p.Key, ":")
	e.noteIf(colon && before == "", python, "a ':' before the key"+unreadable)
	e.noteIf(colon && sharedfile.RetryKey(sharedfile.Trim(before)) != "" && e.Profile, toolGo+", "+python, "the key ends at the ':'")
	e.hidden(l, p)
	lower, name := sharedfile.ASCIILower(p.Key), sharedfile.ASCIILower(before) // For botocore the key ends at the ':'.
	earlier := keys[lower]
	e.noteIf(max(keys[name], keys[name+"="]) > e.current.Number, python, "a key that stands twice in one section"+unreadable)
	keys[lower] = e.line
	if colon {
		keys[name+"="] = e.line
	}
	if earlier > 0 && e.Profile && !p.Dropped() {
		e.warn("duplicate-key", "%s of profile %s is set on line %d already; the later one counts",
			cmp.Or(key, "a key"), sharedfile.Quote(e.Name), earlier) // It may be a secret that was pasted instead of a key.
	}
	if key != "" && e.Profile {
		e.setting(l, p, key)
		e.value()
	}
	if meant := sharedfile.Lookalike(p.Key); meant != "" && e.Profile {
		e.warn("misspelt-key", "%s is not a retry setting and has no effect; %s is", sharedfile.Quote(p.Key), meant)
	}
	e.last, e.group, e.quoted = p, e.group || p.Value == "", e.quoted || p.Value == "''" || p.Value == `""`
	deeper := l.Indent > max(e.indent, l.Depth) // For botocore all whitespace counts.
	e.noteIf(deeper, python, "whitespace other than spaces and tabs indents a line too, so the line belongs to the property above")
	if !deeper {
		e.indent = l.Indent
	}
}

// hidden looks for a retry setting behind a byte-order mark. The property may be indented below one without a
// value, to which it belongs for the JavaScript tool. All of its whitespace counts.
func (e *section) hidden(l *sharedfile.Line, p sharedfile.Property) {
	key := trimJS(p.Key)
	setting := e.Profile && p.Sign == '=' && key != p.Key && key != "" && key == sharedfile.RetryKey(key) && trimJS(p.Value) != ""
	e.noteIf(setting && (!e.group || l.Indent == 0 && !strings.HasPrefix(l.Text, "\uFEFF")), toolJS, bomIsBlank+", so the line is a setting")
}

// setting looks at a retry setting of a profile.
func (e *section) setting(l *sharedfile.Line, p sharedfile.Property, key string) {
	e.noteIf(p.Comment, python, "the comment is part of the value")
	e.noteIf(p.Sign == ':', toolJS, "a property with ':' in place of '=' does not count")
	e.noteIf(p.Key != key, toolJS, "a key that is not in lower case does not count")
	e.noteIf(strings.Contains(p.Value, "\uFEFF"), toolJS, bomIsBlank+", also in a value")
	const inGroup = "the indented line belongs to the property without a value further up"
	e.noteIf(l.Depth > 0 && (e.group || e.quoted), toolGo, inGroup)
	e.noteIf(l.Indent > 0 && e.group, toolJS, inGroup)
	names, how := elsewhere(sharedfile.Setting{Key: key, Text: p.Value, Line: int(e.line)})
	e.noteIf(how != "", names, how)
	if by, beaten := e.above[key]; beaten && !e.same() {
		e.warn("shadowed-key", "%s of profile %s has no effect: %s:%d overrides it", key, sharedfile.Quote(e.Name), e.pair.Files[1].Path, by.Line)
		e.noteIf(p.Value != by.Text, toolJS, "the config file wins over the credentials file")
	}
}

// value looks at the value of the next retry setting of a profile.
func (e *section) value() {
	given := e.settings[0]
	e.settings = e.settings[1:]
	v := config.ValueError{Key: given.Key, Raw: given.Text, Err: refused(given.Key, given.Text)}
	_, beaten := e.above[v.Key]
	counts := !beaten && !slices.ContainsFunc(e.settings, func(later sharedfile.Setting) bool { return later.Key == v.Key }) // In both files.
	if counts && v.Err != nil {
		by := variableOf(v.Key)
		over, _ := e.pair.Lookup(by)
		_, err := inSDK(given)
		lost := e.BOM && e.current.Number == 1
		e.noteIf(err != nil && !lost && !sharedfile.IsBlank(over), toolGo, "the value is refused, although "+by+" overrides it")
	}
	bad := e.passed[v.Key]
	here := bad.File == e.Path && bad.Line == int(e.line)
	if d := e.judge(v, here || counts && !slices.Contains(e.outside, v.Key)); d.Code != "" {
		header := "[" + e.Name + "]"
		if e.Kind == sharedfile.Config && sharedfile.HeaderName(e.first.Text) != sharedfile.DefaultProfile {
			header = "[profile " + e.Name + "]"
		}
		d.Message = sharedfile.Shorten(header) + " " + v.Key + ": " + sharedfile.Quote(v.Raw) + ": " + d.Message
		e.add(d)
	}
}
