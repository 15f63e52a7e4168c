package lint

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/awsretry/awsretry/internal/near"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// file looks at the lines of one file while it is read.
type file struct {
	*report
	*sharedfile.File
	found map[string]kept // The findings by code.
	line  int32           // The number of the line at hand, or 0 for the file as a whole.

	within  bool     // The last header that is not malformed has a name.
	kept    bool     // The section is looked at line by line.
	silent  bool     // The lines of the section have no effect, which no finding says yet.
	start   header   // The last header.
	refused bool     // A line was reported that makes the file unreadable for botocore.
	no      []header // The sections of which a finding says that they are no profiles.
	unused  int      // How many other profiles have retry settings.
	first   header   // The first of them, with the line of its first retry setting.
}

// header is the text in the brackets of a header, and its line.
type header struct {
	name string
	line int32
}

// begin looks at the file as a whole.
func (x *file) begin() {
	x.line = 1
	if x.UTF16 {
		x.warn(codeMalformedLine, sharedfile.UTF16.String()+"; the file counts as empty")
		x.noteIf(!x.Valid, python, "UTF-16"+unreadable)
		return
	}
	first, _, _ := strings.Cut(x.Data, "\n")
	x.noteIf(x.BOM, python, "the byte-order mark"+unreadable)
	x.noteIf(x.BOM && strings.HasPrefix(sharedfile.Trim(first), "["), toolGo, "the section below the byte-order mark is lost")
}

// look looks at one line.
func (x *file) look(at *sharedfile.Pass) {
	x.line = at.Number
	switch at.Kind {
	case sharedfile.Header:
		x.header(at)
	case sharedfile.Malformed:
		x.malformed(&at.Line)
	case sharedfile.Comment:
		x.noteIf(!utf8.ValidString(at.Text), python, "a comment that is not UTF-8"+unreadable)
		x.noteIf(strings.Contains(at.Text, "\r"), python, endsAtCR)
	case sharedfile.PropertyLine:
		if sharedfile.RetryKey(at.Property.Key) == "" {
			return
		}
		x.noteIf(at.Header == forAll && x.Kind == sharedfile.Config, python, "a key of [DEFAULT] counts in every profile of the file")
		if !x.silent {
			return
		}
		x.silent, at.Settings = false, at.Header == forAll
		if !at.Place.Profile {
			x.no = append(x.no, x.start)
		} else if x.unused++; x.unused == 1 {
			x.first = header{at.Header, at.Number}
		}
	case sharedfile.Continuation, sharedfile.SubProperty, sharedfile.Skipped:
	}
}

func (x *file) header(at *sharedfile.Pass) {
	x.within, x.start = at.Header != "", header{at.Header, at.Number}
	// If both files are the same file, a section may have an effect in the other kind of file.
	x.silent = !x.pair.Same() && (!at.Kept || !at.Place.Profile && at.Header != sharedfile.DefaultProfile)
	if x.silent && !at.Place.Profile {
		if name := x.misnamed(at.Header); name != "" && (x.pair.Profile == "" || x.pair.Profile == name) {
			x.silent, x.no = false, append(x.no, x.start)
		}
	}
	at.Settings = x.silent || at.Header == forAll && x.Kind == sharedfile.Config
	x.noteIf(at.Nested, python, headerInValue)
	comment := at.Text[len(sharedfile.BeforeAny(at.Text)):]
	x.noteIf((at.Kept || x.kept) && strings.IndexAny(comment, "#;") == 0, toolJS,
		"a header that a comment touches does not count, so its lines belong to the section above")
	x.kept = at.Kept
	x.noteIf(at.Header == "" && strings.HasPrefix(at.Text, "[]"), python, "an empty section header"+unreadable)
}

// misnamed returns the name of the profile that a section was probably meant for, or "" for a profile and for a section of
// another kind.
func (x *file) misnamed(header string) string {
	rest, prefixed := sharedfile.CutWord(header, "profile")
	like := sharedfile.LikeProfile(header)
	switch {
	case x.Kind == sharedfile.Credentials && prefixed:
		return sharedfile.Unquoted(sharedfile.Trim(rest))
	case x.Kind == sharedfile.Credentials, prefixed:
		return ""
	case like != "":
		return like
	case sharedfile.ProfileName(sharedfile.Credentials, header) == "", sharedfile.ASCIILower(header) == sharedfile.DefaultProfile:
		return ""
	case header == "profile", header == "plugins", header == "preview":
		return ""
	}
	return header
}

// skipped ends the finding about a malformed line.
const skipped = "; the line is skipped"

// malformed reports a line that is skipped. Of the lines that make the file unreadable for botocore, headers
// aside, it says so of the first one only.
func (x *file) malformed(l *sharedfile.Line) {
	if x.pair.Same() && x.Kind == sharedfile.Credentials {
		return
	}
	text := l.Fault.String() + skipped
	if shown := l.Shown(); shown != "" {
		text = sharedfile.Quote(shown) + ": " + text
	}
	x.warn(codeMalformedLine, text)
	if l.Text[0] == '[' {
		x.silent = false
		x.skippedHeader(l)
		return
	}
	p := (&sharedfile.Line{Text: l.Text, Kind: sharedfile.PropertyLine}).Split()
	x.noteIf(p.Value == "'" || p.Value == `"`, toolGo, crash)
	text = trimJS(beforeComment(l.Text))
	x.noteIf(strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"), toolJS, bomIsBlank+", so the line is a header")
	sign := strings.IndexAny(l.Text, "=:")
	noName := l.InGroup && sign == 0 && l.Text[0] == '=' // A sub-property may have no name.
	inComment := l.Fault == sharedfile.NoSign && !l.InGroup && sign > 0
	if !x.refused && !noName && !inComment {
		x.refused = true
		x.noteIf(true, python, "the line"+unreadable)
	}
}

// skippedHeader reports how other tools read a malformed header. None of them ends the section
// above it as rule R05 does: each finds another header in it, or no header.
func (x *file) skippedHeader(l *sharedfile.Line) {
	how := "the line" + unreadable
	switch {
	case l.Nested:
		how = headerInValue
	case l.Fault == sharedfile.NotUTF8:
	case l.Fault == sharedfile.LoneCR:
		how = endsAtCR
	case strings.LastIndexByte(l.Text, ']') > 1:
		how = "the name goes on up to the last ']'"
	case x.within && strings.ContainsAny(l.Text, "=:"):
		how = aboveTakes
	}
	x.noteIf(true, python, how)
	text := beforeComment(l.Text)
	closed, bom := strings.HasSuffix(trimJS(text), "]"), !strings.HasSuffix(text, "]")
	var above []string
	if !strings.HasSuffix(sharedfile.BeforeAny(l.Text), "]") {
		above = append(above, toolGo)
	}
	if !closed {
		above = append(above, toolJS)
	}
	x.noteIf(x.within && above != nil, strings.Join(above, ", "), aboveTakes)
	x.noteIf(closed && bom, toolJS, bomIsBlank+", so the header counts")
	x.noteIf(closed && !bom && x.Kind == sharedfile.Credentials, toolJS,
		"a comment begins behind a blank only, so the whole header is the name of a profile")
}

// end looks at the sections of the file, of which kept are looked at line by line afterwards.
func (x *file) end(kept map[sharedfile.Place]*sharedfile.Section) {
	for i, h := range x.no {
		x.line = h.line
		x.noProfile(h.name, i < maxFindings)
	}
	if x.unused > 0 {
		names := sharedfile.Shorten("[" + x.first.name + "]")
		if x.unused > 1 {
			names += " and " + strconv.Itoa(x.unused-1) + " more"
		}
		x.line = x.first.line
		x.warn("unused-profile", "retry settings of other profiles have no effect on profile "+sharedfile.Quote(x.pair.Profile)+": "+names)
	}
	bare, prefixed := kept[sharedfile.Place{Name: sharedfile.DefaultProfile}], kept[sharedfile.Place{Profile: true, Name: sharedfile.DefaultProfile}]
	if x.Kind != sharedfile.Config || bare == nil {
		return
	}
	x.line = bare.Lines[0].Number
	x.warn("default-twice", "[default] does not count, as there is a [profile default]; its settings have no effect")
	x.line = bare.Last
	x.noteIf(bare.Last > prefixed.Last, python, "of [default] and [profile default] the last one counts")
	x.line = prefixed.Lines[0].Number
	x.noteIf(!slices.ContainsFunc(prefixed.Lines, func(l sharedfile.Line) bool {
		p := l.Split()
		return p.Sign == '=' && p.Key != "" && p.Value != ""
	}), toolJS, "an empty section does not count, so [default] does")
}

// noProfile reports a section that is no profile, and if similar is true, the profiles that its name resembles.
func (x *file) noProfile(header string, similar bool) {
	text := sharedfile.Shorten("[" + header + "]")
	switch name := x.misnamed(header); {
	case name == "":
		text += " is no profile, so its retry settings have no effect"
	case x.Kind == sharedfile.Credentials:
		text += " is no profile in the credentials file, so its lines have no effect; did you mean [" + sharedfile.Shorten(name) + "]"
	case name == header:
		text += " lacks the word profile, so its lines have no effect; did you mean " + x.meant(name, similar)
	default:
		text += " is no profile, so its lines have no effect; did you mean " + x.meant(name, similar)
	}
	x.warn("ignored-section", text)
}

// meant names the profile that a section was meant for, and if similar is true, those that its name resembles.
func (x *file) meant(name string, similar bool) string {
	names, there := near.To(name), ""
	for _, r := range x.pair.Readings {
		if !similar {
			break
		}
		for p := range r.Sections {
			if p.Profile && p.Name == name {
				there = ", which is there too"
			} else if p.Profile {
				names.Add(p.Name)
			}
		}
	}
	meant := append([]string{name}, names.Best()...)
	for i, other := range meant {
		meant[i] = sharedfile.Shorten("[profile " + other + "]")
	}
	return strings.Join(meant, " or ") + there
}
