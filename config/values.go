package config

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/awsretry/awsretry/retry"
)

// What the settings accept. Each of these is the Err of a ValueError.
var (
	errMode        = errors.New("must be standard or adaptive")
	errBehavior    = errors.New("must be v2.0 or v2.1")
	errMaxAttempts = errors.New("must be a decimal integer from 1 to 2147483647")
	errMaxBackoff  = errors.New("must be a duration above zero, such as 20s")
	errDuration    = errors.New("must be a duration of zero or more, such as 300ms or 1m30s")
	errNoSetting   = errors.New("must be for retry_mode, max_attempts, max_backoff, min_delay or max_elapsed")
	// errMultiLine is for a value that spans several lines of a file, most often because the
	// line below it is indented.
	errMultiLine = errors.New("must be a single line (in a file, a line that is indented deeper continues the one above)")
)

// parse reads the text of a setting and returns its plain form, such as standard, 5 or v2.1.
// If the text stands for another one, note says how it was read.
type parse func(raw string) (plain, note string, err error)

// parserOf returns the parse for a setting that a shared file or a program's own file or flag
// may have; nil for any other.
func parserOf(key string) parse {
	switch key {
	case keyRetryMode:
		return parseMode
	case keyMaxAttempts:
		return parseMaxAttempts
	case keyMaxBackoff:
		return parseMaxBackoff
	case keyMinDelay, keyMaxElapsed:
		return parseDuration
	}
	return nil
}

// parseMode reads a retry mode. It drops whitespace at both ends and ignores ASCII case. It
// reads legacy and adaptive_v2, which other AWS tools accept, as standard and adaptive.
func parseMode(raw string) (plain, note string, err error) {
	switch name := asciiLower(trim(raw)); name {
	case "standard", "adaptive":
		return name, "", nil
	case "legacy":
		return string(modeStandard), "a mode of other tools, read as standard", nil
	case "adaptive_v2":
		return string(modeAdaptive), "a mode of other tools, read as adaptive", nil
	}
	return "", "", orMultiLine(raw, errMode)
}

// parseMaxAttempts reads a number of attempts, from 1 to 2^31-1: decimal digits, perhaps after
// a plus sign. It drops whitespace at both ends and leading zeros (010 is ten).
func parseMaxAttempts(raw string) (plain, note string, err error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(trim(raw), "+"), 10, 31)
	switch {
	case err != nil:
		return "", "", orMultiLine(raw, errMaxAttempts)
	case n == 0:
		return "", "", errMaxAttempts
	}
	return strconv.FormatUint(n, 10), "", nil
}

// parseDuration reads a duration of zero or more as time.ParseDuration does. It drops
// whitespace at both ends.
func parseDuration(raw string) (plain, note string, err error) {
	d, err := time.ParseDuration(trim(raw))
	if err != nil || d < 0 {
		return "", "", errDuration
	}
	return d.String(), "", nil
}

// parseMaxBackoff reads a duration above zero.
func parseMaxBackoff(raw string) (plain, note string, err error) {
	if plain, note, err = parseDuration(raw); err != nil || plain == "0s" {
		return "", "", errMaxBackoff
	}
	return plain, note, nil
}

// parseBehavior reads a generation by its exact name.
func parseBehavior(raw string) (plain, note string, err error) {
	if b := retry.Behavior(raw); b == retry.V20 || b == retry.V21 {
		return raw, "", nil
	}
	return "", "", errBehavior
}

// parseName returns the name of a profile as it is (R21).
func parseName(raw string) (plain, note string, err error) { return raw, "", nil }

// orMultiLine returns errMultiLine for a value of several lines, and else err.
func orMultiLine(raw string, err error) error {
	if strings.ContainsRune(raw, '\n') {
		return errMultiLine
	}
	return err
}

// maxShown is how many bytes an error shows of a text from a file, a variable or an option.
const maxShown = 64

// shorten cuts a text to maxShown bytes.
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

// shownPath returns a path, in quotes if it begins or ends with whitespace.
func shownPath(path string) string {
	if trim(path) != path {
		return strconv.Quote(path)
	}
	return path
}

// quote returns a text in quotes, shortened and on one line.
func quote(text string) string { return strconv.Quote(shorten(text)) }

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// asciiLower returns the text with the letters A to Z in lower case. strings.ToLower would
// turn some letters beyond ASCII into ASCII letters.
func asciiLower(text string) string {
	for i := range len(text) {
		if lowerByte(text[i]) != text[i] {
			lower := []byte(text)
			for i, c := range lower {
				lower[i] = lowerByte(c)
			}
			return string(lower)
		}
	}
	return text
}

// retryKey returns the retry setting that a key of a file names, or "".
func retryKey(key string) string {
	if len(key) != len(keyRetryMode) && len(key) != len(keyMaxAttempts) {
		return ""
	}
	switch asciiLower(key) {
	case keyRetryMode:
		return keyRetryMode
	case keyMaxAttempts:
		return keyMaxAttempts
	}
	return ""
}
