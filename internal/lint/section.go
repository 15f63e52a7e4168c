package lint

import (
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
	keys    map[string]at                 // The last place of each key, in lower case.
	twice   []int32                       // The lines of keys that occur twice in one section.
}

// at is the line of a key, and that of the header above it.
type at struct{ line, header int32 }

// section adds the findings about the lines that one of the files has for a place.
func (r *report) section(i int, p sharedfile.Place) {
	s := r.pair.Readings[i].Sections[p]
	if s == nil {
		return
	}
	e := &section{file: &r.lines[i], Place: p, first: &s.Lines[0], keys: map[string]at{}}
	stronger := r.pair.Readings[1].Sections[p]
	if i == 0 && stronger != nil && p.Profile && !r.pair.Same() {
		e.above = map[string]sharedfile.Setting{}
		for _, v := range stronger.Settings() {
			e.above[v.Key] = v
		}
	}
	others := otherTools{aboutFile: e.aboutFile, kind: e.kind, profile: p.Profile}
	for i := range s.Lines {
		l := &s.Lines[i]
		if l.Kind == sharedfile.Header {
			if e.current = l; i > 0 {
				e.again()
			}
			others = otherTools{aboutFile: e.aboutFile, kind: e.kind, profile: p.Profile, keys: others.keys}
		}
		property := l.Split()
		others.look(l, property)
		e.look(l, property)
	}
	if line := max(others.keys[0], others.keys[1]); p.Profile && line > 0 && min(others.keys[0], others.keys[1]) == 0 && (i == 1 || stronger == nil) {
		e.differ(line, toolGo, "a profile with one of aws_access_key_id and aws_secret_access_key is refused")
	}
	for _, line := range e.twice {
		e.differ(line, python, "a key that stands twice in one section"+unreadable)
	}
}

// again reports another section for the place.
func (e *section) again() {
	if e.Profile {
		e.warn(codeDuplicateSection, e.current.Number, "profile "+sharedfile.Quote(e.Name)+" has a section on line "+
			strconv.Itoa(int(e.first.Number))+" already; the two count as one")
	}
	before, _, _ := strings.Cut(e.first.Text, "]")
	switch again, _, _ := strings.Cut(e.current.Text, "]"); {
	case before == again && e.Name != "DEFAULT":
		e.differ(e.current.Number, python, "a section that stands twice"+unreadable)
	case before != again && e.Profile:
		e.differ(e.current.Number, python, "of two sections for one profile the last one counts")
	}
}

// look looks at one line, which is split into p.
func (e *section) look(l *sharedfile.Line, p sharedfile.Property) {
	switch l.Kind {
	case sharedfile.PropertyLine:
		e.property(l, p)
	case sharedfile.Continuation, sharedfile.SubProperty:
		if key := sharedfile.RetryKey(p.Key); key != "" {
			e.warn(codeIndentedKey, l.Number, key+
				" has no effect here: the line is indented deeper than the property above, so it belongs to that")
		}
	case sharedfile.Header, sharedfile.Malformed, sharedfile.Comment:
	}
}

func (e *section) property(l *sharedfile.Line, p sharedfile.Property) {
	key, lower := sharedfile.RetryKey(p.Key), sharedfile.ASCIILower(p.Key)
	if before, ok := e.keys[lower]; ok {
		if e.Profile && !p.Dropped {
			named := key
			if key == "" {
				named = "a key" // It may be a secret that was pasted instead of a key.
			}
			e.warn(codeDuplicateKey, l.Number, named+" of profile "+sharedfile.Quote(e.Name)+
				" is set on line "+strconv.Itoa(int(before.line))+" already; the later one counts")
		}
		if before.header == e.current.Number {
			e.twice = append(e.twice, l.Number)
		}
	}
	e.keys[lower] = at{l.Number, e.current.Number}
	if !e.Profile {
		return
	}
	if meant := sharedfile.Lookalike(p.Key); meant != "" {
		e.warn(codeMisspeltKey, l.Number, sharedfile.Quote(p.Key)+" is not a retry setting and has no effect; "+meant+" is")
	}
	if by, ok := e.above[key]; ok {
		e.warn(codeShadowedKey, l.Number, key+" of profile "+sharedfile.Quote(e.Name)+
			" has no effect: "+e.pair.Files[1].Path+":"+strconv.Itoa(by.Line)+" overrides it")
		if p.Value != by.Text {
			e.differ(l.Number, toolJS, "the config file wins over the credentials file")
		}
	}
}
