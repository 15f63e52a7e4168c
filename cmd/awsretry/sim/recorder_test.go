package sim

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

const second = time.Second

// over makes a call that the service took up at one instant, with an answer after a second.
func over(began, sent, end time.Duration, err error) *Call {
	return &Call{Began: began, Ended: end, Err: err, Attempts: []Attempt{{Sent: sent, Ended: sent + second, Err: err}}}
}

func TestRecorderCountsTheCallsThatEndInTheWindow(t *testing.T) {
	t.Parallel()
	r := newRecorder(&Scenario{Duration: 100 * second, Measured: Window{30 * second, 90 * second}, Within: 6 * second}, 500)
	empty := fmt.Errorf("refused: %w", retry.ErrQuotaExhausted)
	throttled := &Call{Began: 40 * second, Ended: 52 * second, Attempts: []Attempt{
		{Sent: 41 * second, Ended: 42 * second, Throttled: true, Err: errors.New("throttled")},
		{Sent: 50 * second, Ended: 51 * second},
	}}
	for _, c := range []*Call{
		over(28*second, 28*second, 29*second, nil), // too early
		over(29*second, 29*second, 30*second, nil),
		over(31*second, 35*second, 36*second, empty),
		over(32*second, 32*second, 33*second, errors.New("other")),
		throttled,
		over(89*second, 89*second, 90*second, empty), // too late
	} {
		r.began(c.Began)
		r.ended(c)
	}

	got := r.result(retry.Plan{})

	require.Equal(t, 4, got.Calls)
	require.InDelta(t, 2.0/60, got.Goodput, 1e-9)
	require.InDelta(t, 0.5, got.FailedShare, 1e-9)
	require.InDelta(t, 0.25, got.NoQuotaShare, 1e-9)
	require.InDelta(t, 5.0/4, got.AttemptsPerCall, 1e-9)
	require.InDelta(t, 1.0/5, got.ThrottledShare, 1e-9)
	require.Equal(t, []float64{12, 12, 12, 5, 5, 5}, []float64{got.LatencyP50, got.LatencyP99, got.LatencyMax, got.FailedP50, got.FailedP99, got.FailedMax})
	require.InDelta(t, 0, got.WithinShare, 1e-9, "one of the calls that began from second 30 to 84 succeeds, after twelve seconds")
	require.InDelta(t, (0+4+0+10)/4.0, got.DelayPerCall, 1e-9)
	require.Len(t, got.Bins, 100)
	require.Equal(t, Bin{From: 50 * second, Sent: 1, Accepted: 1}, withoutState(got.Bins[50]))
	require.Equal(t, Bin{From: 41 * second, Sent: 1, Throttled: 1}, withoutState(got.Bins[41]))
	require.Equal(t, Bin{From: 28 * second, Begun: 1, Sent: 1, Accepted: 1}, withoutState(got.Bins[28]))
	require.Empty(t, r.open)
	require.Zero(t, r.openCalls)
	require.Equal(t, 1, r.most)
}

func withoutState(b Bin) Bin {
	b.Quota, b.SendRate, b.Allowed = 0, 0, 0
	return b
}

func TestRecorderNotesTheQuota(t *testing.T) {
	t.Parallel()
	r := newRecorder(&Scenario{Duration: 10 * second, Measured: Window{0, 10 * second}}, 500)
	for i, e := range []retry.Event{
		{Kind: retry.RetryScheduled, Quota: 14},
		{Kind: retry.RetryRefused, Quota: 9, Reason: retry.ErrAttemptsExhausted},
		{Kind: retry.RetryRefused, Quota: 11, Reason: fmt.Errorf("x: %w", retry.ErrQuotaExhausted)},
		{Kind: retry.RetryRefused, Quota: 10, Reason: retry.ErrQuotaExhausted},
		{Kind: retry.AttemptEnded, Quota: 3},
	} {
		e.Time = start().Add(time.Duration(i) * second)
		r.observe(t.Context(), e)
	}
	got := r.result(retry.Plan{})
	require.InDelta(t, 9, got.LowestQuota, 1e-9)
	require.InDelta(t, 2, got.Emptied, 1e-9)
}

// stub is a strategy of which only the state matters.
type stub struct {
	retry.Strategy
	state retry.ScopeSnapshot
}

func (s stub) Snapshot() retry.Snapshot {
	s.state.Key.Resource = troubled
	return retry.Snapshot{Scopes: []retry.ScopeSnapshot{{Quota: 1}, s.state, {Quota: 2}}}
}

func TestBinHasTheLowestQuotaAndAllSendRates(t *testing.T) {
	t.Parallel()
	r := newRecorder(&Scenario{Duration: 3 * second}, 500)
	with := func(states ...retry.ScopeSnapshot) (clients []*client) {
		for _, s := range states {
			clients = append(clients, &client{strategy: stub{state: s}})
		}
		return clients
	}
	r.sample(0, with(
		retry.ScopeSnapshot{Quota: 400, Limited: true, FillRate: 5}, retry.ScopeSnapshot{Quota: 300, FillRate: 100},
		retry.ScopeSnapshot{Quota: 450, Limited: true, FillRate: 7}))
	r.sample(1, with(retry.ScopeSnapshot{Quota: 700, FillRate: 5}))

	require.Equal(t, 300, r.bins[0].Quota)
	require.InDelta(t, 12, r.bins[0].SendRate, 1e-9)
	require.Equal(t, 700, r.bins[1].Quota)
	require.Zero(t, r.bins[1].SendRate)
	require.Equal(t, 500, r.bins[2].Quota)
}

// The successes are compared with those before the outage, as calls may fail before it too.
func TestRecoveredIsTheRateBeforeTheOutage(t *testing.T) {
	t.Parallel()
	usual := Conditions{Rate: 100, Offered: 100, Fail: 0.5}
	outage := usual
	outage.Fail = 1
	s := Scenario{Conditions: usual, Duration: 60 * second, Phases: []Phase{{20 * second, outage}, {30 * second, usual}}}
	r := newRecorder(&s, 500)
	add := func(from, to time.Duration, rate int) { r.successes = append(r.successes, evenly(from, to, rate)...) }
	require.True(t, math.IsNaN(r.recovered()), "nothing succeeded before")
	add(0, 10*second, 90)
	add(10*second, 20*second, 50)
	require.True(t, math.IsNaN(r.recovered()), "nothing succeeds afterwards")
	add(40*second, 60*second, 50)
	require.InDelta(t, 9.5, r.recovered(), 0.11)
}

func TestBinsAreAHundredAtMost(t *testing.T) {
	t.Parallel()
	for duration, want := range map[time.Duration]struct {
		bins  int
		width time.Duration
	}{
		0:                     {1, second},
		100 * second:          {100, second},
		101 * second:          {51, 2 * second},
		90*second + 1:         {91, second},
		10*time.Minute + 1000: {86, 7 * second},
	} {
		r := newRecorder(&Scenario{Duration: duration}, 1)
		require.Len(t, r.bins, want.bins, duration)
		require.Equal(t, want.width, r.width, duration)
		require.Equal(t, duration, r.end(len(r.bins)-1))
		require.Same(t, &r.bins[len(r.bins)-1], r.bin(duration))
	}
}
