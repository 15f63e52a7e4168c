package config

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// blanks is whitespace as the dialect knows it.
const blanks = " \t"

// maxShown is how many bytes of a text from outside an error shows.
const maxShown = 64

// shorten cuts a text from outside to a length that an error can show.
func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

// quote shows a text from outside on one line.
func quote(text string) string { return strconv.Quote(shorten(text)) }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// trim drops the blanks around b. It runs several times a line, and bytes.Trim
// would set up a table each time.
func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// isName says whether b may be the name of a profile or a key: one or more of
// the characters [A-Za-z0-9_/.%@:+-].
func isName(b []byte) bool {
	for _, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '/', c == '.', c == '%', c == '@', c == ':', c == '+', c == '-':
		default:
			return false
		}
	}
	return len(b) > 0
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// asciiLower is strings.ToLower without the letters beyond ASCII, some of which
// have an ASCII letter as their lower case.
func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, text)
}

// isKey compares a key of a file with a lower-case name, ignoring ASCII case.
func isKey(key []byte, name string) bool {
	if len(key) != len(name) {
		return false
	}
	for i, c := range key {
		if lowerByte(c) != name[i] {
			return false
		}
	}
	return true
}

// retryKey gives the retry setting that a key of a file names, or "".
func retryKey(key []byte) string {
	switch {
	case isKey(key, KeyRetryMode):
		return KeyRetryMode
	case isKey(key, KeyMaxAttempts):
		return KeyMaxAttempts
	}
	return ""
}
