package config

import (
	"errors"
	"hash/maphash"
	"strconv"

	"gopkg.in/ini.v1"
)

// Canonical text is what ini.v1 gets to read: names with a prefix, so that no
// name is special to it, and values as quoted Go strings, so that no character
// of them is. Every line is one that ini.v1 can read in one way only.
//
//	[p:NAME]
//	k:KEY="value"
const (
	sectionPrefix = "p:"
	keyPrefix     = "k:"
)

// shardSize is how many properties ini.v1 gets in one go. It looks for a
// section or a key by going through all that it has, so that loading takes the
// square of their number.
const shardSize = 512

// errCanonical cannot happen, as canonical text is made to be read.
var errCanonical = errors.New("config: ini.v1 does not read canonical text")

// merged is the properties of the wanted profiles as both files together have
// them. Loading them is the work of ini.v1.
type merged struct {
	seed   maphash.Seed
	shards []*ini.File
}

// merge loads canonical text of the config file and of the credentials file:
// of equal keys the last one wins. One load does for one profile; more
// properties than that are spread over several, each key always in the same.
func merge(config, credentials []property) (*merged, error) {
	n := 1 + (len(config)+len(credentials))/shardSize
	m := &merged{seed: maphash.MakeSeed(), shards: make([]*ini.File, n)}
	first, second := m.canonical(config), m.canonical(credentials)
	for i := range m.shards {
		file, err := ini.LoadSources(ini.LoadOptions{
			IgnoreContinuation:      true,
			IgnoreInlineComment:     true,
			PreserveSurroundedQuote: true,
			KeyValueDelimiters:      "=",
			ChildSectionDelimiter:   "\x00",
		}, first[i], others(second[i])...)
		if err != nil {
			return nil, errCanonical // Not err: its text may hold a value.
		}
		m.shards[i] = file
	}
	return m, nil
}

// others is the second text as ini.v1 takes it: none if it is empty, since the
// reader of an empty one costs as much as any.
func others(text []byte) []any {
	if len(text) == 0 {
		return nil
	}
	return []any{text}
}

// canonical writes the text of one file for each shard.
func (m *merged) canonical(props []property) [][]byte {
	texts := make([][]byte, len(m.shards))
	section := make([]string, len(m.shards))
	for _, p := range props {
		if p.value == nil {
			continue
		}
		i := m.shard(p.profile, p.key)
		text := texts[i]
		if section[i] != p.profile {
			section[i] = p.profile
			text = append(text, "["+sectionPrefix+p.profile+"]\n"...)
		}
		text = append(text, keyPrefix+p.key+"="...)
		text = strconv.AppendQuote(text, string(p.value))
		texts[i] = append(text, '\n')
	}
	return texts
}

// shard chooses the load that all of the values of a key are in.
func (m *merged) shard(profile, key string) int {
	hash := maphash.String(m.seed, profile) ^ maphash.String(m.seed, key)*31
	return int(hash % uint64(len(m.shards)))
}

// value gives the value that won.
func (m *merged) value(profile, key string) (string, bool) {
	section, err := m.shards[m.shard(profile, key)].GetSection(sectionPrefix + profile)
	if err != nil {
		return "", false
	}
	name := keyPrefix + key
	if !section.HasKey(name) {
		return "", false
	}
	value, err := strconv.Unquote(section.Key(name).Value())
	return value, err == nil
}
