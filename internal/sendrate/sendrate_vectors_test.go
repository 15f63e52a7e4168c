package sendrate_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/ratelimit"
)

// sdk is the controller of the AWS SDKs.
var sdk = sendrate.Config{Controller: ratelimit.CutPerThrottle}

// exactly is an instant of the vectors to the nanosecond.
func exactly(seconds vectors.ExactSeconds) time.Time { return at(0).Add(time.Duration(seconds)) }

func requireRate[F ~float64](t *testing.T, p vectors.Precision, want float64, got F, what string, step int) {
	t.Helper()
	require.True(t, p.Near(want, float64(got)), "%s after step %d: %v, not %v", what, step, got, want)
}

func TestConstantsFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Adaptive](t, "adaptive.json") {
		want := file.Defaults
		if want == nil {
			continue // a part of another file
		}
		t.Run(title, func(t *testing.T) {
			rate := sendrate.New(sdk, at(0))
			rate.Report(at(1), ratelimit.Response{Throttled: true})
			answers(&rate, at(100), 1000) // long after, so that only the measured rate is a limit
			answers(&rate, at(101), 1)
			grown := rate.State()
			require.Equal(t, *want, vectors.Constants{
				Smooth:              sendrate.MeasureSmooth,
				Beta:                sendrate.CubicBeta,
				ScaleConstant:       sendrate.CubicScale,
				MinFillRate:         float64(sendrate.MinFillRate),
				MinCapacity:         sendrate.MinCapacity,
				Window:              sendrate.MeasureWindow.Seconds(),
				MaxRateOverMeasured: want.MaxRateOverMeasured,
				SendCost:            throttled(&clock.Fake{}).Expected(ratelimit.Request{}).Seconds() * float64(sendrate.MinFillRate),
			})
			require.InEpsilon(t, want.MaxRateOverMeasured, grown.FillRate/grown.MeasuredRate, 1e-9)
		})
	}
}

func TestCubicFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Adaptive](t, "adaptive.json") {
		for _, c := range file.Cubic {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				cubic := sendrate.NewCubic(at(c.Given.LastThrottleTime), ratelimit.Rate(c.Given.LastMaxRate))
				var rate ratelimit.Rate
				for i, step := range c.Steps {
					if step.Response == "throttle" {
						rate = cubic.Throttle(at(step.T), rate)
					} else {
						rate = cubic.Success(at(step.T))
					}
					requireRate(t, c.Precision, step.Rate, rate, "rate", i)
				}
			})
		}
	}
}

func TestMeasuredRateFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Adaptive](t, "adaptive.json") {
		for _, c := range file.RateClocker {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				rate := sendrate.New(sdk, at(c.Start))
				for i, step := range c.Steps {
					answers(&rate, at(step.T), max(step.Repeat, 1))
					requireRate(t, c.Precision, step.Rate, rate.State().MeasuredRate, "measured rate", i)
				}
			})
		}
	}
}

func TestSendRateFollowsTheEndToEndVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Adaptive](t, "adaptive.json") {
		for _, c := range file.EndToEnd {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				rate := sendrate.New(sdk, exactly(c.Start))
				for i, step := range c.Steps {
					for range max(step.Repeat, 1) {
						rate.Report(exactly(step.T), ratelimit.Response{Throttled: step.Throttled})
					}
					state := rate.State()
					requireRate(t, c.Precision, step.MeasuredRate, state.MeasuredRate, "measured rate", i)
					requireRate(t, c.Precision, step.FillRate, state.FillRate, "fill rate", i)
					requireRate(t, c.Precision, step.Capacity, state.SendCapacity, "capacity", i)
					requireRate(t, c.Precision, step.Tokens, state.SendTokens, "tokens", i)
					require.Equal(t, step.Enabled, state.Limited, "limited after step %d", i)
				}
			})
		}
	}
}

func TestSendRateFollowsTheSendBucketVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Adaptive](t, "adaptive.json") {
		for _, c := range file.SendBucket {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				rate := sendrate.New(sdk, at(c.Start))
				for i, step := range c.Steps {
					switch step.Op {
					case "update":
						for range max(step.Repeat, 1) {
							rate.Report(at(step.T), ratelimit.Response{Throttled: step.Throttled})
						}
					case "set_rate":
						rate.SetRate(at(step.T), ratelimit.Rate(step.Rate))
					case "try_acquire":
						until := rate.Until(at(step.T), step.Cost)
						_, granted := rate.Take(at(step.T), step.Cost)
						require.Equal(t, step.Want.Granted, granted, "step %d", i)
						// Waits are rounded up to nanoseconds.
						require.InDelta(t, step.Want.Wait, until.Seconds(), max(2e-9, c.Within()*step.Want.Wait), "step %d", i)
					default:
						t.Fatalf("step %d: unknown op %q", i, step.Op)
					}
					requireRate(t, c.Precision, step.Want.Tokens, rate.State().SendTokens, "tokens", i)
					if step.Want.FillRate != nil {
						requireRate(t, c.Precision, *step.Want.FillRate, rate.State().FillRate, "fill rate", i)
					}
				}
			})
		}
	}
}

func TestLimiterServesWaitersAsTheVectorsSay(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Adaptive](t, "adaptive.json") {
		for _, c := range file.Waiters {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { serve(t, c) })
			})
		}
	}
}

func serve(t *testing.T, c vectors.Waiters) {
	t.Helper()
	start := time.Now()
	pass(t, vectors.Seconds(c.Start))
	limiter := sendrate.NewLimiter(sdk, clock.System{})
	var mu sync.Mutex
	granted, order := map[string]time.Duration{}, []string{}
	cancels := map[string]context.CancelFunc{}
	for _, e := range c.Events {
		pass(t, time.Until(start.Add(vectors.Seconds(e.T))))
		switch e.Op {
		case "update":
			for range max(e.Repeat, 1) {
				limiter.Report(ratelimit.Response{Throttled: e.Throttled})
			}
		case "arrive":
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cancels[e.ID] = cancel
			go func() {
				sent, err := limiter.Acquire(ctx, ratelimit.Request{Cost: e.Cost})
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					granted[e.ID] = sent.Sub(start)
					order = append(order, e.ID)
				}
			}()
		case "cancel":
			cancels[e.ID]()
		default:
			t.Fatalf("unknown op %q", e.Op)
		}
		synctest.Wait()
	}
	pass(t, time.Hour)
	for id, want := range c.GrantAt {
		at, ok := granted[id]
		require.Equal(t, want != nil, ok, "%s granted", id)
		if want != nil {
			require.InDelta(t, *want, at.Seconds(), c.Within(), "%s", id)
		}
	}
	require.Equal(t, c.Order, order)
}
