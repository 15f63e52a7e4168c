package ratelimit

// Controller says what the send rate is steered by.
type Controller uint8

const (
	// SDKController is that of the adaptive mode of the AWS SDKs, and the default: a
	// throttle cuts the rate to 0.7 of what MeasuredRate says or of what it is,
	// whichever is less.
	SDKController Controller = iota
	// SteadyController takes the rate from the answers that are not throttles, see
	// SuccessRate, and cuts to 0.9 of it: what a service has served a moment ago it
	// will serve again. It finds the rate at once, stays closer to it, and is no
	// AWS SDK's. In all else it is as the other one.
	SteadyController
)

// Valid reports whether the controller exists.
func (c Controller) Valid() bool { return c <= SteadyController }

// String returns "sdk", "steady" or "unknown".
func (c Controller) String() string {
	switch c {
	case SDKController:
		return "sdk"
	case SteadyController:
		return "steady"
	default:
		return "unknown"
	}
}

// cut is what a cut leaves of the rate, and what it takes.
func (c Controller) cut() (leaves, takes float64) {
	if c == SteadyController {
		return steadyBeta, 1 - steadyBeta
	}
	return cubicBeta, 1 - cubicBeta
}
