package proptest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// bucketRun is the bucket of a send rate that is set by hand, and what is known of it.
type bucketRun struct {
	rate   sendrate.SendRate
	now    time.Time
	newest time.Time // that the bucket has been told
	lifted float64
}

func TestBucketKeepsItsBoundsAndItsWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := &bucketRun{rate: sendrate.New(sendrate.Config{}, start()), now: start()}
		run.rate.SetRate(start(), ratelimit.Rate(drawSize(t, "rate")))
		run.newest = start()
		t.Repeat(map[string]func(*rapid.T){
			"":     run.check,
			"pass": func(t *rapid.T) { run.now = run.now.Add(drawPause(t, "pause")) },
			"take": run.take,
			"rate": func(t *rapid.T) {
				rate := ratelimit.Rate(drawSize(t, "rate"))
				run.call(t, 0, func(at time.Time) { run.rate.SetRate(at, rate) })
				require.InDelta(t, max(float64(rate), 0.5), float64(run.rate.Fill()), 0)
				require.InDelta(t, max(float64(rate), 1), run.rate.State().SendCapacity, 0)
			},
			"give": func(t *rapid.T) {
				tokens := drawSize(t, "tokens")
				run.call(t, tokens, func(at time.Time) { run.rate.Give(at, tokens) })
			},
			"lift": func(t *rapid.T) {
				run.lifted = drawFrom(t, "cost", 0, 1, drawSize(t, "size"))
				run.call(t, 0, func(at time.Time) { run.rate.Lift(at, run.lifted) })
			},
		})
	})
}

// drawSize draws an amount of tokens, or a rate, of any magnitude that is in use.
func drawSize(t *rapid.T, label string) float64 {
	return rapid.OneOf(rapid.Float64Range(0, 4), rapid.Float64Range(0, 1e6)).Draw(t, label)
}

func (r *bucketRun) tokens() float64 { return r.rate.State().SendTokens }

func (r *bucketRun) check(t *rapid.T) {
	require.GreaterOrEqual(t, r.tokens(), 0.0)
	require.LessOrEqual(t, r.tokens(), max(r.rate.State().SendCapacity, r.lifted))
}

// call makes a call, now or at an instant that has passed, which may add what is given and
// what time has brought, and nothing when time goes back.
func (r *bucketRun) call(t *rapid.T, given float64, call func(at time.Time)) {
	at := r.now.Add(-drawFrom(t, "late", 0, 0, 0, time.Nanosecond, time.Second, time.Hour))
	before, fill := r.tokens(), float64(r.rate.Fill())
	call(at)
	if !at.After(r.newest) {
		require.LessOrEqual(t, r.tokens(), before+given)
		return
	}
	brought := at.Sub(r.newest).Seconds() * fill
	require.LessOrEqual(t, r.tokens(), (before+given+brought)*(1+1e-12))
	r.newest = at
}

// take takes tokens, or waits out what the refusal says, twice at most.
func (r *bucketRun) take(t *rapid.T) {
	cost := drawSize(t, "cost")
	refused := false
	r.call(t, 0, func(at time.Time) {
		until := r.rate.Until(at, cost)
		before := r.tokens()
		wait, granted := r.rate.Take(at, cost)
		require.Equal(t, until, wait)
		require.Equal(t, granted, wait == 0, "a wait of %v", wait)
		if granted {
			require.InDelta(t, before-cost, r.tokens(), 0)
			return
		}
		require.InDelta(t, before, r.tokens(), 0, "a refusal took tokens")
		missing := (cost - before) / float64(r.rate.Fill())
		require.GreaterOrEqual(t, wait.Seconds(), missing*(1-1e-12))
		require.LessOrEqual(t, wait.Seconds(), missing*(1+1e-12)+1e-9)
		refused = true
	})
	if refused && drawBool(t, "wait") {
		r.waitFor(t, cost)
	}
}

func (r *bucketRun) waitFor(t *rapid.T, cost float64) {
	r.lifted = cost
	r.now = r.newest
	r.rate.Lift(r.now, cost)
	for range 2 {
		wait, granted := r.rate.Take(r.now, cost)
		require.False(t, granted)
		require.Positive(t, wait)
		r.now = r.now.Add(wait)
		r.newest = r.now
		if r.rate.Until(r.now, cost) == 0 {
			break
		}
	}
	_, granted := r.rate.Take(r.now, cost)
	require.True(t, granted, "two waits were not enough")
}
