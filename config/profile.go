package config

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"
)

// section is one section of a file. It is small, because a file of 16 MiB may have four
// million sections. Its name stays in the data.
type section struct {
	start, line uint32 // Where the header begins in the data, and its line.
	name, size  uint32 // Where the name stands in the data: that of the profile, or else the text in the brackets.
	profile     bool
	bare        bool // [default] of the config file, which a [profile default] hides.
}

// index is the result of one pass over a file: the wanted sections, and every malformed
// line. Of all other sections it keeps only counts, so it takes the same memory for ten
// profiles as for ten thousand.
type index struct {
	*file
	wanted   string // The name of the wanted profile.
	all      bool   // Every section is wanted.
	twin     bool   // The config file and the credentials file are the same file.
	sections []section
	findings findings
	refused  *ParseError // The first malformed line.

	unreadable bool // A line that makes the file unreadable for botocore was reported.

	unused  tally // Other profiles that have retry settings.
	ignored tally // Sections that are no profiles and have retry settings.
}

// tally counts sections of one kind, and keeps the first one.
type tally struct {
	sections int
	line     int    // The line of the first retry setting.
	name     string // The name of the section with that line.
}

// indexes goes over both files.
func indexes(files [2]*file, wanted string, all bool) [2]*index {
	twin := files[0].Path == files[1].Path
	return [2]*index{files[0].index(wanted, all, twin), files[1].index(wanted, all, twin)}
}

func (f *file) index(wanted string, all, twin bool) *index {
	x := &index{file: f, wanted: wanted, all: all, twin: twin, findings: findings{path: f.Path}}
	var header []byte // The header of the current section.
	var counts *tally // The tally that the current section enters with its first retry setting.
	within := false   // The last header that is not malformed has a name.
	if f.bom {
		x.bom()
	}
	it, s := item{}, f.scanner(section{})
	s.brief = true
	for s.scan(&it) {
		switch it.kind {
		case lineHeader:
			if it.nested {
				x.findings.differ(it.number, python(), headerInValue)
			}
			counts, header, within = x.header(&it), it.key, len(it.key) > 0
		case lineMalformed:
			x.malformed(&it, within, s.above == aboveGroup)
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

// scanner returns a scanner that starts at a section. For the zero section it starts at the
// beginning of the file.
func (f *file) scanner(s section) scanner {
	return scanner{data: f.data, next: int(s.start), number: max(int(s.line)-1, 0), valid: f.valid, comments: f.comments}
}

// header keeps a wanted section. For any other section it returns the tally.
func (x *index) header(it *item) *tally {
	if len(it.key) == 0 { // Such a section is not kept: a file may have five million of them.
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

// profileName returns the name of the profile that a section is for by rules R06 and R07. It
// returns nil for a section that is no profile. bare says that the section is the [default]
// of the config file.
func profileName(kind string, header []byte) (name []byte, bare bool) {
	if kind == kindConfig {
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
	return header, false
}

// cutWord cuts off a leading word that a space or tab follows.
func cutWord(text []byte, word string) (rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(text, []byte(word))
	return rest, ok && len(rest) > 0 && isBlank(rest[0])
}

// unquoted cuts off one pair of quotes, if there is a text between them that does not contain
// such a quote.
func unquoted(name []byte) []byte {
	last := len(name) - 1
	if last < 2 || name[0] != '\'' && name[0] != '"' || bytes.IndexByte(name[1:], name[0]) != last-1 {
		return name
	}
	return name[1:last]
}

func (x *index) nameOf(s section) []byte { return x.data[s.name : s.name+s.size] }

// compare orders sections that are no profiles before profiles, then by name, and then by
// line.
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

// hideBareDefault turns every [default] of the config file into a section that is no profile
// if there is a [profile default] (R16).
func (x *index) hideBareDefault() {
	first := slices.IndexFunc(x.sections, func(s section) bool { return s.bare })
	prefixed := func(s section) bool {
		return s.profile && !s.bare && string(x.nameOf(s)) == defaultProfile
	}
	if first < 0 || !slices.ContainsFunc(x.sections, prefixed) {
		return
	}
	x.findings.warn(codeDefaultTwice, int(x.sections[first].line),
		"[default] does not count, as there is a [profile default]; its settings have no effect")
	x.lastDefault()
	if i := slices.IndexFunc(x.sections, prefixed); !slices.ContainsFunc(x.sections, func(s section) bool { return prefixed(s) && x.hasValue(s) }) {
		x.findings.differ(int(x.sections[i].line), []string{toolJS}, "an empty section does not count, so [default] does")
	}
	if !x.all {
		x.sections = slices.DeleteFunc(x.sections, func(s section) bool { return s.bare })
	}
	for i, s := range x.sections {
		x.sections[i].profile = s.profile && !s.bare
	}
}

// hasValue reports whether a line of a section has an equals sign and something behind it.
func (x *index) hasValue(s section) (found bool) {
	x.walk(s, func(it *item) {
		line := item{}
		found = found || it.kind != lineHeader && line.split(withoutComment(it.text)) && line.sign == '=' && len(line.value) > 0
	})
	return found
}

// lastDefault reports a [default] behind the last [profile default].
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

// malformed keeps a line that is skipped. within says that it stands below a section header, and
// block that it stands in the block of a property.
func (x *index) malformed(it *item, within, block bool) {
	e := &ParseError{Kind: x.Kind, File: x.Path, Line: it.number, Text: shownText(it), Msg: it.msg}
	if x.refused == nil {
		x.refused = e
	}
	if !x.twin || x.Kind == kindConfig {
		x.findings.warn(codeMalformedLine, it.number, e.detail()+skipped)
		x.skipped(it, within, block)
	}
}

// shownText returns the part of a malformed line that may be shown. Of a header it ends at the
// closing bracket, at an equals sign or at a colon. Of any other line it is the first word,
// if that is a retry setting or looks like one, and else nothing.
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

// tell reports the retry settings that a tally has counted. If both files are the same file,
// it reports nothing, because the settings may have an effect in the other kind of file.
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

// String returns the name of the first section and the number of the others.
func (t *tally) String() string {
	text := shorten("[" + t.name + "]")
	if t.sections > 1 {
		text += " and " + strconv.Itoa(t.sections-1) + " more"
	}
	return text
}

// walk calls visit for each line of a section, its header included.
func (f *file) walk(s section, visit func(it *item)) {
	lines, it := f.scanner(s), item{}
	for lines.scan(&it) && (it.text[0] != '[' || it.start == int(s.start)) {
		visit(&it)
	}
}

// group holds the sections that both files have for one name, which may be no profile.
type group struct {
	name    []byte
	profile bool
	parts   [2][]section // The sections of the config file and of the credentials file.
}

// groups ranges over the sections of both files by name.
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
