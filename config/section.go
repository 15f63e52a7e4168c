package config

import "bytes"

// section is what a header says, to the file that it stands in.
type section struct {
	profile []byte // The name of the profile; nil for a section that is none.
	bare    bool   // A [default] of the config file, which a [profile default] hides.
}

// classify decides whether a section is a profile. In the config file those are
// [default] and [profile NAME], in the credentials file [NAME].
func classify(kind FileKind, name []byte) section {
	if kind == KindCredentials {
		if isName(name) {
			return section{profile: name}
		}
		return section{}
	}
	if string(name) == DefaultProfile {
		return section{profile: name, bare: true}
	}
	rest, ok := bytes.CutPrefix(name, []byte("profile"))
	if !ok || len(rest) == 0 || !isBlank(rest[0]) {
		return section{}
	}
	if rest = trim(rest); !isName(rest) {
		return section{}
	}
	return section{profile: rest}
}
