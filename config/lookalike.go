package config

import (
	"strings"

	"github.com/awsretry/awsretry/internal/near"
)

// lookalike returns the retry setting that a key was probably meant to be. It returns "" for a
// key that is a retry setting, and for one that is not like one. It compares only letters
// and digits, in lower case and without a leading "aws".
func lookalike(key string) string {
	if retryKey(key) != "" {
		return ""
	}
	word := strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + ('a' - 'A')
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		}
		return -1
	}, key)
	if len(word) > 3 {
		word = strings.TrimPrefix(word, "aws")
	}
	switch word {
	case "retries", "maxretries", "maxretry", "maxerrorretry", "retryattempts", "attempts":
		return keyMaxAttempts
	}
	switch {
	case near.Distance(word, "retrymode", 2) <= 2:
		return keyRetryMode
	case near.Distance(word, "maxattempts", 2) <= 2:
		return keyMaxAttempts
	}
	return ""
}
