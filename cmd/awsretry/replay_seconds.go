package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxTime is the longest time of a trace, both for one number and for the whole trace. It is a
// little shorter than the longest Duration, so there is room for the seconds since 1970.
const maxTime = 9_000_000_000 * time.Second

const (
	// nanoDigits is the number of digits behind the point in seconds with nanoseconds.
	nanoDigits = 9
	// maxDigits is the number of digits of maxTime in nanoseconds.
	maxDigits = 10 + nanoDigits
)

// nanoseconds reads a JSON number of seconds, to the nearest nanosecond. It works on the digits,
// because a float of the seconds since 1970 is wrong by up to 120 ns. It reports false for a
// time that is negative or above maxTime.
func nanoseconds(number string) (time.Duration, bool) {
	unsigned, negative := strings.CutPrefix(number, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(unsigned), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return 0, true
	}
	if negative {
		return 0, false
	}
	// The only error is that there are too many digits. ParseInt then returns the largest or
	// smallest number, which is out of range as the exponent itself is.
	shift := int64(0)
	if exponent != "" {
		shift, _ = strconv.ParseInt(exponent, 10, 32)
	}
	// length is the number of digits before the point in nanoseconds.
	length := int64(len(digits)-len(fraction)+nanoDigits) + shift
	switch {
	case length < 0:
		return 0, true
	case length > maxDigits:
		return 0, false
	}
	padded := digits + strings.Repeat("0", int(max(0, length+1-int64(len(digits)))))
	total, err := strconv.ParseUint("0"+padded[:length], 10, 64)
	if err != nil {
		return 0, false
	}
	if padded[length] >= '5' {
		total++
	}
	return time.Duration(total), total <= uint64(maxTime)
}

// exactSeconds is a time that is printed in seconds with all its digits.
type exactSeconds time.Duration

// MarshalJSON writes the number that String returns.
func (s exactSeconds) MarshalJSON() ([]byte, error) { return json.Marshal(json.Number(s.String())) }

// String returns a decimal number without an exponent.
func (s exactSeconds) String() string {
	sign, size := "", uint64(s)
	if s < 0 {
		sign, size = "-", -size
	}
	whole, rest := size/uint64(time.Second), size%uint64(time.Second)
	if rest == 0 {
		return fmt.Sprintf("%s%d", sign, whole)
	}
	return strings.TrimRight(fmt.Sprintf("%s%d.%0*d", sign, whole, nanoDigits, rest), "0")
}
