// Package hint reads how long a server asks to wait.
package hint

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// Of returns how long the headers of a response ask to wait: the milliseconds of x-amz-retry-after,
// else Retry-After, which counts in full. It calls now only for a date.
func Of(h http.Header, now func() time.Time) (after time.Duration, inFull, ok bool) {
	if after, ok = classify.ParseRetryAfterMillis(h.Get("X-Amz-Retry-After")); ok {
		return after, false, true
	}
	after, ok = Parse(h.Get("Retry-After"), now)
	return after, ok, ok
}

// Parse reads the value of Retry-After (RFC 9110, section 10.2.3): whole seconds or a date. A date
// that has passed asks for no wait, and a number that is too large for a Duration for the longest
// one. It reports false for any other value. It calls now only for a date.
func Parse(value string, now func() time.Time) (after time.Duration, ok bool) {
	if after, ok = Seconds(value); ok || value == "" {
		return after, ok
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(date.Sub(now()), 0), true
}

// Seconds reads whole seconds as Parse does.
func Seconds(value string) (after time.Duration, ok bool) {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err != nil || seconds > math.MaxInt64/uint64(time.Second) {
		return math.MaxInt64, true // digits alone have no other error than that there are too many
	}
	return time.Duration(seconds) * time.Second, true
}
