package config

import "gopkg.in/ini.v1"

// maxLoaded is how many keys ini.v1 gets at once. For each new key ini.v1 goes through all its
// keys, so the time grows with the square of their number.
const maxLoaded = 512

// loaded is one profile in ini.v1, which gets keys and values but no text, so that no character has a
// special meaning for it.
type loaded struct{ section *ini.Section }

func load() loaded { return loaded{ini.Empty().Section(ini.DefaultSection)} }

// set gives a key a value. Of equal keys the last one counts.
func (l loaded) set(key, value string) {
	_, _ = l.section.NewKey(key, value) // It refuses the empty key only, which no property has (R09).
}

// value returns the value of a key that was set.
func (l loaded) value(key string) string { return l.section.Key(key).Value() }
