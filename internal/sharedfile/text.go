package sharedfile

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxShown is how many bytes an error shows of a text from a file, a variable or an option.
const maxShown = 64

// Shorten cuts a text to maxShown bytes.
func Shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

// ShownPath returns a path, in quotes if it begins or ends with whitespace.
func ShownPath(path string) string {
	if Trim(path) != path {
		return strconv.Quote(path)
	}
	return path
}

// Quote returns a text in quotes, shortened and on one line.
func Quote(text string) string { return strconv.Quote(Shorten(text)) }

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// ASCIILower returns the text with the letters A to Z in lower case. strings.ToLower would turn some letters beyond
// ASCII into ASCII letters.
func ASCIILower(text string) string {
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

// RetryKey returns the retry setting that a key of a file names, or "".
func RetryKey(key string) string {
	for _, known := range [...]string{RetryMode, MaxAttempts} {
		if len(key) == len(known) && strings.EqualFold(key, known) { // A letter beyond ASCII is longer than one byte.
			return known
		}
	}
	return ""
}

// Trim drops whitespace (R03) at both ends.
func Trim(text string) string { return strings.TrimSpace(text) }

// IsBlank reports whether a text is empty or whitespace.
func IsBlank(text string) bool { return Trim(text) == "" }
