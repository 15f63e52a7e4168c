package config

import (
	"errors"
	"strconv"

	"gopkg.in/ini.v1"
)

// more stands for the lines of a value that are not kept.
const more = "\n..."

// errCanonical cannot happen, as canonical text is made to be read.
var errCanonical = errors.New("config: ini.v1 does not read canonical text")

// canonicalKey begins each line of canonical text, k:KEY="value", so that no key is
// special to ini.v1. The value is a quoted Go string, so that no character of it is.
const canonicalKey = "k:"

// appendCanonical writes one property.
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

// merge loads the canonical text of both files and gives what reads a value: of
// equal keys the last one wins.
func merge(config, credentials []byte) (func(key string) (string, bool), error) {
	var others []any
	if len(config) > 0 && len(credentials) > 0 {
		others = []any{credentials} // The reader of an empty text costs as much as any.
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
		return nil, errCanonical // Not err: its text may hold a value.
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
