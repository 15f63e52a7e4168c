package awssdk

import (
	"errors"
	"math"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
)

// numbered is the error of an attempt, with its number.
type numbered struct {
	attempt int
	code    string // or empty, and the status is 500
}

func (*numbered) Error() string { return "failed" }

func (e *numbered) ErrorCode() string { return e.code }

func (e *numbered) HTTPStatusCode() int {
	if e.code == "" {
		return 500
	}
	return 400
}

func standardOfSDK(change func(o *sdkretry.StandardOptions)) func() aws.Retryer {
	return func() aws.Retryer { return sdkretry.NewStandard(change) }
}

func adaptiveOfSDK(change func(o *sdkretry.AdaptiveModeOptions)) func() aws.Retryer {
	return func() aws.Retryer { return sdkretry.NewAdaptiveMode(change) }
}

// installed returns the retryer of a config with these settings, and without those of the machine.
func installed(t *testing.T, settings ...awsretry.Option) *sdkRetryer {
	t.Helper()
	cfg := aws.Config{}
	nothing := awsretry.WithSources(awsretry.Sources{LookupEnv: func(string) (string, bool) { return "", false }, FS: fstest.MapFS{}})
	require.NoError(t, Install(&cfg, WithSettings(nothing), WithSettings(settings...)))
	return cfg.Retryer().(*sdkRetryer)
}

// TestOptionsOfTheSDKHaveCounterparts makes failing calls with options of the SDK, and with those that the page about
// moving names for them. Others are in situations of lab/sdktest.
func TestOptionsOfTheSDKHaveCounterparts(t *testing.T) {
	t.Parallel()
	second := func(attempt int, _ error) (time.Duration, error) { return time.Duration(attempt) * time.Second, nil }
	secondHere := awsretry.WithStandard(standard.Config{Backoff: func(attempt int, err error) time.Duration {
		delay, _ := second(attempt, err)
		return delay
	}})
	setSecond := func(o *sdkretry.StandardOptions) { o.Backoff = sdkretry.BackoffDelayerFunc(second) }
	for name, c := range map[string]struct {
		sdk      func() aws.Retryer
		here     []awsretry.Option
		code     string // of the errors
		calls    int
		attempts int           // of all calls
		slept    time.Duration // if it is not random
	}{
		"ratelimit.None": {
			sdk:   standardOfSDK(func(o *sdkretry.StandardOptions) { o.RateLimiter = ratelimit.None }),
			here:  []awsretry.Option{awsretry.WithoutQuota()},
			calls: 50, attempts: 150,
		},
		"Throttles and Retryables": {
			sdk: standardOfSDK(func(o *sdkretry.StandardOptions) {
				codes := map[string]struct{}{"Busy": {}}
				o.Retryables = append(o.Retryables, sdkretry.RetryableErrorCode{Codes: codes})
				o.Throttles = append(o.Throttles, sdkretry.ThrottleErrorCode{Codes: codes})
				o.RateLimiter = ratelimit.NewTokenRateLimit(5)
			}),
			here: []awsretry.Option{
				awsretry.WithClassifier(classify.Also(classify.Code(classify.Codes{"Busy": classify.Throttling}))),
				awsretry.WithStandard(standard.Config{QuotaCapacity: new(5)}),
			},
			code: "Busy", calls: 1, attempts: 2,
		},
		"RetryCost": {
			sdk: standardOfSDK(func(o *sdkretry.StandardOptions) {
				o.MaxAttempts, o.RetryCost, o.RateLimiter = 9, 7, ratelimit.NewTokenRateLimit(28)
			}),
			here: []awsretry.Option{
				awsretry.WithMaxAttempts(9), awsretry.WithStandard(standard.Config{RetryCost: 7, TimeoutCost: 7, QuotaCapacity: new(28)}),
			},
			calls: 1, attempts: 5,
		},
		"ThrottlingRetryCost": {
			sdk: standardOfSDK(func(o *sdkretry.StandardOptions) {
				o.MaxAttempts, o.ThrottlingRetryCost, o.RateLimiter = 9, 14, ratelimit.NewTokenRateLimit(28)
			}),
			here: []awsretry.Option{
				awsretry.WithMaxAttempts(9), awsretry.WithStandard(standard.Config{ThrottlingCost: 14, QuotaCapacity: new(28)}),
			},
			code: "SlowDown", calls: 1, attempts: 3,
		},
		"MaxAttempts 0": {
			sdk:   standardOfSDK(func(o *sdkretry.StandardOptions) { o.MaxAttempts = 0 }),
			here:  []awsretry.Option{awsretry.WithMaxAttempts(0)},
			calls: 1, attempts: 3,
		},
		"MaxAttempts -1": {
			sdk:   standardOfSDK(func(o *sdkretry.StandardOptions) { o.MaxAttempts = -1 }),
			here:  []awsretry.Option{awsretry.WithMaxAttempts(-1), awsretry.WithStandard(standard.Config{MaxAttempts: -1})},
			calls: 1, attempts: 3,
		},
		"AddWithMaxAttempts 0": {
			sdk:   func() aws.Retryer { return sdkretry.AddWithMaxAttempts(sdkretry.NewStandard(), 0) },
			here:  []awsretry.Option{awsretry.WithMaxAttempts(math.MaxInt32)},
			calls: 1, attempts: 1 + 35,
		},
		"AddWithMaxBackoffDelay below 2 s": {
			sdk: func() aws.Retryer {
				return sdkretry.AddWithMaxBackoffDelay(sdkretry.NewStandard(), 250*time.Millisecond)
			},
			here: []awsretry.Option{awsretry.WithStandard(standard.Config{
				Backoff: func(int, error) time.Duration { return 250 * time.Millisecond },
			})},
			calls: 1, attempts: 3, slept: 500 * time.Millisecond,
		},
		"Retryables nil": {
			sdk:   standardOfSDK(func(o *sdkretry.StandardOptions) { o.Retryables = nil }),
			here:  []awsretry.Option{awsretry.WithClassifier(classify.NewChain())},
			calls: 1, attempts: 1,
		},
		"Throttles nil": {
			sdk: standardOfSDK(func(o *sdkretry.StandardOptions) {
				o.MaxAttempts, o.Throttles, o.RateLimiter = 9, nil, ratelimit.NewTokenRateLimit(28)
			}),
			here: []awsretry.Option{
				awsretry.WithMaxAttempts(9), awsretry.WithStandard(standard.Config{ThrottlingCost: 14, QuotaCapacity: new(28)}),
			},
			code: "SlowDown", calls: 1, attempts: 3,
		},
		"Timeouts nil and RetryTimeoutCost 0": {
			sdk:   standardOfSDK(func(o *sdkretry.StandardOptions) { o.Timeouts, o.RetryTimeoutCost = nil, 0 }), //nolint:staticcheck // programs still set them
			calls: 50, attempts: 50 + 35,
		},
		"ratelimit.NewTokenRateLimit 0": {
			sdk:   standardOfSDK(func(o *sdkretry.StandardOptions) { o.RateLimiter = ratelimit.NewTokenRateLimit(0) }),
			here:  []awsretry.Option{awsretry.WithStandard(standard.Config{QuotaCapacity: new(0)})},
			calls: 1, attempts: 1,
		},
		"RetryCost 0 and ThrottlingRetryCost 0": {
			sdk:   standardOfSDK(func(o *sdkretry.StandardOptions) { o.RetryCost, o.ThrottlingRetryCost = 0, 0 }),
			here:  []awsretry.Option{awsretry.WithoutQuota()},
			calls: 50, attempts: 150,
		},
		"StandardOptions nil": {
			sdk:   adaptiveOfSDK(func(o *sdkretry.AdaptiveModeOptions) { o.StandardOptions = nil }),
			here:  []awsretry.Option{awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithConfig(adaptive.Config{})},
			calls: 50, attempts: 50 + 35,
		},
		"RequestCost 0": {
			sdk: adaptiveOfSDK(func(o *sdkretry.AdaptiveModeOptions) {
				o.RequestCost, o.StandardOptions = 0, []func(*sdkretry.StandardOptions){setSecond}
			}),
			here: []awsretry.Option{awsretry.WithMode(awsretry.ModeStandard), secondHere},
			code: "SlowDown", calls: 20, attempts: 60, slept: 60 * time.Second,
		},
		"Throttles nil in adaptive mode": {
			sdk: adaptiveOfSDK(func(o *sdkretry.AdaptiveModeOptions) {
				o.Throttles, o.StandardOptions = nil, []func(*sdkretry.StandardOptions){setSecond}
			}),
			here: []awsretry.Option{awsretry.WithMode(awsretry.ModeStandard), secondHere},
			code: "SlowDown", calls: 20, attempts: 60, slept: 60 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sdk, here := c.sdk(), installed(t, c.here...)
				run := func(one func(errs ...error) error) (attempts int, slept time.Duration) {
					began := time.Now()
					for range c.calls {
						var errs []error
						for n := range 40 {
							errs = append(errs, &numbered{n + 1, c.code})
						}
						last, ok := errors.AsType[*numbered](one(errs...))
						if !ok { // the SDK has lost it with the send token
							last = &numbered{attempt: 1}
						}
						attempts += last.attempt
					}
					return attempts, time.Since(began)
				}
				attempts, slept := run(func(errs ...error) error { return bare(t.Context(), sdk, errs...) })
				require.Equal(t, c.attempts, attempts, "SDK")
				attemptsHere, sleptHere := run(func(errs ...error) error {
					_, err := inside(t, here, errs...)
					return err
				})
				require.Equal(t, c.attempts, attemptsHere)
				if c.slept > 0 {
					require.Equal(t, []time.Duration{c.slept, c.slept}, []time.Duration{slept, sleptHere})
				}
			})
		})
	}
}

// The delays are random, so the longest of many is compared.
func TestLongestDelaysOfTheSDKHaveCounterparts(t *testing.T) {
	t.Parallel()
	const ms, s = time.Millisecond, time.Second
	for name, c := range map[string]struct {
		sdk  aws.Retryer
		here []awsretry.Option
		code string
		want []time.Duration // before each retry
	}{
		"MaxBackoff": {
			sdk:  sdkretry.NewStandard(func(o *sdkretry.StandardOptions) { o.MaxBackoff = 150 * ms }),
			here: []awsretry.Option{awsretry.WithStandard(standard.Config{MaxBackoff: 150 * ms})},
			want: []time.Duration{50 * ms, 100 * ms, 150 * ms, 150 * ms},
		},
		"BaseDelay": {
			sdk:  sdkretry.NewStandard(func(o *sdkretry.StandardOptions) { o.BaseDelay = 8 * s }),
			here: []awsretry.Option{awsretry.WithStandard(standard.Config{Base: 8 * s})},
			want: []time.Duration{8 * s, 16 * s, 20 * s},
		},
		"AddWithMaxBackoffDelay": {
			sdk: sdkretry.AddWithMaxBackoffDelay(sdkretry.NewStandard(), 9*s),
			here: []awsretry.Option{
				awsretry.WithStandard(standard.Config{MaxBackoff: 9 * s, Base: 2 * s, ThrottlingBase: 2 * s}),
			},
			want: []time.Duration{2 * s, 4 * s, 8 * s, 9 * s},
		},
		"MaxBackoff 0": {
			sdk:  sdkretry.NewStandard(func(o *sdkretry.StandardOptions) { o.MaxBackoff = 0 }),
			here: []awsretry.Option{awsretry.WithStandard(standard.Config{Backoff: func(int, error) time.Duration { return 0 }})},
			want: []time.Duration{0, 0, 0},
		},
		"Throttles nil": {
			sdk:  sdkretry.NewStandard(func(o *sdkretry.StandardOptions) { o.Throttles = nil }),
			here: []awsretry.Option{awsretry.WithStandard(standard.Config{ThrottlingBase: 50 * ms})},
			code: "SlowDown",
			want: []time.Duration{50 * ms, 100 * ms, 200 * ms},
		},
	} {
		for who, r := range map[string]aws.Retryer{"SDK": c.sdk, "here": installed(t, c.here...)} {
			for i, want := range c.want {
				longest := time.Duration(0)
				for range 500 {
					delay, err := r.RetryDelay(i+1, &numbered{i + 1, c.code})
					require.NoError(t, err)
					longest = max(longest, delay)
				}
				require.InDelta(t, want, longest, 0.05*float64(want), "%s, %s, retry %d", name, who, i+1)
				require.LessOrEqual(t, longest, want)
			}
		}
	}
}
