package config

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// property is a place where a key stands. Its key is read from the data again.
type property struct{ key, line, size uint32 }

// examiner reads the sections that one file has for one name: the values of its
// retry settings, and what is odd about its lines.
type examiner struct {
	*index
	name     string
	sections []section
	above    []Candidate // What the stronger file has, the strongest first.
	prefixed bool        // The section is [profile default].
	props    []property

	given   []Candidate // The retry settings, in the order of the file.
	setting bool        // The property above is the last of given.
}

// examine returns the values of the retry settings, the last one first, of each
// setting at most as many as findings are kept. The values of the stronger file are
// above.
func (x *index) examine(name string, sections []section, above []Candidate) []Candidate {
	if len(sections) == 0 {
		return nil
	}
	e := &examiner{index: x, name: name, sections: sections, above: above, props: make([]property, 0, 16)}
	first, _, _ := bytes.Cut(x.textAt(sections[0].start), []byte("]"))
	for i, s := range sections {
		if i > 0 {
			e.again(s, first)
		}
		e.prefixed = x.Kind == KindConfig && name == defaultProfile && !s.bare
		others := otherTools{findings: &x.findings, kind: x.Kind, section: s}
		x.walk(s, func(it *item) {
			others.line(it)
			e.line(it, s)
		})
	}
	e.repeats()
	e.bound()
	slices.Reverse(e.given)
	return e.given
}

// again tells of a second section of the same name as the first, whose header is
// read only once, since it may be long.
func (e *examiner) again(s section, header []byte) {
	if s.profile {
		e.findings.warn(CodeDuplicateSection, int(s.line), "profile "+quote(e.name)+" has a section on line "+
			strconv.Itoa(int(e.sections[0].line))+" already; the two count as one")
	}
	again, _, _ := bytes.Cut(e.textAt(s.start), []byte("]"))
	switch {
	case !bytes.Equal(header, again):
		if s.profile {
			e.findings.differ(int(s.line), python(), "of two sections for one profile the last one counts")
		}
	case string(e.nameOf(s)) != "DEFAULT":
		e.findings.differ(int(s.line), python(), "a section that stands twice"+unreadable)
	}
}

func (e *examiner) line(it *item, s section) {
	switch it.kind {
	case lineProperty:
		e.property(it, s)
	case lineContinuation:
		e.indented(it, keyOf(it.value))
		if e.setting {
			if last := &e.given[len(e.given)-1]; !strings.HasSuffix(last.Raw, more) {
				last.Raw += more
			}
		}
	case lineSubProperty:
		e.indented(it, it.key)
	case lineEnd, lineHeader, lineMalformed, lineComment:
	}
}

func (e *examiner) property(it *item, s section) {
	e.props = append(e.props, place(it))
	e.setting = false
	if !s.profile {
		return
	}
	if meant := lookalike(it.key); meant != "" {
		e.findings.warn(CodeMisspeltKey, it.number, quote(string(it.key))+" is not a retry setting and has no effect; "+meant+" is")
	}
	key := retryKey(it.key)
	if key == "" {
		return
	}
	e.setting = true
	e.given = append(e.given, Candidate{Raw: string(it.value), Origin: e.origin(key, it.number)})
	if len(e.given) == 4*maxFindings {
		e.bound()
	}
	e.shadowed(it, key)
}

// shadowed tells of a retry setting of the config file that the credentials file
// has as well.
func (e *examiner) shadowed(it *item, key string) {
	i := slices.IndexFunc(e.above, func(c Candidate) bool { return c.Origin.Key == key })
	if i < 0 || e.twin {
		return
	}
	by := e.above[i]
	e.findings.warn(CodeShadowedKey, it.number, key+" of profile "+quote(e.name)+
		" has no effect: "+by.Origin.File+":"+strconv.Itoa(by.Origin.Line)+" overrides it")
	if string(it.value) != by.Raw {
		e.findings.differ(it.number, []string{toolJS}, "the config file wins over the credentials file")
	}
}

// origin is where a setting stands.
func (e *examiner) origin(key string, line int) Origin {
	kind := OriginSharedConfig
	if e.Kind == KindCredentials {
		kind = OriginSharedCredentials
	}
	return Origin{Kind: kind, File: e.Path, Line: line, Profile: e.name, Key: key, prefixed: e.prefixed}
}

// bound keeps the last values of each setting. It looks at the others here, which
// have lost to those.
func (e *examiner) bound() {
	count := map[string]int{}
	kept := len(e.given)
	for i, c := range slices.Backward(e.given) {
		if count[c.Origin.Key]++; count[c.Origin.Key] <= maxFindings {
			kept--
			e.given[kept] = e.given[i]
			continue
		}
		if _, _, err := parserOf(c.Origin.Key)(c.Raw); err != nil {
			e.findings.add(c.invalidLoser(err))
		}
	}
	e.given = slices.Delete(e.given, 0, kept)
}

// indented tells of a retry setting that belongs to the property above it only
// because its line is indented deeper.
func (e *examiner) indented(it *item, key []byte) {
	if setting := retryKey(key); setting != "" {
		e.findings.warn(CodeIndentedKey, it.number, setting+
			" has no effect here: the line is indented deeper than the property above, so it belongs to that")
	}
}

// keyOf is what would be the key of a line if it were a property.
func keyOf(line []byte) []byte {
	it := item{}
	if !it.split(line) {
		return nil
	}
	return it.key
}

// repeats tells of keys that stand twice.
func (e *examiner) repeats() {
	slices.SortFunc(e.props, e.compareProperties)
	for i := 1; i < len(e.props); i++ {
		a, b := e.props[i-1], e.props[i]
		key := e.keyAt(b)
		if compareKeys(e.keyAt(a), key) != 0 {
			continue
		}
		if e.sections[0].profile && isIdentifier(key) {
			e.findings.warn(CodeDuplicateKey, int(b.line), publicKey(key)+" of profile "+quote(e.name)+
				" is set on line "+strconv.Itoa(int(a.line))+" already; the later one counts")
		}
		if e.together(a, b) {
			e.findings.differ(int(b.line), python(), "a key that stands twice in one section"+unreadable)
		}
	}
}

// together reports whether two properties stand in one section.
func (e *examiner) together(a, b property) bool {
	after, _ := slices.BinarySearchFunc(e.sections, a.line, func(s section, line uint32) int { return cmp.Compare(s.line, line) })
	return after == len(e.sections) || e.sections[after].line > b.line
}

// textAt is the text of the line that begins at start.
func (f *file) textAt(start uint32) []byte {
	line := f.data[start:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return trim(line)
}

// place is where a property stands: its text begins with the key.
func place(it *item) property {
	return property{uint32(it.at), uint32(it.number), uint32(len(it.key))}
}

// keyAt reads the key of a property.
func (f *file) keyAt(p property) []byte { return f.data[p.key : p.key+p.size] }

func (f *file) compareProperties(a, b property) int {
	return cmp.Or(compareKeys(f.keyAt(a), f.keyAt(b)), cmp.Compare(a.line, b.line))
}

// publicKey is how a finding may call a key. A key may be a secret that was pasted
// in its place, so only retry settings are named.
func publicKey(key []byte) string {
	if setting := retryKey(key); setting != "" {
		return setting
	}
	return "a key"
}
