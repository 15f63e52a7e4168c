package config

import "strconv"

// OriginKind says what kind of place a value came from.
type OriginKind string

// Kinds of origin, the strongest first.
const (
	// OriginOption is an option in code that overrides everything else.
	OriginOption OriginKind = "option"
	// OriginEnvironment is a variable of the environment.
	OriginEnvironment OriginKind = "environment"
	// OriginSharedCredentials is the shared credentials file.
	OriginSharedCredentials OriginKind = "shared-credentials"
	// OriginSharedConfig is the shared config file.
	OriginSharedConfig OriginKind = "shared-config"
	// OriginDefault is a default: one given in code, whose option Name tells, or
	// the built-in one, which has no Name.
	OriginDefault OriginKind = "default"
)

// Origin is the place that a value came from. Members that say nothing about
// its kind are empty: a value of a file has no Name, one of a variable no File.
// The zero value is no place at all.
type Origin struct {
	Kind    OriginKind `json:"kind"`
	Name    string     `json:"name,omitempty"`    // The variable or the option.
	File    string     `json:"file,omitempty"`    // The path as it was opened.
	Line    int        `json:"line,omitempty"`    // From 1.
	Profile string     `json:"profile,omitempty"` // The profile whose section it is in.
	Key     string     `json:"key,omitempty"`     // The key in that section, in lower case.
}

// String names the place for people: "path:line: [profile x] key",
// "AWS_RETRY_MODE", "option WithMode" or "built-in default".
func (o Origin) String() string {
	switch o.Kind {
	case OriginSharedConfig, OriginSharedCredentials:
		return o.File + ":" + strconv.Itoa(o.Line) + ": " + o.section() + " " + o.Key
	case OriginEnvironment:
		return o.Name
	case OriginOption:
		return "option " + o.Name
	case OriginDefault:
		if o.Name != "" {
			return "option " + o.Name
		}
		return "built-in default"
	}
	return "config"
}

// section is the header of the section, as the file in question writes it.
func (o Origin) section() string {
	if o.Kind == OriginSharedConfig && o.Profile != DefaultProfile {
		return "[profile " + o.Profile + "]"
	}
	return "[" + o.Profile + "]"
}
