package classify

import (
	"errors"
	"math"
	"strconv"
	"time"
)

// ParseRetryAfterMillis reads the value of an x-amz-retry-after header: whole
// milliseconds. It reports false for anything else, a negative number included.
// A number too large for a Duration becomes the largest one.
func ParseRetryAfterMillis(value string) (after time.Duration, ok bool) {
	millis, err := strconv.ParseUint(value, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || millis > math.MaxInt64/uint64(time.Millisecond):
		return math.MaxInt64, true
	case err != nil:
		return 0, false
	default:
		return time.Duration(millis) * time.Millisecond, true
	}
}
