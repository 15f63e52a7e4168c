package config

import (
	"math"
	"strings"
)

// ParseMaxAttempts reads the number of attempts of one operation, the first
// included: decimal digits with an optional plus sign, from 1 to 2^31-1, where
// leading zeros mean nothing (010 is ten). Surrounding spaces and tabs are
// dropped. Anything else is a *[ValueError] without an origin.
func ParseMaxAttempts(raw string) (int, error) {
	digits := strings.TrimPrefix(strings.Trim(raw, blanks), "+")
	n := int64(0)
	for i := range len(digits) {
		if c := digits[i]; c < '0' || c > '9' {
			return 0, badAttempts(raw)
		}
		n = n*10 + int64(digits[i]-'0')
		if n > math.MaxInt32 {
			return 0, badAttempts(raw)
		}
	}
	if n == 0 {
		return 0, badAttempts(raw)
	}
	return int(n), nil
}

func badAttempts(raw string) error {
	return &ValueError{Key: KeyMaxAttempts, Raw: raw, Err: orMultiLine(raw, ErrMaxAttempts)}
}
