package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/internal/near"
)

// place is what a section is for.
type place struct {
	profile bool
	name    string // That of the profile, or else the text in the brackets.
}

// reading is what one pass over a file finds: the wanted sections, and findings about malformed lines.
// Of all other sections it keeps only counts.
type reading struct {
	*file
	*aboutFile
	wanted   string // The name of the wanted profile.
	all      bool   // Every section is wanted.
	twin     bool   // The config file and the credentials file are the same file.
	sections map[place]*section
	refused  *ParseError // The first malformed line.

	unreadable bool // A line that makes the file unreadable for botocore was reported.

	unused tally // Other profiles that have retry settings.
}

// section holds the lines of all sections of a file for one place, each with its header first.
// Skipped lines are left out.
type section struct {
	lines []line
	last  int32 // The line of the last header.
}

// outsider is what a section is that is not wanted.
type outsider uint8

const (
	insider      outsider = iota // A section that is wanted, or one that was reported.
	otherProfile                 // Another profile.
	noProfile                    // A section that is no profile.
)

// tally counts sections of one kind, and keeps the first one.
type tally struct {
	sections int
	line     int32  // The line of the first retry setting.
	name     string // The name of the section with that line.
}

// readings goes over both files.
func readings(files [2]*file, wanted string, all bool, found *findings) (both [2]*reading) {
	for i, f := range files {
		found.files[i].path = f.Path
		x := &reading{file: f, aboutFile: &found.files[i], wanted: wanted, all: all, twin: files[0].Path == files[1].Path}
		x.read()
		both[i] = x
	}
	return both
}

// read is the pass.
func (x *reading) read() {
	if x.utf16 {
		x.refused = &ParseError{Kind: x.Kind, File: x.Path, Line: 1, Msg: msgUTF16}
		x.warn(codeMalformedLine, 1, msgUTF16+"; the file counts as empty")
		if !x.valid {
			x.differ(1, python, "UTF-16"+unreadable)
		}
		return
	}
	if x.bom {
		x.differ(1, python, "the byte-order mark"+unreadable)
		if first, _, _ := strings.Cut(x.data, "\n"); strings.HasPrefix(trim(first), "[") {
			x.differ(1, toolGo, "the section below the byte-order mark is lost")
		}
	}
	var (
		l      line
		header string   // The name of the current section.
		kept   *section // The current section, if it is wanted,
		counts outsider // What its first retry setting is, if it is not wanted.
		start  int32    // The line of its header.
		within bool     // The last header that is not malformed has a name.
	)
	for s := (scanner{data: x.data, valid: x.valid, brief: true}); s.scan(&l); s.brief, s.settings = kept == nil, counts != insider {
		switch l.kind {
		case lineHeader:
			header = headerName(l.text)
			within = header != ""
			kept, counts = x.header(l, header)
			start = l.number
			continue
		case lineMalformed:
			x.malformed(&l, s.expected, within, s.above == aboveGroup)
			if l.text[0] == '[' {
				kept, counts = nil, insider
			}
			if s.expected != msgUTF8 {
				continue // Others read a line that is not UTF-8.
			}
		case lineComment:
			x.differ(l.number, python, "a comment that is not UTF-8"+unreadable)
			continue
		case lineProperty:
			if counts != insider && retryKey(s.current.key) != "" {
				if counts == otherProfile {
					x.unused.add(l.number, header)
				} else {
					x.noProfile(start, header, nil)
				}
				counts = insider
			}
		case lineContinuation, lineSubProperty:
		}
		if kept != nil {
			kept.lines = append(kept.lines, l)
		}
	}
	x.hideBareDefault()
}

// header keeps a wanted section. For any other section it says what it is.
func (x *reading) header(l line, header string) (*section, outsider) {
	if l.nested {
		x.differ(l.number, python, headerInValue)
	}
	if header == "" {
		if strings.HasPrefix(l.text, "[]") {
			x.differ(l.number, python, "an empty section header"+unreadable)
		}
		return nil, noProfile
	}
	at := place{true, profileName(x.Kind, header)}
	counts := insider
	switch {
	case at.name == "" && x.all:
		at = place{false, header}
	case at.name == "" && x.lacksWord(header) && header == x.wanted:
		x.noProfile(l.number, header, []string{header})
		return nil, insider
	case at.name == "":
		counts = noProfile
	case !x.all && at.name != x.wanted:
		counts = otherProfile
	case x.Kind == kindConfig && header == defaultProfile:
		at.profile = false // until hideBareDefault
	}
	if counts != insider {
		return nil, counts
	}
	kept := x.sections[at]
	if kept == nil {
		kept = &section{}
		if !x.all {
			kept.lines = make([]line, 0, 8)
		}
		if x.sections == nil {
			x.sections = map[place]*section{}
		}
		x.sections[at] = kept
	}
	kept.lines, kept.last = append(kept.lines, l), l.number
	return kept, counts
}

// profileName returns the name of the profile that a section is for by rules R06 and R07, or "" for a
// section that is no profile.
func profileName(kind, header string) string {
	rest, prefixed := cutWord(header, "profile")
	if kind == kindConfig {
		switch {
		case prefixed:
			return unquoted(trim(rest))
		case header == defaultProfile:
			return header
		}
		return ""
	}
	_, session := cutWord(header, "sso-session")
	_, services := cutWord(header, "services")
	if prefixed || session || services {
		return ""
	}
	return header
}

// cutWord cuts off a leading word that a space or tab follows.
func cutWord(text, word string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, word)
	return rest, ok && rest != "" && isBlank(rest[0])
}

// unquoted cuts off one pair of quotes, if there is a text between them that does not contain
// such a quote.
func unquoted(name string) string {
	last := len(name) - 1
	if last < 2 || name[0] != '\'' && name[0] != '"' || strings.IndexByte(name[1:], name[0]) != last-1 {
		return name
	}
	return name[1:last]
}

// hideBareDefault makes the [default] of the config file a profile, unless there is a [profile default]
// (R16).
func (x *reading) hideBareDefault() {
	at, hidden := place{true, defaultProfile}, place{false, defaultProfile}
	bare, prefixed := x.sections[hidden], x.sections[at]
	if x.Kind != kindConfig || bare == nil {
		return
	}
	if prefixed == nil {
		x.sections[at] = bare
		delete(x.sections, hidden)
		return
	}
	x.warn(codeDefaultTwice, bare.lines[0].number,
		"[default] does not count, as there is a [profile default]; its settings have no effect")
	if bare.last > prefixed.last {
		x.differ(bare.last, python, "of [default] and [profile default] the last one counts")
	}
	if !slices.ContainsFunc(prefixed.lines, line.hasValue) {
		x.differ(prefixed.lines[0].number, toolJS, "an empty section does not count, so [default] does")
	}
}

// hasValue reports whether a line has an equals sign and something after it.
func (l line) hasValue() bool {
	if l.kind == lineHeader {
		return false
	}
	l.kind = lineProperty
	p := l.split()
	return p.malformed == "" && p.sign == '=' && p.value != ""
}

// skipped ends the finding about a malformed line.
const skipped = "; the line is skipped"

// malformed records a line that is skipped. expected is what should stand in its place. within says
// that it is below a section header, and block that it is in the block of a property.
func (x *reading) malformed(l *line, expected string, within, block bool) {
	e := &ParseError{Kind: x.Kind, File: x.Path, Line: int(l.number), Msg: expected, text: strings.Clone(shownText(l.text))}
	if x.refused == nil {
		x.refused = e
	}
	if !x.twin || x.Kind == kindConfig {
		x.warn(codeMalformedLine, l.number, e.detail()+skipped)
		x.skipped(l, expected, within, block)
	}
}

// shownText returns the part of a malformed line that may be shown. For a header it ends at
// the closing bracket, at an equals sign or at a colon. For any other line it is the first
// word if that is a retry setting or looks like one, else nothing.
func shownText(text string) string {
	if text[0] == '[' {
		text = beforeAny(text)
		if i := strings.IndexAny(text, "]=:"); i >= 0 {
			text = text[:i+1]
		}
		return shorten(strings.ToValidUTF8(text, "\uFFFD"))
	}
	if i := strings.IndexAny(text, " \t:="); i >= 0 {
		text = text[:i]
	}
	if retryKey(text) != "" || lookalike(text) != "" {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return ""
}

func (t *tally) add(line int32, name string) {
	if t.sections++; t.sections == 1 {
		t.line, t.name = line, name
	}
}

// reportUnused reports the retry settings of other profiles. If both files are the same file, it reports nothing,
// because the settings may have an effect in the other kind of file.
func (x *reading) reportUnused() {
	if x.unused.sections > 0 && !x.twin {
		x.warn(codeUnusedProfile, x.unused.line,
			"retry settings of other profiles have no effect on profile "+quote(x.wanted)+": "+x.unused.names())
	}
}

// lacksWord reports whether a section of the config file would be a profile if it had the word profile.
func (x *reading) lacksWord(header string) bool {
	return x.Kind == kindConfig && profileName(kindCredentials, header) != "" && !strings.HasPrefix(header, "profile") &&
		header != "plugins" && header != "preview" && asciiLower(header) != defaultProfile
}

// noProfile reports a section that is no profile. near has the names of profiles that its name resembles. If both
// files are the same file, it reports nothing.
func (x *reading) noProfile(line int32, header string, near []string) {
	if x.twin {
		return
	}
	text := shorten("[" + header + "]")
	name, prefixed := cutWord(header, "profile")
	switch {
	case x.lacksWord(header):
		meant := []string{shorten("[profile " + header + "]")}
		for _, name := range near {
			if name != header {
				meant = append(meant, shorten("[profile "+name+"]"))
			}
		}
		text += " lacks the word profile, so its lines have no effect; did you mean " + strings.Join(meant, " or ")
		if slices.Contains(near, header) {
			text += ", which is there too"
		}
	case prefixed && x.Kind == kindCredentials:
		text += " is no profile in the credentials file, so its lines have no effect; did you mean [" + shorten(trim(name)) + "]"
	default:
		text += " is no profile, so its retry settings have no effect"
	}
	x.warn(codeIgnoredSection, line, text)
}

// reportNoProfiles reports the sections that are no profiles and have retry settings, and those that lack the word
// profile, of two files that were read with all sections.
func reportNoProfiles(both [2]*reading) {
	all := places(both)
	for _, x := range both {
		n := 0
		for _, p := range all {
			s := x.sections[p]
			lacks := x.lacksWord(p.name)
			if p.profile || s == nil || x.Kind == kindConfig && p.name == defaultProfile || !lacks && !s.hasSetting() {
				continue
			}
			names := near.To(p.name)
			if n++; lacks && n <= maxFindings {
				for _, q := range all {
					if q.profile {
						names.Add(q.name)
					}
				}
			}
			x.noProfile(s.lines[0].number, p.name, names.Best())
		}
	}
}

// hasSetting reports whether a section has a retry setting.
func (s *section) hasSetting() bool {
	return slices.ContainsFunc(s.lines, func(l line) bool { return l.kind == lineProperty && retryKey(l.split().key) != "" })
}

// names returns the name of the first section and the number of the others.
func (t *tally) names() string {
	text := shorten("[" + t.name + "]")
	if t.sections > 1 {
		text += " and " + strconv.Itoa(t.sections-1) + " more"
	}
	return text
}

// places returns what the sections of both files are for, profiles last, and then by name.
func places(both [2]*reading) []place {
	all := slices.AppendSeq(slices.Collect(maps.Keys(both[0].sections)), maps.Keys(both[1].sections))
	slices.SortFunc(all, func(a, b place) int {
		switch {
		case a.profile == b.profile:
			return strings.Compare(a.name, b.name)
		case b.profile:
			return -1
		}
		return 1
	})
	return slices.Compact(all)
}
