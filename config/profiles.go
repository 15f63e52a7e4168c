package config

import (
	"bytes"
	"iter"
	"slices"
	"strings"
)

// hidden is shown in place of a value.
const hidden = "***"

// maxLoaded is how many properties ini.v1 gets in one go. It looks for a key by
// going through all that it has, so that loading takes the square of their number.
const maxLoaded = 512

// Profiles gives everything that AWS tools see in the two files: the profiles in
// the order of the bytes of their names, and of each its keys and values in the
// order of the keys. Values are not validated.
//
// A value is "***" unless showValues asks for it, and always if it is a secret:
// if its key, in lower case, contains secret, token or access_key, or if one of the
// lines that continue it has such a key. A property with sub-properties has the
// empty text for a value, and its sub-properties are not given.
//
// The diagnostics tell what became of the files and of each malformed line; strict
// makes the first malformed line a *[ParseError]. The other errors are those of
// [Lint]. What has been read may be gone over several times.
func Profiles(src Sources, showValues, strict bool) (iter.Seq2[string, iter.Seq2[string, string]], []Diagnostic, error) {
	files, found, err := src.open()
	if err != nil {
		return nil, nil, err
	}
	both := indexes(files, "", true)
	if err := refuse(both, strict); err != nil {
		return nil, nil, err
	}
	for _, x := range both {
		for _, d := range x.findings.list() {
			if d.Code == CodeMalformedLine {
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

// refuse gives the error of strict reading: the first malformed line of the config
// file, or else of the credentials file.
func refuse(files [2]*index, strict bool) error {
	for _, x := range files {
		if strict && x.refused != nil {
			return x.refused
		}
	}
	return nil
}

// properties gives the keys and values of one profile as both files together have
// them.
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
				return // Canonical text is always read; the tests compare what comes of it.
			}
			for _, key := range load.keys {
				if text, _ := value(key); !yield(key, text) {
					return
				}
			}
		}
	}
}

// last gives the properties of sections of one file by key, of equal keys the last.
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

// loading is the canonical text that ini.v1 gets in one go.
type loading struct {
	showValues bool
	keys       []string
	texts      [2][]byte
}

// next takes the first key of both files.
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

// shownValue is the value of a property as it may be shown.
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

// value reads the value of a property with all lines that continue it, and reports
// whether one of these has the key of a secret, and whether they are sub-properties.
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

// block visits a property and the lines that continue it.
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

// isSecret says whether the value of a key is never shown.
func isSecret(key string) bool {
	key = asciiLower(key)
	return strings.Contains(key, "secret") || strings.Contains(key, "token") || strings.Contains(key, "access_key")
}
