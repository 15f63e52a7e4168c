package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// HintOf returns how long the headers of a response ask to wait: the milliseconds of x-amz-retry-after,
// else Retry-After, which counts in full. It calls now only for a date.
func HintOf(h http.Header, now func() time.Time) (after time.Duration, inFull, ok bool) {
	if after, ok = RetryAfterMillis(h.Get("X-Amz-Retry-After")); ok {
		return after, false, true
	}
	after, ok = ParseRetryAfter(h.Get("Retry-After"), now)
	return after, ok, ok
}

// ParseRetryAfter reads the value of Retry-After (RFC 9110, section 10.2.3): whole seconds or a date. A date
// that has passed asks for no wait, and a number that is too large for a Duration for the longest
// one. It reports false for any other value. It calls now only for a date.
func ParseRetryAfter(value string, now func() time.Time) (after time.Duration, ok bool) {
	if after, ok = RetryAfterSeconds(value); ok || value == "" {
		return after, ok
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(date.Sub(now()), 0), true
}

// RetryAfterMillis reads whole milliseconds in decimal digits that fit an int64. A number too large for a Duration becomes the
// largest one.
func RetryAfterMillis(value string) (after time.Duration, ok bool) {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return 0, false
	}
	millis, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, false
	}
	if millis > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64, true
	}
	return time.Duration(millis) * time.Millisecond, true
}

// RetryAfterSeconds reads whole seconds as ParseRetryAfter does.
func RetryAfterSeconds(value string) (after time.Duration, ok bool) {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err != nil || seconds > math.MaxInt64/uint64(time.Second) {
		return math.MaxInt64, true // digits alone have no other error than that there are too many
	}
	return time.Duration(seconds) * time.Second, true
}
