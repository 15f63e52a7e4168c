package lint

import (
	"cmp"
	"errors"
	"io/fs"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// file looks at the lines of one file while it is read.
type file struct {
	*report
	*sharedfile.File
	found map[string]*kept // The findings by code.
	last  *kept            // The one of found that was used last.
	line  int32            // The number of the line at hand, or 0 for the file as a whole.
	edits []edit           // The cures.

	ignored map[int32]string // The codes that comments hide, by line; an empty one is every code.
	decoded string           // See Fixed.

	start int32 // The line of the last header that is not malformed.
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
	case sharedfile.PropertyLine:
		if at.Settings && sharedfile.RetryKey(at.Property.Key) != "" {
			at.Settings = false // The others of the section add nothing.
			x.line = x.start
			x.warn(codeIgnoredSection, "%s is no profile, so its retry settings have no effect", sharedfile.Shorten("["+at.Header+"]"))
		}
	case sharedfile.Continuation, sharedfile.SubProperty, sharedfile.Skipped:
	}
}

func (x *file) header(at *sharedfile.Pass) {
	x.start = at.Number
	switch name := x.misnamed(at.Header); {
	case x.same: // The lines of the section may have an effect in the other kind of file.
	case at.Place.Profile, at.Header == sharedfile.DefaultProfile:
		if at.Kept {
			x.cureHeader(&at.Line, at.Place.Name, false)
		}
	case name != "" && (x.pair.Profile == "" || x.pair.Profile == name):
		x.noProfile(at.Header, name)
		x.cureHeader(&at.Line, name, true)
	default:
		at.Settings = true
	}
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
	if x.same && x.Kind == sharedfile.Credentials {
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

// noProfile says that a section is no profile, and which one it was meant for.
func (x *file) noProfile(header, name string) {
	lacks := " is no profile"
	if x.Kind == sharedfile.Credentials {
		lacks = " is no profile in the credentials file"
	} else if name == header {
		lacks = " lacks the word profile"
	}
	x.warn(codeIgnoredSection, "%s%s, so its lines have no effect; did you mean %s", sharedfile.Shorten("["+header+"]"), lacks, sharedfile.Shorten(x.headerFor(name, header)))
}

// headerFor returns the header of a profile. In the config file, that of the default profile stays as it is.
func (x *file) headerFor(name, header string) string {
	if x.Kind == sharedfile.Config && header != sharedfile.DefaultProfile {
		return "[profile " + name + "]"
	}
	return "[" + name + "]"
}
