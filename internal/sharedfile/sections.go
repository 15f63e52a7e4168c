package sharedfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The keys of the retry settings.
const (
	RetryMode   = "retry_mode"
	MaxAttempts = "max_attempts"
)

// DefaultProfile is the name of the profile that is used if none is named.
const DefaultProfile = "default"

// The variables that say what the files say, or where the files and the profile are.
const (
	EnvRetryMode       = "AWS_RETRY_MODE"
	EnvMaxAttempts     = "AWS_MAX_ATTEMPTS"
	EnvProfile         = "AWS_PROFILE"
	EnvDefaultProfile  = "AWS_DEFAULT_PROFILE"
	EnvConfigFile      = "AWS_CONFIG_FILE"
	EnvCredentialsFile = "AWS_SHARED_CREDENTIALS_FILE"
)

// The two files.
const (
	Config      = "config"
	Credentials = "credentials"
)

// Why a file cannot be read, other than an error of the system.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrDirectory  = fmt.Errorf("%w but a directory", ErrNotRegular)
	ErrTooLarge   = errors.New("larger than 4 MiB")
)

// File is one of the two files as it was opened.
type File struct {
	Kind     string // Config or Credentials.
	Path     string
	ByCode   bool   // Code has named the file.
	Variable string // The variable that has named the file, or empty.
	Err      error  // Why the file was not read: fs.ErrNotExist if it is missing.

	Raw   string // The data as it was read.
	Data  string // Without a byte-order mark.
	BOM   bool
	Valid bool // The data is UTF-8 from end to end.
	UTF16 bool // The data was UTF-16, so it counts as empty.

	// Of the last Read.
	Sections map[Place]*Section
	Refused  Line // The first malformed line, if it has a fault.
}

// Pair is the two files, config and credentials, and what they were opened with.
type Pair struct {
	Files   [2]File
	NoHome  bool                        // The home directory was needed but is not known.
	Windows bool                        // The rules of Windows apply.
	Lookup  func(string) (string, bool) // It returns a variable that is set, even if it is empty.

	Look    [2]func(at *Pass) // If it is not nil, Read calls it for lines of the file.
	Profile string            // Of the last Read,
	All     bool              // as is this.
}

// Read goes over both files and keeps the sections of one profile, or if all is true, every section.
func (p *Pair) Read(profile string, all bool) {
	p.Profile, p.All = profile, all
	for i := range p.Files {
		p.Files[i].read(profile, all, p.Look[i])
	}
}

// Profiles returns the names of the profiles that the kept sections of both files are for, in byte order.
func (p *Pair) Profiles() (names []string) {
	for _, r := range p.Files {
		for at := range r.Sections {
			if at.Profile {
				names = append(names, at.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Place is what a section is for.
type Place struct {
	Profile bool
	Name    string // That of the profile, or else the text in the brackets.
}

// Section holds the lines of all sections of a file for one place, each with its header first, without malformed ones.
type Section struct {
	Lines []Line
}

// Pass is where a pass over a file is. It is called for every line that counts below the header of a kept section, for
// all headers, for malformed lines, and if Settings is true, for the retry settings of
// a section that is not kept. It may be called for other properties too.
type Pass struct {
	Line
	Property Property // Of a property.
	Header   string   // The text in the brackets of the last header, empty for a malformed one.
	Place    Place    // What that header is for. A section that is no profile has a name only if all are kept.
	Kept     bool
	Settings bool // The caller may set it.
}

// read is the pass.
func (f *File) read(profile string, all bool, look func(*Pass)) {
	f.Sections, f.Refused = nil, Line{}
	if f.UTF16 {
		f.Refused = Line{Number: 1, Kind: Malformed, Fault: UTF16}
	}
	if f.Data == "" {
		return
	}
	var (
		at   Pass
		kept *Section // The current section, if it is wanted.
	)
	s := scanner{data: f.Data, valid: f.Valid, brief: true}
	for s.scan(&at.Line) {
		switch at.Kind {
		case Header:
			at.Header, at.Settings = HeaderName(at.Text), false
			kept = f.section(&at, profile, all)
			at.Kept = kept != nil
		case Malformed:
			if f.Refused.Fault == NoFault {
				f.Refused = at.Line
			}
			if at.Text[0] == '[' {
				at.Header, at.Settings, at.Kept, kept = "", false, false, nil
			}
		case PropertyLine:
			at.Property = s.current
		case Continuation, SubProperty, Skipped:
		}
		if look != nil {
			look(&at)
		}
		if kept != nil && at.Kind != Malformed {
			kept.Lines = append(kept.Lines, at.Line)
		}
		s.brief, s.settings = kept == nil && !all, at.Settings
	}
	f.useBareDefault()
}

// section returns the section that a header begins or goes on with, or nil if it is not wanted.
func (f *File) section(at *Pass, profile string, all bool) *Section {
	name := ProfileName(f.Kind, at.Header)
	at.Place = Place{name != "", name}
	switch {
	case at.Header == "", name == "" && !all, name != "" && !all && name != profile:
		return nil
	case name == "":
		at.Place.Name = at.Header
	case f.Kind == Config && at.Header == DefaultProfile:
		at.Place.Profile = false // until useBareDefault
	}
	kept := f.Sections[at.Place]
	if kept == nil {
		kept = &Section{}
		if !all {
			kept.Lines = make([]Line, 0, 8)
		}
		if f.Sections == nil {
			f.Sections = map[Place]*Section{}
		}
		f.Sections[at.Place] = kept
	}
	return kept
}

// useBareDefault makes the [default] of the config file a profile, unless there is a [profile default] (R16).
func (f *File) useBareDefault() {
	profile, bare := Place{true, DefaultProfile}, Place{false, DefaultProfile}
	if f.Kind == Config && f.Sections[bare] != nil && f.Sections[profile] == nil {
		f.Sections[profile] = f.Sections[bare]
		delete(f.Sections, bare)
	}
}

// ProfileName returns the name of the profile that a section is for by rules R06 and R07, or "" for a section that is
// no profile.
func ProfileName(kind, header string) string {
	rest, prefixed := cutWord(header, "profile")
	if kind == Config {
		switch {
		case prefixed:
			return Unquoted(strings.TrimLeft(rest, " \t"))
		case header == DefaultProfile:
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

// Unquoted cuts off one pair of quotes, if there is a text between them that does not contain such a quote.
func Unquoted(name string) string {
	last := len(name) - 1
	if last < 2 || name[0] != '\'' && name[0] != '"' || strings.IndexByte(name[1:], name[0]) != last-1 {
		return name
	}
	return name[1:last]
}

// more stands for the lines of a value that are left out.
const more = "\n..."

// Setting is a retry setting in a section.
type Setting struct {
	Key  string
	Text string // Of several lines the first, a newline and "...": the others may hold a secret.
	Line int
}

// Settings returns the retry settings in the order of their lines.
func (s *Section) Settings() []Setting {
	all := make([]Setting, 0, 2)
	within := false // a setting
	for i := range s.Lines {
		switch l := &s.Lines[i]; l.Kind {
		case PropertyLine:
			within = false
			if first := lowerByte(l.Text[0]); first != RetryMode[0] && first != MaxAttempts[0] {
				continue
			}
			p := l.Split()
			if key := RetryKey(p.Key); key != "" {
				all, within = append(all, Setting{Key: key, Text: p.Value, Line: int(l.Number)}), true
			}
		case Continuation:
			if last := len(all) - 1; within && !strings.HasSuffix(all[last].Text, more) {
				all[last].Text += more
			}
		case Header, SubProperty, Skipped, Malformed:
		}
	}
	return all
}

// Value is the value of a property with all lines that continue it.
type Value struct {
	Text   []byte
	Secret bool // A further line has the key of a secret.
	Group  bool // The further lines are sub-properties.
}

// Values returns the properties by key in lower case. The last of equal keys wins.
func (s *Section) Values() map[string]*Value {
	if s == nil {
		return nil
	}
	all := map[string]*Value{}
	var v *Value
	for i := range s.Lines {
		l := &s.Lines[i]
		switch p := l.Split(); {
		case l.Kind == PropertyLine && !p.Dropped():
			v = &Value{Text: []byte(p.Value)}
			all[ASCIILower(p.Key)] = v
		case l.Kind == Continuation:
			v.Text, v.Secret = append(append(v.Text, '\n'), l.Text...), v.Secret || IsSecret(p.Key)
		case l.Kind == SubProperty:
			v.Group = true
		}
	}
	return all
}

// IsSecret reports whether the value of a key is never shown.
func IsSecret(key string) bool {
	key = ASCIILower(key)
	return strings.Contains(key, "secret") || strings.Contains(key, "token") || strings.Contains(key, "access_key")
}
