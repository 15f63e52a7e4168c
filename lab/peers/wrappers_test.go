//go:build long

package peers

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/awsretry/awsretry/lab/conformance"
)

// wrappers are retryers around those of aws-sdk-go-v2, as programs write them.
func wrappers() []peer {
	return []peer{
		{
			column: "minimum delay",
			about: "Standard mode in a wrapper that waits at least a second before each retry, as in pingcap/tidb (pkg/objstore/s3.go) " +
				"and percona/percona-backup-mongodb (pbm/storage/s3/retryer.go).",
			ways: []conformance.Subject{{Name: "minimum delay", New: conformance.FromRetryer(newFloor)}},
			notes: map[string]note{
				"S06": {effect: "A success after retries refunds one token too many: aws.Retryer has no GetAttemptToken."},
				"S07": ofSDK(canceledBackoff()),
				"S11": {effect: "Where the rule retries within 50 ms, it waits a second."},
				"S13": {effect: "Clients that failed together come back together, after exactly a second."},
				"S14": ofSDK(longHint()),
			},
		},
		{
			column: "logging, adaptive",
			about: "Adaptive mode in a wrapper that logs each retry and embeds aws.Retryer, which hides GetAttemptToken, as in " +
				"cloudquery/cq-provider-aws (client/retry.go).",
			ways: []conformance.Subject{{Name: "logging, adaptive", Adaptive: true, New: conformance.FromRetryer(newLogger)}},
			notes: map[string]note{
				"S05": {effect: "Successes add nothing to an empty quota, so retries stay off after an outage."},
				"S14": ofSDK(longHint()),
				"A04": {effect: "Throttles do not slow the client down. A wrapper that embeds aws.RetryerV2 keeps the send rate."},
			},
		},
		{
			column: "quota off",
			about: "Standard mode without a quota, with nine attempts and a backoff that begins at 75 ms and triples, as in " +
				"turbot/steampipe-plugin-aws (aws/service.go). cloudquery/cloudquery, pingcap/tidb and hashicorp/aws-sdk-go-base " +
				"turn the quota off too.",
			ways: []conformance.Subject{{Name: "quota off", New: conformance.FromRetryer(newUnlimited)}},
			notes: map[string]note{
				"S09": {
					effect: "In an outage the service gets up to nine times the usual requests.",
					issue:  "https://github.com/aws/aws-sdk-go-v2/issues/1665",
				},
				"S11": {effect: "After a throttle waits begin at 75 ms instead of up to a second; after other failures they grow faster."},
				"S13": {effect: "With a fifth of jitter, clients that failed together stay together."},
				"S14": ofSDK(longHint()),
			},
		},
	}
}

// ofSDK is a note on the loop of the SDK, which adaptive mode shares and the wrappers run in.
func ofSDK(n note) note {
	n.like = "SDK standard"
	return n
}

// withSettings sets what programs pass on to the SDK.
func withSettings(s *conformance.Settings) func(*awsretry.StandardOptions) {
	return func(o *awsretry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = s.MaxAttempts(), s.MaxBackoff() }
}

// floorRetryer waits a second at least.
type floorRetryer struct{ aws.Retryer }

func newFloor(s *conformance.Settings) aws.Retryer {
	return floorRetryer{awsretry.NewStandard(withSettings(s))}
}

func (r floorRetryer) RetryDelay(attempt int, opErr error) (time.Duration, error) {
	delay, err := r.Retryer.RetryDelay(attempt, opErr)
	return max(delay, time.Second), err
}

// loggingRetryer tells a logger of each retry.
type loggingRetryer struct {
	aws.Retryer

	log func(attempt int, delay time.Duration, err error)
}

func newLogger(s *conformance.Settings) aws.Retryer {
	adaptive := awsretry.NewAdaptiveMode(func(o *awsretry.AdaptiveModeOptions) {
		o.StandardOptions = append(o.StandardOptions, withSettings(s))
	})
	return loggingRetryer{adaptive, func(int, time.Duration, error) {}}
}

func (r loggingRetryer) RetryDelay(attempt int, opErr error) (time.Duration, error) {
	delay, err := r.Retryer.RetryDelay(attempt, opErr)
	r.log(attempt, delay, opErr)
	return delay, err
}

func newUnlimited(s *conformance.Settings) aws.Retryer {
	return awsretry.NewStandard(func(o *awsretry.StandardOptions) {
		o.MaxAttempts = 9
		if limit := s.MaxAttempts(); limit > 0 {
			o.MaxAttempts = limit
		}
		o.RateLimiter = ratelimit.None
		o.Backoff = awsretry.BackoffDelayerFunc(tripled)
	})
}

// tripled is the backoff of newUnlimited: 25 ms, three times as long for each attempt, at most five minutes.
func tripled(attempt int, _ error) (time.Duration, error) {
	whole := float64(25*time.Millisecond) * math.Pow(3, float64(attempt))
	return time.Duration(min(whole*(0.8+0.4*rand.Float64()), float64(5*time.Minute))), nil
}
