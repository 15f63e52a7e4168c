package config

// lookalike gives the retry setting that a key was probably meant to be, or ""
// for a key that is one, or that is nothing like one. It compares letters and
// digits only, in lower case and without a leading "aws".
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
		return KeyMaxAttempts
	}
	switch {
	case distance(word, "retrymode", 2) <= 2:
		return KeyRetryMode
	case distance(word, "maxattempts", 2) <= 2:
		return KeyMaxAttempts
	}
	return ""
}
