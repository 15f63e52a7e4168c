package sharedfile

import (
	"strings"

	"github.com/awsretry/awsretry/internal/words"
)

// Lookalike returns the retry setting that a key was probably meant to be. It returns "" for a key that is a retry
// setting, and for one that resembles none. It compares only letters and digits, in lower case and without a leading
// "aws". Behind the export of a shell a setting is a likeness of itself.
func Lookalike(key string) string {
	if rest, exported := cutWord(key, "export"); exported {
		key = Trim(rest)
		if setting := RetryKey(key); setting != "" {
			return setting
		}
	}
	var plain [17]byte // One more than the longest text that resembles a setting: aws, maxattempts and two others.
	n := 0
	for i := 0; i < len(key) && n < len(plain); i++ {
		if c := lowerByte(key[i]); 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			plain[n] = c
			n++
		}
	}
	word := string(plain[:n])
	if n > 3 {
		word = strings.TrimPrefix(word, "aws")
	}
	if n == len(plain) || RetryKey(key) != "" {
		return ""
	}
	switch word {
	case "retries", "maxretries", "maxretry", "maxerrorretry", "retryattempts", "attempts":
		return MaxAttempts
	}
	switch {
	case words.Distance(word, "retrymode", 2) <= 2:
		return RetryMode
	case words.Distance(word, "maxattempts", 2) <= 2:
		return MaxAttempts
	}
	return ""
}

// LikeProfile returns the name of the profile that a section of the config file was probably meant for, if its header
// resembles [profile NAME]: the word is in another case or has one wrong letter, or no blank follows it. It returns ""
// for any other header.
func LikeProfile(header string) string {
	header = strings.Trim(header, "[]") // of [[profile dev]]
	end := strings.IndexFunc(header, func(c rune) bool { return c|0x20 < 'a' || c|0x20 > 'z' })
	if end < 0 || words.Distance(ASCIILower(header[:end]), "profile", 1) > 1 {
		return ""
	}
	return Unquoted(strings.Trim(header[end:], " \t\u00a0.:=/_-"))
}
