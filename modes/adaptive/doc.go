// Package adaptive is the adaptive retry mode of the AWS SDKs: the standard mode,
// and a send rate that throttles of the service lower and successes raise again.
// From the first throttle on it may delay any attempt, the first of an operation
// included.
package adaptive
