package ratelimit

// Controller says what the send rate is steered by. Those that cut once for each
// congestion event take a throttle that answers an attempt sent before the last cut
// for a part of the same event. If each of the requests in flight at the first throttle
// cut the rate, it would collapse.
type Controller uint8

const (
	// CutPerEvent is the curve of the adaptive mode of the AWS SDKs with one cut for
	// each congestion event: a throttle cuts the rate to 0.7 of what MeasuredRate says
	// or of what it is, whichever is less. It is the default.
	CutPerEvent Controller = iota
	// CutPerThrottle is that curve with a cut for every throttle, bit for bit as in the
	// AWS SDKs.
	CutPerThrottle
	// Steady takes the rate from the answers that are not throttles, see SuccessRate,
	// and cuts to 0.9 of it, once for each congestion event: what a service has served
	// a moment ago it will serve again. It finds the rate at once, stays closer to it,
	// and is no AWS SDK's. In all else it is as CutPerEvent.
	Steady
)

// Valid reports whether the controller exists.
func (c Controller) Valid() bool { return c <= Steady }

// String returns "cut-per-event", "cut-per-throttle", "steady" or "unknown".
func (c Controller) String() string {
	switch c {
	case CutPerEvent:
		return "cut-per-event"
	case CutPerThrottle:
		return "cut-per-throttle"
	case Steady:
		return "steady"
	default:
		return "unknown"
	}
}

// cut is what a cut leaves of the rate, and what it takes.
func (c Controller) cut() (leaves, takes float64) {
	if c == Steady {
		return steadyBeta, 1 - steadyBeta
	}
	return cubicBeta, 1 - cubicBeta
}
