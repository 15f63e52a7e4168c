package sharedfile

import "gopkg.in/ini.v1"

// Merge returns a profile without keys in ini.v1. NewKey gives it keys and values, of which the last one of equal keys
// counts. It gets no text, so that no character has a special meaning for it.
func Merge() *ini.Section { return ini.Empty().Section(ini.DefaultSection) }
