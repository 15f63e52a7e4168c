package conformance_test

import (
	"testing"

	"github.com/awsretry/awsretry/conformance"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// configOf returns the Config that a case asks for.
func configOf(s *conformance.Settings) standard.Config {
	return standard.Config{
		Behavior: s.Behavior(), MaxAttempts: s.MaxAttempts(), QuotaCapacity: new(s.QuotaCapacity()),
		MaxBackoff: s.MaxBackoff(), Random: s.Random(),
	}
}

func newStandard(s *conformance.Settings) (retry.Strategy, error) { return standard.New(configOf(s)) }

// newAdaptive returns adaptive mode as the AWS SDKs have it: each throttle cuts the rate.
func newAdaptive(s *conformance.Settings) (retry.Strategy, error) {
	return adaptive.New(adaptive.Config{Standard: configOf(s), Controller: ratelimit.CutPerThrottle})
}

func TestStrategiesKeepTheRules(t *testing.T) {
	t.Parallel()
	for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
		t.Run("standard/"+string(behavior), func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, conformance.Subject{
				Name: "standard", Behavior: behavior, New: conformance.FromStrategy(newStandard),
			})
		})
		t.Run("adaptive/"+string(behavior), func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, conformance.Subject{
				Name: "adaptive", Behavior: behavior, Adaptive: true, New: conformance.FromStrategy(newAdaptive),
			})
		})
	}
}
