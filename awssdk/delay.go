package awssdk

import (
	"strconv"
	"time"
)

// hintWindow is how much longer than the delay of RetryDelay the loop of the SDK sleeps at most
// if the response has a hint: adjustForRetryAfterHeader in its package aws/retry.
const hintWindow = 5 * time.Second

// forLoop returns what RetryDelay has to return after err so that the loop sleeps what is left. The
// strategy has counted the hint already, and the loop makes the delay longer for it once more.
func forLoop(left time.Duration, err error) time.Duration {
	switch hint, ok := hintOfLoop(err); {
	case !ok || hint < left:
		return left
	case hint == left: // the loop sleeps the hint, also if another retryer adds to a short delay
		return max(left-hintWindow, 0)
	default:
		return left - hintWindow
	}
}

// hintOfLoop returns the hint as the loop of the SDK reads it: other numbers than those of
// [classify.ParseRetryAfterMillis], and a number too large for a Duration wraps around.
func hintOfLoop(err error) (hint time.Duration, ok bool) {
	millis, parseErr := strconv.ParseInt(headerOf(err).Get(retryAfterHeader), 10, 64)
	return time.Duration(millis) * time.Millisecond, parseErr == nil && millis >= 0
}
