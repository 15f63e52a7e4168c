package config

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// hidden stands for a value that is not shown.
const hidden = "***"

// Profiles returns every profile that AWS tools see in the two files, sorted by name in byte
// order, and the keys and values of each, sorted by key. It does not validate values. You
// may range over both sequences several times.
//
// A value is "***" unless showValues is true. The value of a secret is always "***": a value
// whose key, in lower case, contains secret, token or access_key, and a value with a
// continuation line that has such a key. A property with sub-properties has an empty value,
// and its sub-properties are not returned.
//
// The diagnostics are those about the paths of the files and about malformed lines. If
// strict is true, the first malformed line is a [*ParseError]. The other error is an
// [*UnreadableError] for an unreadable file that code named, and for any file above 4 MiB.
func (s Sources) Profiles(showValues, strict bool) (iter.Seq2[string, iter.Seq2[string, string]], []Diagnostic, error) {
	var found findings
	files, err := s.open(&found)
	if err != nil {
		return nil, nil, err
	}
	both := readings(files, "", true, &found)
	if err := refuse(both, strict); err != nil {
		return nil, nil, err
	}
	about := found.first
	for i := range found.files {
		for _, d := range found.files[i].list() {
			if d.Code == codeMalformedLine {
				about = append(about, d)
			}
		}
	}
	return func(yield func(string, iter.Seq2[string, string]) bool) {
		for _, p := range places(both) {
			if p.profile && !yield(strings.Clone(p.name), shown(both[0].sections[p], both[1].sections[p], showValues)) {
				return
			}
		}
	}, about, nil
}

// refuse returns the error of strict reading: the first malformed line of the config file,
// or else of the credentials file.
func refuse(both [2]*reading, strict bool) error {
	for _, x := range both {
		if strict && x.refused != nil {
			return x.refused
		}
	}
	return nil
}

// shown returns the keys and values that the sections of both files together have.
func shown(config, credentials *section, showValues bool) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		from := [2]map[string]*value{config.values(), credentials.values()}
		all := slices.AppendSeq(slices.Collect(maps.Keys(from[0])), maps.Keys(from[1]))
		slices.Sort(all)
		for keys := range slices.Chunk(slices.Compact(all), maxLoaded) {
			profile := load()
			for _, values := range from {
				for _, key := range keys {
					if v := values[key]; v != nil {
						profile.set(key, v.shown(key, showValues))
					}
				}
			}
			for _, key := range keys {
				if !yield(strings.Clone(key), strings.Clone(profile.value(key))) {
					return
				}
			}
		}
	}
}

// value is the value of a property with all lines that continue it.
type value struct {
	text   []byte
	secret bool // One of these lines has the key of a secret.
	group  bool // They are sub-properties.
}

// values returns the properties by key. The last of equal keys wins.
func (s *section) values() map[string]*value {
	if s == nil {
		return nil
	}
	all := map[string]*value{}
	var v *value
	for i := range s.lines {
		l := &s.lines[i]
		switch p := l.split(); {
		case l.kind == lineProperty && !p.dropped:
			v = &value{text: []byte(p.value)}
			all[asciiLower(p.key)] = v
		case l.kind == lineContinuation:
			v.text, v.secret = append(append(v.text, '\n'), l.text...), v.secret || isSecret(p.key)
		case l.kind == lineSubProperty:
			v.group = true
		}
	}
	return all
}

// shown returns the value as it may be shown.
func (v *value) shown(key string, show bool) string {
	switch {
	case v.group:
		return ""
	case !show || v.secret || isSecret(key):
		return hidden
	}
	return string(v.text)
}

// isSecret reports whether the value of a key is never shown.
func isSecret(key string) bool {
	key = asciiLower(key)
	return strings.Contains(key, "secret") || strings.Contains(key, "token") || strings.Contains(key, "access_key")
}
