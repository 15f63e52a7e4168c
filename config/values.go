package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awsretry/awsretry/retry"
)

// What is accepted, for errors.Is; each is the Err of a [ValueError].
var (
	// ErrMode says which modes there are.
	ErrMode = errors.New("must be standard or adaptive")
	// ErrBehavior says which generations there are.
	ErrBehavior = errors.New("must be v2.0 or v2.1")
	// ErrMaxAttempts says which numbers of attempts there are.
	ErrMaxAttempts = errors.New("must be a decimal integer from 1 to 2147483647")
	// ErrMultiLine says that the value of a setting goes over several lines,
	// most often because the line below it is indented.
	ErrMultiLine = errors.New("must be a single line (in a file, a line that is indented deeper continues the one above)")
)

// parse reads the text of a setting and returns it in its plain form: standard,
// 5, v2.1. The note says how a text was understood that stands for another one.
type parse func(raw string) (plain, note string, err error)

// parserOf is what reads the values of a key of the shared files.
func parserOf(key string) parse {
	if key == keyMaxAttempts {
		return parseMaxAttempts
	}
	return parseMode
}

// parseMode reads a retry mode: surrounding whitespace is dropped and ASCII case
// is ignored. The names legacy and adaptive_v2, which other AWS tools accept, are
// standard and adaptive.
func parseMode(raw string) (plain, note string, err error) {
	switch name := asciiLower(strings.TrimFunc(raw, unicode.IsSpace)); name {
	case "standard", "adaptive":
		return name, "", nil
	case "legacy":
		return string(ModeStandard), "a mode of other tools, read as standard", nil
	case "adaptive_v2":
		return string(ModeAdaptive), "a mode of other tools, read as adaptive", nil
	}
	return "", "", orMultiLine(raw, ErrMode)
}

// parseMaxAttempts reads the number of attempts of one operation, the first
// included: decimal digits with an optional plus sign, from 1 to 2^31-1, where
// leading zeros mean nothing (010 is ten). Surrounding whitespace is dropped.
func parseMaxAttempts(raw string) (plain, note string, err error) {
	digits := strings.TrimPrefix(strings.TrimFunc(raw, unicode.IsSpace), "+")
	n := int64(0)
	for i := range len(digits) {
		if c := digits[i]; c < '0' || c > '9' || n > math.MaxInt32 {
			return "", "", orMultiLine(raw, ErrMaxAttempts)
		}
		n = n*10 + int64(digits[i]-'0')
	}
	if n < 1 || n > math.MaxInt32 {
		return "", "", ErrMaxAttempts
	}
	return strconv.FormatInt(n, 10), "", nil
}

// parseBehavior reads a generation by its exact name.
func parseBehavior(raw string) (plain, note string, err error) {
	if retry.Behavior(raw).Valid() {
		return raw, "", nil
	}
	return "", "", ErrBehavior
}

// parseName takes the name of a profile as it is (R21).
func parseName(raw string) (plain, note string, err error) { return raw, "", nil }

// orMultiLine picks the clearer complaint about a value that was not accepted.
func orMultiLine(raw string, err error) error {
	if strings.ContainsRune(raw, '\n') {
		return ErrMultiLine
	}
	return err
}

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

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// asciiLower is strings.ToLower without the letters beyond ASCII, some of which
// have an ASCII letter as their lower case.
func asciiLower(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		lower[i] = lowerByte(c)
	}
	return string(lower)
}

// compareKeys compares two keys without regard to ASCII case.
func compareKeys(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if d := int(lowerByte(a[i])) - int(lowerByte(b[i])); d != 0 {
			return d
		}
	}
	return len(a) - len(b)
}

// retryKey gives the retry setting that a key of a file names, or "".
func retryKey(key []byte) string {
	switch {
	case isKey(key, keyRetryMode):
		return keyRetryMode
	case isKey(key, keyMaxAttempts):
		return keyMaxAttempts
	}
	return ""
}

// isKey compares a key of a file with a lower-case name, without regard to ASCII
// case.
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
