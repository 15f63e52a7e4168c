package awssdk

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/awsretry/awsretry/retry"
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

// usualDelay returns a delay after an attempt for an error of which no call is known, such as one
// that a retryer around this one has replaced: the backoff of the strategy with full jitter.
func usualDelay(plan retry.Plan, attempt int, err error) time.Duration {
	delay := plan.Base
	if throttles(err) {
		delay = plan.ThrottlingBase
	}
	for ; attempt > 1 && delay < plan.MaxBackoff; attempt-- {
		delay += min(delay, plan.MaxBackoff-delay) // twice the delay may be more than a Duration can be
	}
	return time.Duration(rand.Float64() * float64(min(delay, plan.MaxBackoff))) //nolint:gosec // jitter
}
