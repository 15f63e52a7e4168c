package conformance_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/awsretry/awsretry/lab/conformance"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// A strategy takes every setting.
func ExampleFromStrategy() {
	_ = conformance.Subject{Name: "awsretry standard", New: fromStandard()}
}

func fromStandard() func(*conformance.Settings) (conformance.Do, error) {
	return conformance.FromStrategy(func(s *conformance.Settings) (retry.Strategy, error) {
		return standard.New(standard.Config{
			Behavior: s.Behavior(), MaxAttempts: s.MaxAttempts(), QuotaCapacity: new(s.QuotaCapacity()),
			MaxBackoff: s.MaxBackoff(), Random: s.Random(),
		})
	})
}

// A retryer of the SDK takes the settings that its options have.
func ExampleFromRetryer() {
	_ = conformance.Subject{Name: "retry.NewStandard", New: conformance.FromRetryer(func(s *conformance.Settings) aws.Retryer {
		return awsretry.NewStandard(func(o *awsretry.StandardOptions) {
			if limit := s.MaxAttempts(); limit > 0 {
				o.MaxAttempts = limit
			}
			o.MaxBackoff = s.MaxBackoff()
		})
	})}
}
