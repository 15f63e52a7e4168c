package config

import (
	"slices"
	"strconv"
	"strings"
)

// more stands for the lines of a value that are left out.
const more = "\n..."

// examiner reads the sections that one file has for one name: the values of the retry
// settings, and what is odd about the lines.
type examiner struct {
	*reading
	place
	first   *line         // The first header.
	current *line         // The header of the current section.
	above   []Candidate   // The values of the stronger file, the strongest first.
	origin  Origin        // Of the settings, without line and key.
	keys    map[string]at // The last place of each key, in lower case.
	twice   []int32       // The lines of keys that occur twice in one section.

	given   []Candidate // The retry settings, in the order of the file.
	setting bool        // The property above the current line is the last one of given.
}

// at is the line of a key, and that of the header above it.
type at struct{ line, header int32 }

// examine returns the values of the retry settings, the last one first, at most maxFindings
// for each setting. above has the values of the stronger file, and last says that this file is
// the stronger one or that the stronger one has no such section.
func (x *reading) examine(p place, above []Candidate, last bool) []Candidate {
	s := x.sections[p]
	if s == nil {
		return nil
	}
	e := &examiner{reading: x, place: p, first: &s.lines[0], above: above, keys: map[string]at{}}
	e.origin = Origin{Kind: originSharedConfig, File: x.Path, Profile: p.name}
	if x.Kind == kindCredentials {
		e.origin.Kind = originSharedCredentials
	} else {
		e.origin.prefixed = p.name == defaultProfile && headerName(e.first.text) != defaultProfile
	}
	others := otherTools{aboutFile: x.aboutFile, kind: x.Kind}
	for i := range s.lines {
		l := &s.lines[i]
		if l.kind == lineHeader {
			if e.current = l; i > 0 {
				e.again()
			}
			others = otherTools{aboutFile: x.aboutFile, kind: x.Kind, profile: p.profile, keys: others.keys}
		}
		p := l.split()
		others.look(l, p)
		e.look(l, p)
	}
	if line := max(others.keys[0], others.keys[1]); last && p.profile && line > 0 && min(others.keys[0], others.keys[1]) == 0 {
		x.differ(line, toolGo, "a profile with one of aws_access_key_id and aws_secret_access_key is refused")
	}
	for _, line := range e.twice {
		x.differ(line, python, "a key that stands twice in one section"+unreadable)
	}
	slices.Reverse(e.given)
	return e.given
}

// again reports another section for the name.
func (e *examiner) again() {
	if e.profile {
		e.warn(codeDuplicateSection, e.current.number, "profile "+quote(e.name)+" has a section on line "+
			strconv.Itoa(int(e.first.number))+" already; the two count as one")
	}
	before, _, _ := strings.Cut(e.first.text, "]")
	switch again, _, _ := strings.Cut(e.current.text, "]"); {
	case before == again && e.name != "DEFAULT":
		e.differ(e.current.number, python, "a section that stands twice"+unreadable)
	case before != again && e.profile:
		e.differ(e.current.number, python, "of two sections for one profile the last one counts")
	}
}

// look looks at one line, which is split into p.
func (e *examiner) look(l *line, p property) {
	switch l.kind {
	case lineProperty:
		e.property(l, p)
	case lineContinuation, lineSubProperty:
		if key := retryKey(p.key); key != "" {
			e.warn(codeIndentedKey, l.number, key+
				" has no effect here: the line is indented deeper than the property above, so it belongs to that")
		}
		if e.setting && l.kind == lineContinuation {
			if last := &e.given[len(e.given)-1]; !strings.HasSuffix(last.Raw, more) {
				last.Raw += more
			}
		}
	case lineHeader, lineMalformed, lineComment:
	}
}

func (e *examiner) property(l *line, p property) {
	key, lower := retryKey(p.key), asciiLower(p.key)
	if before, ok := e.keys[lower]; ok {
		if e.profile && !p.dropped {
			named := key
			if key == "" {
				named = "a key" // It may be a secret that was pasted instead of a key.
			}
			e.warn(codeDuplicateKey, l.number, named+" of profile "+quote(e.name)+
				" is set on line "+strconv.Itoa(int(before.line))+" already; the later one counts")
		}
		if before.header == e.current.number {
			e.twice = append(e.twice, l.number)
		}
	}
	e.keys[lower] = at{l.number, e.current.number}
	e.setting = e.profile && key != ""
	if e.setting {
		e.keep(l, p, key)
	} else if meant := lookalike(p.key); e.profile && meant != "" {
		e.warn(codeMisspeltKey, l.number, quote(p.key)+" is not a retry setting and has no effect; "+meant+" is")
	}
}

// keep keeps the last maxFindings values of each retry setting. It reports an older value, which has
// lost, if it is not valid.
func (e *examiner) keep(l *line, p property, key string) {
	same := func(c Candidate) bool { return c.Origin.Key == key }
	if len(e.given) >= maxFindings {
		n := 0
		for _, c := range e.given {
			if same(c) {
				n++
			}
		}
		if n == maxFindings {
			i := slices.IndexFunc(e.given, same)
			if err := check(key, e.given[i].Raw); err != nil {
				e.add(e.given[i].finding(key, SeverityWarning, codeInvalidValue, err.Error()+anotherWins))
			}
			e.given = slices.Delete(e.given, i, i+1)
		}
	}
	origin := e.origin
	origin.Line, origin.Key = int(l.number), key
	e.given = append(e.given, Candidate{Raw: strings.Clone(p.value), Origin: origin})
	if i := slices.IndexFunc(e.above, same); i >= 0 && !e.twin {
		e.shadowed(l, p, e.above[i])
	}
}

// shadowed reports a retry setting of the config file that the credentials file overrides.
func (e *examiner) shadowed(l *line, p property, by Candidate) {
	e.warn(codeShadowedKey, l.number, by.Origin.Key+" of profile "+quote(e.name)+
		" has no effect: "+by.Origin.File+":"+strconv.Itoa(by.Origin.Line)+" overrides it")
	if p.value != by.Raw {
		e.differ(l.number, toolJS, "the config file wins over the credentials file")
	}
}
