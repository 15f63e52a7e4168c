package backoff

import "time"

// HintSlack is how far a server hint may lengthen a delay in behavior v2.1.
const HintSlack = 5 * time.Second

// HintAsFloor returns the delay of behavior v2.0 after a server asked to wait
// for hint: max(delay, min(hint, longest)). A negative hint is ignored, and a
// longest of zero or less means DefaultMax. delay is not negative.
func HintAsFloor(delay, hint, longest time.Duration) time.Duration {
	if longest <= 0 {
		longest = DefaultMax
	}
	return max(delay, min(hint, longest))
}

// HintInWindow returns the delay of behavior v2.1 after a server asked to wait
// for hint: hint moved into [delay, delay + HintSlack]. A negative hint is
// ignored. delay is not negative.
func HintInWindow(delay, hint time.Duration) time.Duration {
	switch {
	case hint <= delay:
		return delay
	case hint-delay > HintSlack:
		return delay + HintSlack
	default:
		return hint
	}
}
