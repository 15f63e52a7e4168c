package proptest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/ratelimit"
)

// sendRateRun is a send rate beside its model.
type sendRateRun struct {
	rate  ratelimit.SendRate
	model *rateModel
	now   time.Time
}

func TestSendRateIsAsItsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		begin := start().Add(drawDuration(t, 0, time.Second, "start"))
		perThrottle := drawBool(t, "cut per throttle")
		run := &sendRateRun{
			rate:  ratelimit.NewSendRate(ratelimit.SendRateConfig{CutPerThrottle: perThrottle}, begin),
			model: newRateModel(begin, perThrottle),
			now:   begin,
		}
		t.Repeat(map[string]func(*rapid.T){
			"":       run.check,
			"pass":   func(t *rapid.T) { run.now = run.now.Add(drawPause(t, "pause")) },
			"report": run.report,
			"burst":  run.burst,
			"take":   run.take,
			"give":   run.give,
		})
	})
}

// at is mostly now, and sometimes an instant that has passed.
func (r *sendRateRun) at(t *rapid.T) time.Time {
	return r.now.Add(-drawFrom(t, "late", 0, 0, 0, time.Nanosecond, 2*time.Second))
}

func (r *sendRateRun) check(t *rapid.T) {
	state := r.rate.State()
	require.Equal(t, r.model.limited, state.Limited)
	requireClose(t, r.model.measured(), float64(state.MeasuredRate), "measured rate")
	requireClose(t, r.model.fill, float64(state.FillRate), "fill rate")
	requireClose(t, r.model.capacity, state.Capacity, "capacity")
	requireClose(t, r.model.tokens, state.Tokens, "tokens")
	require.GreaterOrEqual(t, state.Tokens, 0.0)
	require.LessOrEqual(t, state.Tokens, state.Capacity)
	if r.model.limited {
		require.Equal(t, r.model.lastThrottle, state.LastThrottle)
	} else {
		require.Zero(t, state.LastThrottle)
	}
}

func (r *sendRateRun) report(t *rapid.T) {
	at, response := r.at(t), ratelimit.Response{Throttled: drawBool(t, "throttled")}
	if drawBool(t, "with the send instant") {
		response.Sent = at.Add(-drawPause(t, "under way"))
	}
	r.respond(t, at, response)
}

// burst is many responses at once, so that the rate gets somewhere.
func (r *sendRateRun) burst(t *rapid.T) {
	for range drawInt(t, 2, 60, "responses") {
		r.respond(t, r.now, ratelimit.Response{Throttled: false})
	}
}

func (r *sendRateRun) respond(t *rapid.T, at time.Time, response ratelimit.Response) {
	before := r.rate.State().FillRate
	cut := r.rate.Report(at, response)
	require.Equal(t, r.model.report(at, response), cut)
	state := r.rate.State()
	if response.Throttled && !cut {
		require.InDelta(t, float64(before), float64(state.FillRate), 0, "a suppressed throttle changed the rate")
		return
	}
	require.LessOrEqual(t, float64(state.FillRate), max(0.5, 2*float64(state.MeasuredRate)))
}

func (r *sendRateRun) take(t *rapid.T) {
	at, cost := r.at(t), drawFloat(t, 3, "cost")
	want := r.model.until(at, cost)
	until := r.rate.Until(at, cost)
	requireClose(t, want, until.Seconds(), "until")
	wait, granted := r.rate.Take(at, cost)
	require.Equal(t, until, wait)
	require.Equal(t, granted, wait == 0)
	if granted {
		r.model.take(at, cost)
		return
	}
	if cost > r.rate.State().Capacity || !drawBool(t, "wait") {
		return
	}
	r.now = r.model.newest.Add(wait)
	if wait, granted = r.rate.Take(r.now, cost); !granted {
		require.Positive(t, wait)
		r.now = r.now.Add(wait)
		_, granted = r.rate.Take(r.now, cost)
	}
	require.True(t, granted, "two waits were not enough")
	r.model.take(r.now, cost)
}

func (r *sendRateRun) give(t *rapid.T) {
	at, tokens := r.at(t), drawFloat(t, 3, "tokens")
	r.rate.Give(at, tokens)
	r.model.give(at, tokens)
}

// requireClose allows for the rounding of float64 arithmetic and of a wait to the
// nanosecond.
func requireClose(t *rapid.T, want, got float64, what string) {
	t.Helper()
	require.InDelta(t, want, got, 2e-9+1e-7*max(want, -want), what)
}
