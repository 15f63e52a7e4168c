package classify

// AWSCompatible returns the default chain for services that speak a protocol of AWS
// and have codes of their own: object stores and gateways. Besides what Default
// knows, these are throttles: Throttled, ThrottledRequest, TooManyRequest,
// TooManyRequests, RateExceeded, RateLimitExceeded, SlowDownRead, SlowDownWrite; and
// these are transient: InternalError, InternalFailure, ServiceUnavailable. A
// throttle that only shows in its status, 429, is one for Default too.
func AWSCompatible() *Chain {
	return Default().Replace(Code(Codes{
		"Throttled":          Throttling,
		"ThrottledRequest":   Throttling,
		"TooManyRequest":     Throttling,
		"TooManyRequests":    Throttling,
		"RateExceeded":       Throttling,
		"RateLimitExceeded":  Throttling,
		"SlowDownRead":       Throttling,
		"SlowDownWrite":      Throttling,
		"InternalError":      Transient,
		"InternalFailure":    Transient,
		"ServiceUnavailable": Transient,
	}))
}
