package config

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// property is the place of a key in the data of a file. The key itself is not kept.
type property struct{ key, line, size uint32 }

// examiner reads the sections that one file has for one name: the values of the retry
// settings, and what is odd about the lines.
type examiner struct {
	*index
	name     string
	sections []section
	above    []Candidate // The values of the stronger file, the strongest first.
	prefixed bool        // The header of the section is [profile default].
	props    []property

	given   []Candidate // The retry settings, in the order of the file.
	setting bool        // The property above the current line is the last one of given.
}

// examine returns the values of the retry settings, the last one first, and of each setting
// at most maxFindings. above has the values of the stronger file, and last says that this file
// is the stronger one or that the stronger one has no such section.
func (x *index) examine(name string, sections []section, above []Candidate, last bool) []Candidate {
	if len(sections) == 0 {
		return nil
	}
	e := &examiner{index: x, name: name, sections: sections, above: above, props: make([]property, 0, 16)}
	first, _, _ := bytes.Cut(x.textAt(sections[0].start), []byte("]"))
	var keys [2]int
	for i, s := range sections {
		if i > 0 {
			e.again(s, first)
		}
		e.prefixed = x.Kind == kindConfig && name == defaultProfile && !s.bare
		others := otherTools{findings: &x.findings, kind: x.Kind, section: s, keys: keys}
		x.walk(s, func(it *item) {
			others.line(it)
			e.line(it, s)
		})
		keys = others.keys
	}
	if line := max(keys[0], keys[1]); last && sections[0].profile && line > 0 && min(keys[0], keys[1]) == 0 {
		x.findings.differ(line, []string{toolGo}, "a profile with one of aws_access_key_id and aws_secret_access_key is refused")
	}
	e.repeats()
	e.bound()
	slices.Reverse(e.given)
	return e.given
}

// again reports a further section for the name. first is the header of the first section; it
// may be long, so it is read only once.
func (e *examiner) again(s section, header []byte) {
	if s.profile {
		e.findings.warn(codeDuplicateSection, int(s.line), "profile "+quote(e.name)+" has a section on line "+
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
		e.findings.warn(codeMisspeltKey, it.number, quote(string(it.key))+" is not a retry setting and has no effect; "+meant+" is")
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

// shadowed reports a retry setting of the config file that the credentials file overrides.
func (e *examiner) shadowed(it *item, key string) {
	i := slices.IndexFunc(e.above, func(c Candidate) bool { return c.Origin.Key == key })
	if i < 0 || e.twin {
		return
	}
	by := e.above[i]
	e.findings.warn(codeShadowedKey, it.number, key+" of profile "+quote(e.name)+
		" has no effect: "+by.Origin.File+":"+strconv.Itoa(by.Origin.Line)+" overrides it")
	if string(it.value) != by.Raw {
		e.findings.differ(it.number, []string{toolJS}, "the config file wins over the credentials file")
	}
}

// origin returns the place of a setting.
func (e *examiner) origin(key string, line int) Origin {
	kind := OriginSharedConfig
	if e.Kind == kindCredentials {
		kind = OriginSharedCredentials
	}
	return Origin{Kind: kind, File: e.Path, Line: line, Profile: e.name, Key: key, prefixed: e.prefixed}
}

// bound keeps the last values of each setting, and reports the other ones, which have lost,
// if they are not valid.
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
			e.findings.add(c.invalidLoser(c.Origin.Key, err))
		}
	}
	e.given = slices.Delete(e.given, 0, kept)
}

// indented reports a retry setting that belongs to the property above it, because its line
// is indented deeper.
func (e *examiner) indented(it *item, key []byte) {
	if setting := retryKey(key); setting != "" {
		e.findings.warn(codeIndentedKey, it.number, setting+
			" has no effect here: the line is indented deeper than the property above, so it belongs to that")
	}
}

// keyOf returns the key that a line would have if it were a property.
func keyOf(line []byte) []byte {
	it := item{}
	if !it.split(line) {
		return nil
	}
	return it.key
}

// repeats reports keys that stand more than once.
func (e *examiner) repeats() {
	slices.SortFunc(e.props, e.compareProperties)
	for i := 1; i < len(e.props); i++ {
		a, b := e.props[i-1], e.props[i]
		key := e.keyAt(b)
		if compareKeys(e.keyAt(a), key) != 0 {
			continue
		}
		if e.sections[0].profile && isIdentifier(key) {
			e.findings.warn(codeDuplicateKey, int(b.line), publicKey(key)+" of profile "+quote(e.name)+
				" is set on line "+strconv.Itoa(int(a.line))+" already; the later one counts")
		}
		if e.together(a, b) {
			e.findings.differ(int(b.line), python(), "a key that stands twice in one section"+unreadable)
		}
	}
}

// together reports whether the properties a and b stand in one section.
func (e *examiner) together(a, b property) bool {
	after, _ := slices.BinarySearchFunc(e.sections, a.line, func(s section, line uint32) int { return cmp.Compare(s.line, line) })
	return after == len(e.sections) || e.sections[after].line > b.line
}

// textAt returns the trimmed line that begins at start.
func (f *file) textAt(start uint32) []byte {
	line := f.data[start:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return trim(line)
}

// place returns the place of a property. Its text begins with the key.
func place(it *item) property {
	return property{uint32(it.at), uint32(it.number), uint32(len(it.key))}
}

// keyAt returns the key of a property.
func (f *file) keyAt(p property) []byte { return f.data[p.key : p.key+p.size] }

func (f *file) compareProperties(a, b property) int {
	return cmp.Or(compareKeys(f.keyAt(a), f.keyAt(b)), cmp.Compare(a.line, b.line))
}

// publicKey returns the text with which a finding names a key. Only retry settings are
// named, because any other key may be a secret that was pasted in its place.
func publicKey(key []byte) string {
	if setting := retryKey(key); setting != "" {
		return setting
	}
	return "a key"
}
