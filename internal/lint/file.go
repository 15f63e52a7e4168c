package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/internal/near"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// file looks at the lines of one file while it is read.
type file struct {
	*aboutFile
	pair *sharedfile.Pair
	kind string

	within     bool  // The last header that is not malformed has a name.
	outside    bool  // The section is not kept, and none of its retry settings was seen.
	start      int32 // The line of the last header.
	unreadable bool  // A line that makes the file unreadable for botocore was reported.
	unused     tally // Other profiles that have retry settings.
}

// tally counts sections of one kind, and keeps the first one.
type tally struct {
	sections int
	line     int32  // The line of the first retry setting.
	name     string // The name of the section with that line.
}

// begin looks at the file as a whole.
func (x *file) begin(f *sharedfile.File) {
	if f.UTF16 {
		x.warn(codeMalformedLine, 1, sharedfile.UTF16.String()+"; the file counts as empty")
		if !f.Valid {
			x.differ(1, python, "UTF-16"+unreadable)
		}
		return
	}
	if f.BOM {
		x.differ(1, python, "the byte-order mark"+unreadable)
		if first, _, _ := strings.Cut(f.Data, "\n"); strings.HasPrefix(sharedfile.Trim(first), "[") {
			x.differ(1, toolGo, "the section below the byte-order mark is lost")
		}
	}
}

// look looks at one line.
func (x *file) look(at *sharedfile.Pass) {
	switch at.Kind {
	case sharedfile.Header:
		x.header(at)
		at.Settings = x.outside
	case sharedfile.Malformed:
		x.malformed(&at.Line)
		x.outside = x.outside && at.Text[0] != '['
	case sharedfile.Comment:
		x.differ(at.Number, python, "a comment that is not UTF-8"+unreadable)
	case sharedfile.PropertyLine:
		if !x.outside || sharedfile.RetryKey(at.Property.Key) == "" {
			return
		}
		x.outside, at.Settings = false, false
		if !at.Place.Profile {
			x.noProfile(x.start, at.Header, nil)
		} else if x.unused.sections++; x.unused.sections == 1 {
			x.unused.line, x.unused.name = at.Number, at.Header
		}
	case sharedfile.Continuation, sharedfile.SubProperty:
	}
}

func (x *file) header(at *sharedfile.Pass) {
	x.within, x.outside, x.start = at.Header != "", !at.Kept, at.Number
	if at.Nested {
		x.differ(at.Number, python, headerInValue)
	}
	switch {
	case at.Header == "" && strings.HasPrefix(at.Text, "[]"):
		x.differ(at.Number, python, "an empty section header"+unreadable)
	case x.outside && !at.Place.Profile && at.Header == x.pair.Profile && x.lacksWord(at.Header):
		x.noProfile(at.Number, at.Header, []string{at.Header})
		x.outside = false
	}
}

// skipped ends the finding about a malformed line.
const skipped = "; the line is skipped"

// malformed reports a line that is skipped.
func (x *file) malformed(l *sharedfile.Line) {
	if x.pair.Same() && x.kind == sharedfile.Credentials {
		return
	}
	text := ""
	if shown := l.Shown(); shown != "" {
		text = sharedfile.Quote(shown) + ": "
	}
	x.warn(codeMalformedLine, l.Number, text+l.Fault.String()+skipped)
	x.skipped(l)
}

// end looks at the sections named default, of which one hides another.
func (x *file) end(r *sharedfile.Reading) {
	bare := r.Sections[sharedfile.Place{Profile: false, Name: sharedfile.DefaultProfile}]
	prefixed := r.Sections[sharedfile.Place{Profile: true, Name: sharedfile.DefaultProfile}]
	if x.kind != sharedfile.Config || bare == nil {
		return
	}
	x.warn(codeDefaultTwice, bare.Lines[0].Number,
		"[default] does not count, as there is a [profile default]; its settings have no effect")
	if bare.Last > prefixed.Last {
		x.differ(bare.Last, python, "of [default] and [profile default] the last one counts")
	}
	if !slices.ContainsFunc(prefixed.Lines, hasValue) {
		x.differ(prefixed.Lines[0].Number, toolJS, "an empty section does not count, so [default] does")
	}
}

// hasValue reports whether a line has an equals sign and something after it.
func hasValue(l sharedfile.Line) bool {
	if l.Kind == sharedfile.Header {
		return false
	}
	l.Kind = sharedfile.PropertyLine
	p := l.Split()
	return p.Fault == sharedfile.NoFault && p.Sign == '=' && p.Value != ""
}

// reportUnused reports the retry settings of other profiles. If both files are the same file, it reports nothing,
// because the settings may have an effect in the other kind of file.
func (x *file) reportUnused() {
	if x.unused.sections == 0 || x.pair.Same() {
		return
	}
	names := sharedfile.Shorten("[" + x.unused.name + "]")
	if x.unused.sections > 1 {
		names += " and " + strconv.Itoa(x.unused.sections-1) + " more"
	}
	x.warn(codeUnusedProfile, x.unused.line,
		"retry settings of other profiles have no effect on profile "+sharedfile.Quote(x.pair.Profile)+": "+names)
}

// lacksWord reports whether a section of the config file would be a profile if it had the word profile.
func (x *file) lacksWord(header string) bool {
	return x.kind == sharedfile.Config && sharedfile.ProfileName(sharedfile.Credentials, header) != "" && !strings.HasPrefix(header, "profile") &&
		header != "plugins" && header != "preview" && sharedfile.ASCIILower(header) != sharedfile.DefaultProfile
}

// noProfile reports a section that is no profile. near has the names of profiles that its name resembles. If both
// files are the same file, it reports nothing.
func (x *file) noProfile(line int32, header string, near []string) {
	if x.pair.Same() {
		return
	}
	text := sharedfile.Shorten("[" + header + "]")
	name, prefixed := sharedfile.CutWord(header, "profile")
	switch {
	case x.lacksWord(header):
		meant := []string{sharedfile.Shorten("[profile " + header + "]")}
		for _, name := range near {
			if name != header {
				meant = append(meant, sharedfile.Shorten("[profile "+name+"]"))
			}
		}
		text += " lacks the word profile, so its lines have no effect; did you mean " + strings.Join(meant, " or ")
		if slices.Contains(near, header) {
			text += ", which is there too"
		}
	case prefixed && x.kind == sharedfile.Credentials:
		text += " is no profile in the credentials file, so its lines have no effect; did you mean [" + sharedfile.Shorten(sharedfile.Trim(name)) + "]"
	default:
		text += " is no profile, so its retry settings have no effect"
	}
	x.warn(codeIgnoredSection, line, text)
}

// noProfiles reports the sections that are no profiles and have retry settings, and those that lack the word
// profile, of two files that were read with all sections.
func (r *report) noProfiles() {
	all := r.pair.Places()
	for i := range r.lines {
		x, n := &r.lines[i], 0
		for _, p := range all {
			s := r.pair.Readings[i].Sections[p]
			if p.Profile || s == nil || x.kind == sharedfile.Config && p.Name == sharedfile.DefaultProfile {
				continue
			}
			lacks := x.lacksWord(p.Name)
			if !lacks && !slices.ContainsFunc(s.Lines, isSetting) {
				continue
			}
			names := near.To(p.Name)
			if n++; lacks && n <= maxFindings {
				for _, q := range all {
					if q.Profile {
						names.Add(q.Name)
					}
				}
			}
			x.noProfile(s.Lines[0].Number, p.Name, names.Best())
		}
	}
}

func isSetting(l sharedfile.Line) bool {
	return l.Kind == sharedfile.PropertyLine && sharedfile.RetryKey(l.Split().Key) != ""
}
