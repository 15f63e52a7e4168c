package trace

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Seconds is a time that JSON gives in seconds, with all its digits, because a float of the seconds
// since 1970 is wrong by up to 120 ns.
type Seconds time.Duration

// MaxTime is the longest time of a trace, both for one number and for the whole trace. It is a
// little shorter than the longest Duration, so there is room for the seconds since 1970.
const MaxTime = Seconds(9_000_000_000 * time.Second)

const (
	// nanoDigits is the number of digits behind the point in seconds with nanoseconds.
	nanoDigits = 9
	// maxDigits is the number of digits of MaxTime in nanoseconds.
	maxDigits = 10 + nanoDigits
)

// UnmarshalJSON reads a number to the nearest nanosecond. A time that is negative or above MaxTime is
// an error.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	if text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return json.Unmarshal(text, new(float64)) // The error says what it is. Null is no error.
	}
	d, ok := nanoseconds(string(text))
	if !ok {
		return &json.UnmarshalTypeError{Value: "number " + string(text), Type: reflect.TypeFor[Seconds]()}
	}
	*s = d
	return nil
}

// nanoseconds reads a JSON number of seconds. It reports false for a time that is negative or above
// MaxTime.
func nanoseconds(number string) (Seconds, bool) {
	unsigned, negative := strings.CutPrefix(number, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(unsigned), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" || negative {
		return 0, digits == ""
	}
	// The only possible error is too many digits. ParseInt then returns the largest or smallest
	// number, which is out of range, as the exponent itself is.
	shift := int64(0)
	if exponent != "" {
		shift, _ = strconv.ParseInt(exponent, 10, 32)
	}
	// length is the number of digits before the point, in nanoseconds.
	length := int64(len(digits)-len(fraction)+nanoDigits) + shift
	if length < 0 || length > maxDigits {
		return 0, length < 0
	}
	padded := digits + strings.Repeat("0", int(max(0, length+1-int64(len(digits)))))
	total, err := strconv.ParseUint("0"+padded[:length], 10, 64)
	if err != nil {
		return 0, false
	}
	if padded[length] >= '5' {
		total++
	}
	return Seconds(total), total <= uint64(MaxTime)
}

// MarshalJSON writes the number that String returns.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(json.Number(s.String())) }

// String returns a decimal number without an exponent.
func (s Seconds) String() string {
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
