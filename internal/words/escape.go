// Package words is for what people read: texts that a terminal shows and does not obey, and the names that a misspelt one
// was probably meant to be.
package words

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escaped returns a sentence with the obeyed characters written as in Go, without quotes.
func Escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if Obeyed(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Plain returns a text, in quotes if it has obeyed characters.
func Plain(text string) string {
	if strings.ContainsFunc(text, Obeyed) {
		return strconv.Quote(text)
	}
	return text
}

// Obeyed reports whether a terminal obeys a character instead of showing it. Such characters
// are control characters, and characters that format the text around them.
func Obeyed(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError
}
