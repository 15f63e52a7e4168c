package config

import (
	"errors"
	"strconv"

	"gopkg.in/ini.v1"
)

// maxLoaded is how many properties ini.v1 gets at once. To find a key ini.v1 goes through
// all its keys, so the time to load them grows with the square of their number.
const maxLoaded = 512

// errCanonical cannot happen, because ini.v1 reads every canonical text.
var errCanonical = errors.New("config: ini.v1 does not read canonical text")

// canonicalKey begins each line of canonical text, k:KEY="value". With it no key has a special
// meaning for ini.v1. The value is a quoted Go string, so no character of the value has a
// special meaning either.
const canonicalKey = "k:"

// appendCanonical appends one property to canonical text.
func appendCanonical(text []byte, key, value string) []byte {
	text = append(text, canonicalKey+key+`="`...)
	for i := range len(value) {
		switch c := value[i]; c {
		case '\n':
			text = append(text, `\n`...)
		case '\r':
			text = append(text, `\r`...)
		case '\\', '"':
			text = append(text, '\\', c)
		default: // strconv.AppendQuote would make four bytes of some characters.
			text = append(text, c)
		}
	}
	return append(text, "\"\n"...)
}

// merge loads canonical text, of equal keys the last one. It returns the function that looks up a
// key that is in the text.
func merge(text []byte) (func(key string) string, error) {
	file, err := ini.LoadSources(ini.LoadOptions{
		IgnoreContinuation:      true,
		IgnoreInlineComment:     true,
		PreserveSurroundedQuote: true,
		KeyValueDelimiters:      "=",
	}, text)
	if err != nil {
		return nil, errCanonical // err is left out, because its text may hold a value.
	}
	section := file.Section(ini.DefaultSection)
	return func(key string) string {
		value, _ := strconv.Unquote(section.Key(canonicalKey + key).Value()) // The text is quoted.
		return value
	}, nil
}
