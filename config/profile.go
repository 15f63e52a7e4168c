package config

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"
)

// section is one section of a file. It is small, and its name stays in the data,
// since a file of 16 MiB may have four million sections.
type section struct {
	start, line uint32 // Of the header.
	name, size  uint32 // Where the name stands: that of the profile, or the whole of any other section.
	profile     bool
	bare        bool // [default] of the config file, which a [profile default] hides.
}

// index is what one pass over a file finds out: the wanted sections, and every
// malformed line. About all other sections it keeps counts only, so it costs the
// same for ten profiles in a file as for ten thousand.
type index struct {
	*file
	wanted   string // The name of the wanted profile,
	all      bool   // or every section.
	twin     bool   // Both files are the same one.
	sections []section
	findings findings
	refused  *ParseError // The first malformed line.

	unused  tally // Other profiles that have retry settings.
	ignored tally // Sections that are no profiles and have retry settings.
}

// tally counts sections of a kind and remembers the first.
type tally struct {
	sections int
	line     int    // Of the first retry setting in one.
	name     string // Of the section that has it.
}

// indexes makes the pass over both files.
func indexes(files [2]*file, wanted string, all bool) [2]*index {
	twin := files[0].Path == files[1].Path
	return [2]*index{files[0].index(wanted, all, twin), files[1].index(wanted, all, twin)}
}

func (f *file) index(wanted string, all, twin bool) *index {
	x := &index{file: f, wanted: wanted, all: all, twin: twin, findings: findings{path: f.Path}}
	var header []byte // Of a section that may still enter a tally.
	var counts *tally
	if f.bom {
		x.bom()
	}
	it, s := item{}, f.scanner(section{})
	s.brief = true
	for s.scan(&it) {
		switch it.kind {
		case lineHeader:
			if it.nested {
				x.findings.differ(it.number, python(), "a header that is indented deeper than the property above belongs to its value")
			}
			counts, header = x.header(&it), it.key
		case lineMalformed:
			x.malformed(&it)
			if it.text[0] == '[' {
				counts = nil
			}
		case lineProperty:
			if counts != nil && retryKey(it.key) != "" {
				counts.add(it.number, header)
				counts = nil
			}
		case lineComment:
			x.findings.differ(it.number, python(), "a comment that is not UTF-8"+unreadable)
		case lineEnd, lineContinuation, lineSubProperty:
		}
		s.settings = counts != nil
	}
	x.hideBareDefault()
	if all {
		slices.SortFunc(x.sections, x.compare)
	}
	return x
}

// scanner starts at a section; the zero one is the whole file.
func (f *file) scanner(s section) scanner {
	return scanner{data: f.data, next: int(s.start), number: max(int(s.line)-1, 0), valid: f.valid, comments: f.comments}
}

// header keeps a wanted section, and gives the tally of any other.
func (x *index) header(it *item) *tally {
	if len(it.key) == 0 { // It is not kept: a file may have five million of them.
		if bytes.HasPrefix(it.text, []byte("[]")) {
			x.findings.differ(it.number, python(), "an empty section header"+unreadable)
		}
		return &x.ignored
	}
	name, bare := profileName(x.Kind, it.key)
	s := section{start: uint32(it.start), line: uint32(it.number), profile: name != nil, bare: bare}
	if name == nil {
		name = it.key
	}
	if x.all || s.profile && string(name) == x.wanted {
		s.name, s.size = s.start+uint32(bytes.Index(x.data[it.start:], name)), uint32(len(name))
		x.sections = append(x.sections, s)
	}
	switch {
	case !s.profile:
		return &x.ignored
	case !x.all && string(name) != x.wanted:
		return &x.unused
	}
	return nil
}

// profileName decides by rules R06 and R07 whether a section is a profile, and
// which. It gives nil for one that is none, and reports a [default] of the config
// file as bare.
func profileName(kind FileKind, header []byte) (name []byte, bare bool) {
	if kind == KindConfig {
		if string(header) == defaultProfile {
			return header, true
		}
		if rest, ok := cutWord(header, "profile"); ok {
			return unquoted(trim(rest)), false
		}
		return nil, false
	}
	for _, word := range [...]string{"profile", "sso-session", "services"} {
		if _, ok := cutWord(header, word); ok {
			return nil, false
		}
	}
	if len(header) == 0 {
		return nil, false
	}
	return unquoted(header), false
}

// cutWord takes off a word that a space or tab follows.
func cutWord(text []byte, word string) (rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(text, []byte(word))
	return rest, ok && len(rest) > 0 && isBlank(rest[0])
}

// unquoted takes off one pair of quotes, if there is something between them and
// no such quote in it.
func unquoted(name []byte) []byte {
	last := len(name) - 1
	if last < 2 || name[0] != '\'' && name[0] != '"' || bytes.IndexByte(name[1:], name[0]) != last-1 {
		return name
	}
	return name[1:last]
}

func (x *index) nameOf(s section) []byte { return x.data[s.name : s.name+s.size] }

// compare orders sections by name, the dropped ones first, and then by line.
func (x *index) compare(a, b section) int {
	return cmp.Or(comparePlaces(a.profile, x.nameOf(a), b.profile, x.nameOf(b)), cmp.Compare(a.start, b.start))
}

func comparePlaces(profileA bool, nameA []byte, profileB bool, nameB []byte) int {
	switch {
	case profileA == profileB:
		return bytes.Compare(nameA, nameB)
	case profileB:
		return -1
	}
	return 1
}

// hideBareDefault makes every [default] of the config file a section that is no
// profile if there is a [profile default] (R16).
func (x *index) hideBareDefault() {
	first := slices.IndexFunc(x.sections, func(s section) bool { return s.bare })
	prefixed := func(s section) bool {
		return s.profile && !s.bare && string(x.nameOf(s)) == defaultProfile
	}
	if first < 0 || !slices.ContainsFunc(x.sections, prefixed) {
		return
	}
	x.findings.warn(CodeDefaultTwice, int(x.sections[first].line),
		"[default] does not count, as there is a [profile default]; its settings have no effect")
	x.lastDefault()
	if !x.all {
		x.sections = slices.DeleteFunc(x.sections, func(s section) bool { return s.bare })
	}
	for i, s := range x.sections {
		x.sections[i].profile = s.profile && !s.bare
	}
}

// lastDefault tells of a [default] behind the last [profile default].
func (x *index) lastDefault() {
	var last section
	for _, s := range x.sections {
		if s.profile && s.start >= last.start && string(x.nameOf(s)) == defaultProfile {
			last = s
		}
	}
	if last.bare {
		x.findings.differ(int(last.line), python(), "of [default] and [profile default] the last one counts")
	}
}

// skipped ends the finding about a malformed line.
const skipped = "; the line is skipped"

// malformed notes a line that is skipped.
func (x *index) malformed(it *item) {
	e := &ParseError{Kind: x.Kind, File: x.Path, Line: it.number, Text: shownText(it), Msg: it.msg}
	if x.refused == nil {
		x.refused = e
	}
	if !x.twin || x.Kind == KindConfig {
		x.findings.warn(CodeMalformedLine, it.number, e.detail()+skipped)
	}
}

// shownText is what may be shown of a malformed line: of a header nothing after
// the bracket that closes it, an equals sign or a colon; of any other line its first
// word, if that is a retry setting or looks like one.
func shownText(it *item) string {
	word := it.text
	if it.text[0] == '[' {
		if i := bytes.IndexAny(word, "#;"); i >= 0 {
			word = trim(word[:i])
		}
		if i := bytes.IndexAny(word, "]=:"); i >= 0 {
			word = word[:i+1]
		}
		return shorten(string(bytes.ToValidUTF8(word, []byte("\uFFFD"))))
	}
	if i := bytes.IndexAny(word, " \t:="); i >= 0 {
		word = word[:i]
	}
	if retryKey(word) != "" || lookalike(word) != "" {
		return string(bytes.ToValidUTF8(word, []byte("\uFFFD")))
	}
	return ""
}

// tell reports the retry settings that a tally has counted. Where both files are the
// same one, the other half of it may use them.
func (x *index) tell(code string, t *tally, text string) {
	if t.sections > 0 && !x.twin {
		x.findings.warn(code, t.line, text+": "+t.String())
	}
}

func (t *tally) add(line int, header []byte) {
	t.sections++
	if t.sections == 1 {
		t.line, t.name = line, string(header)
	}
}

// String names the first section and counts the others.
func (t *tally) String() string {
	text := shorten("[" + t.name + "]")
	if t.sections > 1 {
		text += " and " + strconv.Itoa(t.sections-1) + " more"
	}
	return text
}

// walk visits the lines of a section, from its header up to the next one.
func (f *file) walk(s section, visit func(it *item)) {
	lines, it := f.scanner(s), item{}
	for lines.scan(&it) && (it.text[0] != '[' || it.start == int(s.start)) {
		visit(&it)
	}
}

// group is what both files have for one name: the sections of a profile, or of a
// name that is none.
type group struct {
	name    []byte
	profile bool
	parts   [2][]section // Of the config file and of the credentials file.
}

// groups goes over the sections of both files by name.
func groups(files [2]*index) iter.Seq[group] {
	return func(yield func(group) bool) {
		rest := [2][]section{files[0].sections, files[1].sections}
		for len(rest[0])+len(rest[1]) > 0 {
			var g group
			for i, x := range files {
				if len(rest[i]) == 0 {
					continue
				}
				s := rest[i][0]
				if name := x.nameOf(s); g.name == nil || comparePlaces(s.profile, name, g.profile, g.name) < 0 {
					g.name, g.profile = name, s.profile
				}
			}
			for i, x := range files {
				n := 0
				for n < len(rest[i]) && comparePlaces(rest[i][n].profile, x.nameOf(rest[i][n]), g.profile, g.name) == 0 {
					n++
				}
				g.parts[i], rest[i] = rest[i][:n], rest[i][n:]
			}
			if !yield(g) {
				return
			}
		}
	}
}
