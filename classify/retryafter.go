package classify

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseRetryAfterMillis reads the value of an x-amz-retry-after header: whole
// milliseconds, in decimal digits that fit an int64. It reports false for anything
// else, a negative number included. A number too large for a Duration becomes the
// largest one.
func ParseRetryAfterMillis(value string) (after time.Duration, ok bool) {
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
