package config

import "github.com/awsretry/awsretry/internal/near"

// lookalike returns the retry setting that a key was probably meant to be. It returns "" for a
// key that is a retry setting, and for one that is not like one. It compares only letters
// and digits, in lower case and without a leading "aws".
func lookalike(key []byte) string {
	var plain [40]byte
	n := 0
	for _, c := range key {
		c = lowerByte(c)
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			continue
		}
		if n == len(plain) {
			return ""
		}
		plain[n] = c
		n++
	}
	word := string(plain[:n])
	if n > 3 && word[:3] == "aws" {
		word = word[3:]
	}
	if retryKey(key) != "" {
		return ""
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
