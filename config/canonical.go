package config

import (
	"errors"
	"strconv"

	"gopkg.in/ini.v1"
)

// more stands for the lines of a value that are left out.
const more = "\n..."

// errCanonical cannot happen, because ini.v1 reads every canonical text.
var errCanonical = errors.New("config: ini.v1 does not read canonical text")

// canonicalKey begins each line of canonical text, k:KEY="value". With it no key has a special
// meaning for ini.v1. The value is a quoted Go string, so no character of the value has a
// special meaning either.
const canonicalKey = "k:"

// appendCanonical appends one property to canonical text.
func appendCanonical(text []byte, key, value string) []byte {
	text = append(text, canonicalKey...)
	text = append(text, key...)
	text = append(text, '=', '"')
	for i := range len(value) {
		switch c := value[i]; c {
		case '\n':
			text = append(text, '\\', 'n')
		case '\r':
			text = append(text, '\\', 'r')
		case '\\', '"':
			text = append(text, '\\', c)
		default: // strconv.AppendQuote would make four bytes of some characters.
			text = append(text, c)
		}
	}
	return append(text, '"', '\n')
}

// merge loads the canonical text of both files, of equal keys the last one. It returns the
// function that looks a key up.
func merge(config, credentials []byte) (func(key string) (string, bool), error) {
	var others []any
	if len(config) > 0 && len(credentials) > 0 {
		others = []any{credentials} // To read an empty text costs as much as to read any other.
	}
	if len(config) == 0 {
		config = credentials
	}
	file, err := ini.LoadSources(ini.LoadOptions{
		IgnoreContinuation:      true,
		IgnoreInlineComment:     true,
		PreserveSurroundedQuote: true,
		KeyValueDelimiters:      "=",
	}, config, others...)
	if err != nil {
		return nil, errCanonical // err is left out, because its text may hold a value.
	}
	section := file.Section(ini.DefaultSection)
	return func(key string) (string, bool) {
		if !section.HasKey(canonicalKey + key) {
			return "", false
		}
		value, err := strconv.Unquote(section.Key(canonicalKey + key).Value())
		return value, err == nil
	}, nil
}
