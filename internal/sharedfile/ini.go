package sharedfile

import "gopkg.in/ini.v1"

// MaxMerged is how many keys ini.v1 gets at once. For each new key ini.v1 goes through all its
// keys, so the time grows with the square of their number.
const MaxMerged = 512

// Merge returns a profile without keys in ini.v1. NewKey gives it keys and values, of which the last one of equal keys
// counts. It gets no text, so that no character has a special meaning for it.
func Merge() *ini.Section { return ini.Empty().Section(ini.DefaultSection) }
