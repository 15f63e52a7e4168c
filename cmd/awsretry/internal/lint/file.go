package lint

import (
	"cmp"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/words"
)

// file looks at the lines of one file while it is read.
type file struct {
	*report
	*sharedfile.File
	found map[string]*kept // The findings by code.
	line  int32            // The number of the line at hand, or 0 for the file as a whole.
	edits []edit           // The cures.

	ignored map[int32]string // The codes that comments hide, by line; an empty one is every code.
	decoded string           // See Fixed.

	start  int32 // The line of the last header that is not malformed.
	unused int   // How many other profiles have retry settings.
}

// opened adds the findings about files that were named but do not exist, or that exist but cannot be read, and about
// how they begin.
func (r *report) opened(severity Severity) {
	if r.pair.NoHome {
		const text = "no home directory: HOME is not set and the system knows none, so the shared files in it are not read"
		r.first = append(r.first, Diagnostic{Code: "no-home-directory", Message: text})
	}
	for i := range r.files {
		x := &r.files[i]
		x.line = 1
		d := Diagnostic{Severity: severity, File: x.Path}
		switch missing := errors.Is(x.Err, fs.ErrNotExist); {
		case missing && (x.ByCode || x.Variable != ""):
			d.Code, d.Message = "missing-file", "the "+x.Kind+" file that "+cmp.Or(x.Variable, "an option")+" names does not exist"
			r.first = append(r.first, d)
		case x.Err != nil && !missing:
			d.Code, d.Message = "unreadable-file", "the "+x.Kind+" file counts as empty: it cannot be read: "+x.Err.Error()
			r.first = append(r.first, d)
		case x.UTF16:
			d.Code, d.Message = x.skipped().Code, sharedfile.UTF16.String()+"; the file counts as empty"
			x.add(d)
		}
	}
}

func (x *file) look(at *sharedfile.Pass) {
	x.line = at.Number
	switch at.Kind {
	case sharedfile.Header:
		x.header(at)
	case sharedfile.Malformed:
		x.malformed(&at.Line)
	case sharedfile.PropertyLine, sharedfile.Continuation, sharedfile.SubProperty, sharedfile.Skipped:
		if at.Kind != sharedfile.PropertyLine || sharedfile.RetryKey(at.Property.Key) == "" {
			return
		}
		switch silent := at.Settings && !x.same(); {
		case silent && !at.Place.Profile:
			x.line = x.start
			x.warn(codeIgnoredSection, "%s", at.Header)
		case silent:
			if x.unused++; x.unused == 1 {
				x.warn(codeUnusedProfile, "retry settings of other profiles have no effect on profile %s: %s",
					sharedfile.Quote(x.pair.Profile), sharedfile.Shorten("["+at.Header+"]"))
			}
		}
		at.Settings = false // The others of the section add nothing.
	}
}

func (x *file) header(at *sharedfile.Pass) {
	// The lines of the section have no effect. If both files are the same file, they may have one in the other kind of file.
	at.Settings = !x.same() && (!at.Kept || !at.Place.Profile && at.Header != sharedfile.DefaultProfile)
	if at.Settings && !at.Place.Profile {
		if name := x.misnamed(at.Header); name != "" && (x.pair.Profile == "" || x.pair.Profile == name) {
			at.Settings = false
			x.warn(codeIgnoredSection, "%s", at.Header)
			x.cureHeader(&at.Line, name, true)
		}
	} else if at.Kept && !x.same() {
		x.cureHeader(&at.Line, at.Place.Name, false)
	}
	x.start = at.Number
}

// misnamed returns the name of the profile that a section was probably meant for, or "" for a section of another kind.
func (x *file) misnamed(header string) string {
	switch like := sharedfile.LikeProfile(header); {
	case x.Kind == sharedfile.Credentials:
		return sharedfile.ProfileName(sharedfile.Config, header)
	case like != "":
		return like
	case sharedfile.ProfileName(sharedfile.Credentials, header) == "", sharedfile.ASCIILower(header) == sharedfile.DefaultProfile,
		header == "profile", header == "plugins", header == "preview":
		return ""
	}
	return header
}

// malformed reports a line that is skipped.
func (x *file) malformed(l *sharedfile.Line) {
	if x.same() && x.Kind == sharedfile.Credentials {
		return
	}
	d := x.skipped()
	if x.full(d.Code, d.Severity) {
		return
	}
	d.Message = l.Fault.String()
	if shown := l.Shown(); shown != "" {
		d.Message = sharedfile.Quote(shown) + ": " + d.Message
	}
	if !x.strict {
		d.Message += "; the line is skipped"
	}
	x.add(d)
}

// skipped returns a finding about a malformed line.
func (x *file) skipped() Diagnostic {
	if x.strict {
		return Diagnostic{Code: "parse-error", Severity: SeverityError}
	}
	return Diagnostic{Code: codeMalformedLine}
}

// end looks at the sections of the file. Those that were kept are looked at line by line afterwards.
func (x *file) end() {
	ignored := x.findings(codeIgnoredSection).list
	for i, d := range ignored {
		ignored[i].Message = x.noProfile(d.Message)
	}
	if x.unused > 1 {
		x.findings(codeUnusedProfile).list[0].Message += " and " + strconv.Itoa(x.unused-1) + " more"
	}
	if bare := x.Sections[sharedfile.Place{Name: sharedfile.DefaultProfile}]; bare != nil {
		x.line = bare.Lines[0].Number
		x.warn("default-twice", "[default] does not count, as there is a [profile default]; its settings have no effect")
	}
}

// noProfile says that a section is no profile, and which one it was meant for, with those that its name resembles.
func (x *file) noProfile(header string) string {
	text, name := sharedfile.Shorten("["+header+"]"), x.misnamed(header)
	switch {
	case name == "":
		return text + " is no profile, so its retry settings have no effect"
	case x.Kind == sharedfile.Credentials:
		return text + " is no profile in the credentials file, so its lines have no effect; did you mean [" + sharedfile.Shorten(name) + "]"
	case name == header:
		text += " lacks the word profile, so its lines have no effect; did you mean "
	default:
		text += " is no profile, so its lines have no effect; did you mean "
	}
	names, there := words.Near(name), ""
	for _, r := range x.pair.Files {
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
	return text + strings.Join(meant, " or ") + there
}
