package config

import (
	"bytes"
	"iter"
	"slices"
	"strings"
)

// hidden stands for a value that is not shown.
const hidden = "***"

// maxLoaded is how many properties ini.v1 gets at once. To find a key ini.v1 goes through
// all its keys, so the time to load them grows with the square of their number.
const maxLoaded = 512

// Profiles returns every profile that AWS tools see in the two files, in the order of the
// bytes of the names, and of each profile its keys and values in the order of the keys. It
// does not validate values. Both sequences may be ranged over several times.
//
// A value is "***" unless showValues is true. The value of a secret is always "***": a value
// whose key, in lower case, contains secret, token or access_key, and a value that is
// continued by a line with such a key. A property with sub-properties has the empty text for
// a value, and its sub-properties are not returned.
//
// The diagnostics are those about the paths of the files and about malformed lines. With
// strict the first malformed line is a [*ParseError]. The other error is an
// [*UnreadableError] for a file that code named and that cannot be read, and for any file
// above 16 MiB.
func (s Sources) Profiles(showValues, strict bool) (iter.Seq2[string, iter.Seq2[string, string]], []Diagnostic, error) {
	files, found, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	both := indexes(files, "", true)
	if err := refuse(both, strict); err != nil {
		return nil, nil, err
	}
	for _, x := range both {
		for _, d := range x.findings.list() {
			if d.Code == codeMalformedLine {
				found = append(found, d)
			}
		}
	}
	return func(yield func(string, iter.Seq2[string, string]) bool) {
		for g := range groups(both) {
			if g.profile && !yield(string(g.name), properties(both, g, showValues)) {
				return
			}
		}
	}, found, nil
}

// refuse returns the error of strict reading: the first malformed line of the config file,
// or else of the credentials file.
func refuse(files [2]*index, strict bool) error {
	for _, x := range files {
		if strict && x.refused != nil {
			return x.refused
		}
	}
	return nil
}

// properties returns the keys and values that both files together have for one profile.
func properties(files [2]*index, g group, showValues bool) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		rest := [2][]property{files[0].last(g.parts[0]), files[1].last(g.parts[1])}
		for len(rest[0])+len(rest[1]) > 0 {
			load := loading{showValues: showValues}
			for len(load.keys) < maxLoaded && len(rest[0])+len(rest[1]) > 0 {
				rest = load.next(files, rest)
			}
			value, err := merge(load.texts[0], load.texts[1])
			if err != nil {
				return // ini.v1 reads every canonical text; the tests compare the values.
			}
			for _, key := range load.keys {
				if text, _ := value(key); !yield(key, text) {
					return
				}
			}
		}
	}
}

// last returns the properties of sections of one file, sorted by key, of equal keys the
// last one.
func (x *index) last(sections []section) []property {
	var props []property
	for _, s := range sections {
		x.walk(s, func(it *item) {
			if it.kind == lineProperty && !it.drop() {
				props = append(props, place(it))
			}
		})
	}
	slices.SortFunc(props, x.compareProperties)
	kept := props[:0]
	for i, p := range props {
		if i+1 == len(props) || compareKeys(x.keyAt(p), x.keyAt(props[i+1])) != 0 {
			kept = append(kept, p)
		}
	}
	return kept
}

// loading is the canonical text that ini.v1 gets at once.
type loading struct {
	showValues bool
	keys       []string
	texts      [2][]byte
}

// next takes the first key of both files, and returns the properties that are left.
func (l *loading) next(files [2]*index, rest [2][]property) [2][]property {
	var key []byte
	for i, x := range files {
		if len(rest[i]) > 0 {
			if k := x.keyAt(rest[i][0]); key == nil || compareKeys(k, key) < 0 {
				key = k
			}
		}
	}
	name := asciiLower(string(key))
	l.keys = append(l.keys, name)
	for i, x := range files {
		if len(rest[i]) > 0 && compareKeys(x.keyAt(rest[i][0]), key) == 0 {
			l.texts[i] = appendCanonical(l.texts[i], name, x.shownValue(name, rest[i][0], l.showValues))
			rest[i] = rest[i][1:]
		}
	}
	return rest
}

// shownValue returns the value of a property as it may be shown.
func (x *index) shownValue(key string, p property, show bool) string {
	value, secret, group := x.value(p)
	switch {
	case group:
		return ""
	case !show || secret || isSecret(key):
		return hidden
	}
	return string(value)
}

// value returns the value of a property with all lines that continue it. secret says that
// one of these lines has the key of a secret, and group that they are sub-properties.
func (x *index) value(p property) (value []byte, secret, group bool) {
	x.block(p, func(it *item) {
		switch it.kind {
		case lineProperty:
			value = append(value, it.value...)
		case lineSubProperty:
			group = true
		case lineContinuation:
			secret = secret || isSecret(string(keyOf(it.value)))
			value = append(append(value, '\n'), it.value...)
		case lineEnd, lineHeader, lineMalformed, lineComment:
		}
	})
	return value, secret, group
}

// block calls visit for a property and for each line that continues it.
func (f *file) block(p property, visit func(it *item)) {
	start := bytes.LastIndexByte(f.data[:p.key], '\n') + 1
	lines, it := f.scanner(section{start: uint32(start), line: p.line}), item{}
	lines.started = true
	for first := true; lines.scan(&it); first = false {
		if !first && it.kind != lineComment && (it.text[0] == '[' || it.depth <= lines.depth) {
			return
		}
		visit(&it)
	}
}

// isSecret reports whether the value of a key is never shown.
func isSecret(key string) bool {
	key = asciiLower(key)
	return strings.Contains(key, "secret") || strings.Contains(key, "token") || strings.Contains(key, "access_key")
}
