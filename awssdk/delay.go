package awssdk

import (
	"strconv"
	"time"
)

// hintWindow is how much longer than the delay of RetryDelay the loop of the SDK sleeps at most if the response has a hint:
// adjustForRetryAfterHeader in its package aws/retry.
const hintWindow = 5 * time.Second

// forLoop returns what RetryDelay has to return after err so that the loop sleeps what is left. The
// strategy has counted the hint already, and the loop makes the delay longer for it once more.
func forLoop(left time.Duration, err error) time.Duration {
	// The loop reads other numbers than classify.ParseRetryAfterMillis, and one too large for a Duration wraps around.
	millis, parseErr := strconv.ParseInt(headerOf(err).Get(retryAfterHeader), 10, 64)
	switch hint := time.Duration(millis) * time.Millisecond; {
	case parseErr != nil || millis < 0 || hint < left:
		return left
	case hint == left: // the loop sleeps the hint, also if another retryer adds to a short delay
		return max(left-hintWindow, 0)
	default:
		return left - hintWindow
	}
}
