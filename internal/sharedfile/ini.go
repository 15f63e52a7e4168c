package sharedfile

import "gopkg.in/ini.v1"

// MaxMerged is how many keys ini.v1 gets at once. For each new key ini.v1 goes through all its
// keys, so the time grows with the square of their number.
const MaxMerged = 512

// Merged is one profile in ini.v1, which gets keys and values but no text, so that no character has a
// special meaning for it.
type Merged struct{ section *ini.Section }

// Merge returns a profile without keys.
func Merge() Merged { return Merged{ini.Empty().Section(ini.DefaultSection)} }

// Set gives a key a value. Of equal keys the last one counts.
func (m Merged) Set(key, value string) {
	_, _ = m.section.NewKey(key, value) // It refuses the empty key only, which no property has (R09).
}

// Value returns the value of a key that was set.
func (m Merged) Value(key string) string { return m.section.Key(key).Value() }
