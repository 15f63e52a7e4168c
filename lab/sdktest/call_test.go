package sdktest

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// books counts what the limiters of all scopes hear.
type books struct {
	acquired, reported, throttled atomic.Int64
}

type bookkeeper struct {
	adaptive.Limiter
	books *books
}

func (k bookkeeper) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	sent, err := k.Limiter.Acquire(ctx, r)
	if err == nil {
		k.books.acquired.Add(1)
	}
	return sent, err
}

func (k bookkeeper) Report(r ratelimit.Response) ratelimit.Change {
	k.books.reported.Add(1)
	if r.Throttled {
		k.books.throttled.Add(1)
	}
	return k.Limiter.Report(r)
}

// adaptiveMode returns an adaptive strategy without jitter, and what its limiters hear.
func adaptiveMode(config standard.Config) (awssdk.Option, *books) {
	kept := &books{}
	if config.Random == nil {
		config.Random = func() float64 { return 1 }
	}
	return hermetic(awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithConfig(adaptive.Config{
		Standard: config,
		NewLimiter: func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return bookkeeper{sendrate.NewLimiter(sendrate.Config{Start: clk.Now()}, clk), kept}
		},
	})), kept
}

// strategyOf returns the strategy that the clients of cfg have.
func strategyOf(t *testing.T, cfg aws.Config) retry.Strategy {
	t.Helper()
	s, ok := awssdk.StrategyOf(cfg)
	require.True(t, ok)
	return s
}

// quotaOf returns the tokens in the retry quota of the only scope that was used.
func quotaOf(t *testing.T, cfg aws.Config) int {
	t.Helper()
	scopes := strategyOf(t, cfg).Snapshot().Scopes
	require.Len(t, scopes, 2) // the first is that of the strategy as a whole
	return scopes[1].Quota
}

func describe(t *testing.T, cfg aws.Config, optFns ...func(*dynamodb.Options)) error {
	t.Helper()
	return describeWith(t.Context(), cfg, optFns...)
}

func describeWith(ctx context.Context, cfg aws.Config, optFns ...func(*dynamodb.Options)) error {
	_, err := dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("orders")}, optFns...)
	return err
}

func TestLimiterHearsOfEveryAttemptOnce(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, c := range []struct {
			name                string
			answers             []answerFunc
			attempts, throttled int64
			quota               int
		}{
			{"success at once", []answerFunc{say(200, "{}")}, 1, 0, 500},
			{"success after retries", []answerFunc{fail(500, ""), fail(400, "ThrottlingException"), say(200, "{}")}, 3, 1, 486},
			{"attempts used up by throttles", []answerFunc{fail(400, "ThrottlingException")}, 3, 3, 490},
			{"client error", []answerFunc{fail(400, "ValidationException")}, 1, 0, 500},
			{"client error after a retry", []answerFunc{fail(500, ""), fail(400, "ValidationException")}, 2, 0, 486},
			{"no connection", []answerFunc{refuse(syscall.ECONNREFUSED)}, 3, 0, 472},
		} {
			var told int64
			option, kept := adaptiveMode(standard.Config{MaxAttempts: 3, Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.AttemptEnded {
					told++
				}
			})})
			s := newScript(c.answers...)
			cfg := setup(t, s, option)
			_ = describe(t, cfg)
			require.Equal(t, c.attempts, told, c.name)
			require.EqualValues(t, c.attempts, s.requests(), c.name)
			require.Equal(t, c.attempts, kept.acquired.Load(), c.name)
			require.Equal(t, c.attempts, kept.reported.Load(), c.name)
			require.Equal(t, c.throttled, kept.throttled.Load(), c.name)
			require.Equal(t, c.quota, quotaOf(t, cfg), c.name)
		}
	})
}

// TestAdaptiveRetriesAgainAfterAnOutage: an adaptive client of the SDK that has used up its
// quota never retries again (aws-sdk-go-v2#3550).
func TestAdaptiveRetriesAgainAfterAnOutage(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		outage := true
		s := newScript(func(*http.Request) (*http.Response, error) {
			if outage {
				return jsonError(503, ""), nil
			}
			return response(200, "{}"), nil
		})
		const cost = 14
		option, _ := adaptiveMode(standard.Config{MaxAttempts: 3})
		cfg := setup(t, s, option)
		for quotaOfAny(t, cfg) >= cost {
			require.Error(t, describe(t, cfg))
		}
		before := s.requests()
		require.ErrorIs(t, describe(t, cfg), retry.ErrQuotaExhausted)
		require.Equal(t, before+1, s.requests(), "no retry without quota")

		outage = false
		for range 2 * cost {
			require.NoError(t, describe(t, cfg))
		}
		outage = true
		before = s.requests()
		require.Error(t, describe(t, cfg))
		require.Equal(t, before+3, s.requests(), "retries again")
	})
}

// quotaOfAny is quotaOf also for a strategy without a scope yet.
func quotaOfAny(t *testing.T, cfg aws.Config) int {
	t.Helper()
	scopes := strategyOf(t, cfg).Snapshot().Scopes
	return scopes[len(scopes)-1].Quota
}

func TestRetriesWaitAsTheStrategySays(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		hint := func(ms string) answerFunc { return fail(500, "", "X-Amz-Retry-After", ms) }
		for _, c := range []struct {
			name     string
			behavior retry.Behavior
			answer   answerFunc
			want     []time.Duration
		}{
			{"default", "", fail(500, ""), []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}},
			{"v2.0", retry.V20, fail(500, ""), []time.Duration{time.Second, 2 * time.Second}},
			{"v2.1", retry.V21, fail(500, ""), []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}},
			{"v2.1, throttle", retry.V21, fail(400, "ThrottlingException"), []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
			{"hint below the delay, v2.0", retry.V20, hint("10"), []time.Duration{time.Second, 2 * time.Second}},
			{"hint, v2.0", retry.V20, hint("8000"), []time.Duration{8 * time.Second, 8 * time.Second}},
			{"hint beyond the longest delay, v2.0", retry.V20, hint("90000"), []time.Duration{20 * time.Second, 20 * time.Second}},
			{"hint, v2.1", retry.V21, hint("3000"), []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}},
			{
				"hint beyond the window, v2.1", retry.V21, hint("60000"),
				[]time.Duration{5025 * time.Millisecond, 5050 * time.Millisecond, 5100 * time.Millisecond},
			},
			{"hint larger than a 64-bit number", retry.V20, hint("9223372036854775808"), []time.Duration{time.Second, 2 * time.Second}},
			{"hint that is no number", retry.V20, hint("soon"), []time.Duration{time.Second, 2 * time.Second}},
			{"hint that is no number, default", "", hint("soon"), []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}},
		} {
			s := newScript(c.answer)
			cfg := setup(t, s, hermetic(
				awsretry.WithService("dynamodb"), awsretry.WithBehavior(c.behavior), awsretry.WithRandom(func() float64 { return 1 })))
			require.Error(t, describe(t, cfg))
			require.Equal(t, c.want, s.gaps(), c.name)
		}
	})
}

// TestHintsCountUpToMaxHint: the loop of the SDK adds nothing to the wait of the strategy.
func TestHintsCountUpToMaxHint(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
			s := newScript(fail(500, "", "X-Amz-Retry-After", "25000"), fail(500, "", "X-Amz-Retry-After", "60000"), say(200, "{}"))
			cfg := setup(t, s, hermetic(awsretry.WithBehavior(behavior), awsretry.WithConfig(adaptive.Config{
				Standard: standard.Config{MaxHint: 30 * time.Second},
			})))
			require.NoError(t, describe(t, cfg))
			require.Equal(t, []time.Duration{25 * time.Second, 30 * time.Second}, s.gaps(), behavior)
		}
	})
}

// TestHintAndSendRateAreWaitedForAtTheSameTime: with the middlewares the wait for the send rate is over
// when the SDK has slept. Without them it comes first, and RetryDelay returns what is left.
func TestHintAndSendRateAreWaitedForAtTheSameTime(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		for hint, want := range map[string]time.Duration{"4000": 4 * time.Second, "20000": 6 * time.Second} {
			waits := 0
			s := newScript(fail(400, "ThrottlingException", "X-Amz-Retry-After", hint), say(200, "{}"))
			cfg := setup(t, s, hermetic(always(), awsretry.WithMode(awsretry.ModeAdaptive),
				awsretry.WithConfig(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit {
					return adaptive.SendLimit{Starting: 0.5}
				}}),
				awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.SendWaitBegan {
						waits++
					}
				}))))
			require.NoError(t, describe(t, cfg))
			require.Equal(t, []time.Duration{want}, s.gaps(), hint)
			require.Equal(t, cfg.APIOptions == nil, waits > 0, hint)
		}
	})
}

// TestRetriesOfAFakeClockWorkInABubble: the loop of the SDK sleeps the backoff in the time of the
// bubble, and the strategy waits for the send rate on its clock.
func TestRetriesOfAFakeClockWorkInABubble(t *testing.T) {
	for _, mode := range []config.Mode{awsretry.ModeStandard, awsretry.ModeAdaptive} {
		bothWays(t, func(t *testing.T, setup setup) {
			t.Helper()
			clk, s := &clock.Fake{}, newScript(fail(503, ""), throttle, say(200, "{}"))
			cfg := setup(t, s, hermetic(awsretry.WithMode(mode), awsretry.WithClock(clk), always()))
			began := clk.Now()
			clk.Run(func() { require.NoError(t, describe(t, cfg)) })
			if mode == awsretry.ModeStandard {
				require.Equal(t, []time.Duration{25 * time.Millisecond, 2 * time.Second}, s.gaps())
			}
			require.Equal(t, mode == awsretry.ModeAdaptive, clk.Now().After(began), "for the send rate")
		})
	}
}

func TestPanicInAnAttemptEndsTheOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		option, kept := adaptiveMode(standard.Config{})
		cfg := installed(t, newScript(fail(500, ""), func(*http.Request) (*http.Response, error) { panic("made up") }), option)
		require.PanicsWithValue(t, "made up", func() { _ = describe(t, cfg) })
		require.EqualValues(t, 2, kept.acquired.Load())
		require.EqualValues(t, 2, kept.reported.Load())
	})
}

// TestErrorsThatCallsShareAreToldApart has calls at the same time whose attempts fail with one
// and the same value.
func TestErrorsThatCallsShareAreToldApart(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		shared := &sharedError{errors.New("made up")}
		var failing atomic.Int64
		option, kept := adaptiveMode(standard.Config{QuotaCapacity: new(100_000)})
		cfg := setup(t, newScript(say(200, "{}")), option)
		cfg.APIOptions = append(cfg.APIOptions, failInside(func() error {
			pause(time.Millisecond)
			if failing.Add(1)%4 != 0 {
				return shared
			}
			return nil
		}))
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { _ = describe(t, cfg) }) // some succeed
		}
		all.Wait()
		require.Equal(t, failing.Load(), kept.acquired.Load())
		require.Equal(t, failing.Load(), kept.reported.Load())
	})
}

// sharedError is retried like a failed connection.
type sharedError struct{ error }

func (*sharedError) Temporary() bool { return true }
