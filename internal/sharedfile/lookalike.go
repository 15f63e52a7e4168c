package sharedfile

import (
	"strings"

	"github.com/awsretry/awsretry/internal/near"
)

// Lookalike returns the retry setting that a key was probably meant to be. It returns "" for a
// key that is a retry setting, and for one that resembles none. It compares only letters and
// digits, in lower case and without a leading "aws".
func Lookalike(key string) string {
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
	case near.Distance(word, "retrymode", 2) <= 2:
		return RetryMode
	case near.Distance(word, "maxattempts", 2) <= 2:
		return MaxAttempts
	}
	return ""
}
