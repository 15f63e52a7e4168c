//go:build !race

package sim_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/internal/command/trace"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func of(kinds ...string) (responses []trace.Response) {
	for _, kind := range kinds {
		responses = append(responses, trace.Response{Kind: kind})
	}
	return responses
}

func step(request, kind string) trace.Step {
	return trace.Step{Request: request, Response: trace.Response{Kind: kind}}
}

func seconds(d time.Duration) trace.Seconds { return trace.Seconds(d) }

func playTrace(t *testing.T, recorded trace.Trace, v sim.Variant) *sim.Result {
	t.Helper()
	r, err := sim.PlayTrace(&recorded, v, 5*time.Second)
	require.NoError(t, err)
	return r
}

// sent are the instants of the attempts of a call.
func sent(c sim.Call) (all []time.Duration) {
	for _, a := range c.Attempts {
		all = append(all, a.Sent)
	}
	return all
}

func TestOperationsOfATraceGetWhatWasRecorded(t *testing.T) {
	t.Parallel()
	recorded := trace.Trace{Given: trace.Given{Jitter: 1}, Start: seconds(10 * time.Second), Operations: []trace.Operation{
		{Start: seconds(12 * time.Second), Latency: seconds(100 * time.Millisecond), Responses: of("transient", "throttling", "success")},
		{Latency: seconds(50 * time.Millisecond), Responses: of("success")},
	}}

	got := playTrace(t, recorded, inStandardMode(standard.Config{}))

	require.Zero(t, got.Beyond)
	require.Equal(t, 2, got.Calls)
	require.Equal(t, 2*time.Second, got.Longest.Began)
	require.Equal(t, []time.Duration{2 * time.Second, 2150 * time.Millisecond, 4250 * time.Millisecond}, sent(got.Longest))
	require.Equal(t, 4400*time.Millisecond, got.Duration)
	require.Zero(t, got.FailedShare)
	require.InDelta(t, 2, got.AttemptsPerCall, 1e-9)
	require.InDelta(t, 0.25, got.ThrottledShare, 1e-9)
	require.InDelta(t, (50*time.Millisecond+2*time.Second).Seconds()/2, got.DelayPerCall, 1e-9)
	require.InDelta(t, 2/4.4, got.Goodput, 1e-9)
	require.Equal(t, 500-14-5, got.LowestQuota)
	require.Equal(t, []int{500, 500, 500 - 14 - 5, 500 - 14 - 5, 500 - 14 + 1}, quotas(got))
}

func quotas(r *sim.Result) (all []int) {
	for _, b := range r.Bins {
		all = append(all, b.Quota)
	}
	return all
}

func TestAttemptsBeyondATraceGetTheLastAnswerAgain(t *testing.T) {
	t.Parallel()
	more := inStandardMode(standard.Config{MaxAttempts: 5})
	for name, recorded := range map[string]trace.Trace{
		"operations": {Operations: []trace.Operation{{Responses: of("success")}, {Responses: of("transient", "throttling")}}},
		"steps":      {Steps: []trace.Step{step("A", "success"), step("B", "transient"), step("B", "throttling")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := playTrace(t, recorded, more)
			require.Equal(t, 3, got.Beyond)
			require.Equal(t, 2, got.Calls)
			require.InDelta(t, 0.5, got.FailedShare, 1e-9)
			require.InDelta(t, 3, got.AttemptsPerCall, 1e-9)
		})
	}
}

func TestStepsOfATraceAreTakenInTheirOrder(t *testing.T) {
	t.Parallel()
	recorded := trace.Trace{Given: trace.Given{Jitter: 1}, Steps: []trace.Step{
		step("A", "transient"), step("B", "throttling"), step("A", "success"), step("B", "success"), step("B", "client"),
	}}

	got := playTrace(t, recorded, inStandardMode(standard.Config{}))

	require.Zero(t, got.Beyond)
	require.Equal(t, 3, got.Calls, "a request that goes on after its success is another call")
	require.InDelta(t, 1.0/3, got.FailedShare, 1e-9)
	require.Equal(t, []time.Duration{0, time.Second}, sent(got.Longest))
	require.InDelta(t, 0.2, got.ThrottledShare, 1e-9)
}

func TestTracePlaysASendRate(t *testing.T) {
	t.Parallel()
	var recorded trace.Trace
	for range 20 {
		recorded.Operations = append(recorded.Operations,
			trace.Operation{Latency: seconds(10 * time.Millisecond), Responses: of("throttling", "success")})
	}

	got := playTrace(t, recorded, inAdaptiveMode(standard.Config{}))

	require.Equal(t, 20, got.Calls)
	last := got.Bins[len(got.Bins)-1]
	require.Positive(t, last.SendRate)
	waited := time.Duration(0)
	for _, a := range got.Longest.Attempts {
		waited += a.SendWait
	}
	require.Positive(t, waited)
	require.Equal(t, got.Longest.Waited(), got.Longest.Ended-got.Longest.Began-20*time.Millisecond)
}

// A call that may not wait for a send token makes no attempt. Its step is over all the same.
func TestTraceEndsIfCallsGiveUpBeforeTheirFirstAttempt(t *testing.T) {
	t.Parallel()
	impatient := inAdaptiveMode(standard.Config{})
	impatient.Deadline = 100 * time.Millisecond
	steps := slices.Repeat([]trace.Step{step("A", "throttling"), step("B", "success")}, 5)
	operations := slices.Repeat([]trace.Operation{{Responses: of("throttling", "success")}}, 5)
	for name, recorded := range map[string]trace.Trace{"steps": {Steps: steps}, "operations": {Operations: operations}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := playTrace(t, recorded, impatient)
			require.Zero(t, got.Beyond)
			require.Positive(t, got.Unused)
			sent := 0
			for _, b := range got.Bins {
				sent += b.Sent
			}
			require.Equal(t, 10, sent+got.Unused)
		})
	}
}

func TestEmptyTraceHasNoFigures(t *testing.T) {
	t.Parallel()
	got := playTrace(t, trace.Trace{}, inStandardMode(standard.Config{}))
	require.Zero(t, got.Beyond)
	require.Zero(t, got.Calls)
	for _, x := range []float64{got.Goodput, got.FailedShare, got.AttemptsPerCall, got.LatencyP50, got.DelayPerCall, got.Recover} {
		require.NotEqual(t, x, x, "NaN") //nolint:testifylint // NaN differs from itself
	}
	require.Equal(t, 500, got.LowestQuota)
}

func TestTraceReturnsTheErrorOfItsVariant(t *testing.T) {
	t.Parallel()
	_, err := sim.PlayTrace(new(trace.Trace), sim.Variant{New: func(sim.Parts) (retry.Strategy, error) { return nil, errors.New("no such strategy") }}, 0)
	require.EqualError(t, err, "no such strategy")
}

func TestOperationsWithAStartRunSideBySide(t *testing.T) {
	t.Parallel()
	slow := func(start time.Duration) trace.Operation {
		return trace.Operation{Start: seconds(start), Latency: seconds(10 * time.Second), Responses: of("success")}
	}
	recorded := trace.Trace{Given: trace.Given{Jitter: 1}, Operations: []trace.Operation{
		slow(time.Second), slow(2 * time.Second), {Latency: seconds(time.Second), Responses: of("success")}, slow(3 * time.Second),
	}}

	got := playTrace(t, recorded, inStandardMode(standard.Config{}))

	require.Equal(t, 4, got.Calls)
	require.Equal(t, 13*time.Second, got.Duration, "the one without a start comes after the one before it")
	require.InDelta(t, 10, got.LatencyMax, 1e-9)
	require.InDelta(t, 0.25, got.WithinShare, 1e-9, "one of the calls takes less than five seconds")
}

// What the log says last of an operation is what the service would have said to a retry.
func TestRetriesOfAnAccessLogGetWhatTheLogSaysLast(t *testing.T) {
	t.Parallel()
	row := func(name string, at time.Duration, status int) trace.Operation {
		return trace.Operation{
			Name: name, Start: seconds(at), Latency: seconds(10 * time.Millisecond), Responses: []trace.Response{{Status: status}},
		}
	}
	recorded := trace.Trace{Given: trace.Given{Jitter: 1}, Log: true, Start: seconds(time.Second), Operations: []trace.Operation{
		row("Get", time.Second, 503), row("Put", time.Second, 500), row("Get", time.Second+30*time.Millisecond, 200),
	}}

	got := playTrace(t, recorded, inStandardMode(standard.Config{}))

	require.Equal(t, 3, got.Calls)
	require.InDelta(t, 1.0/3, got.FailedShare, 1e-9, "Put fails for good, and the retry of Get is after the success of another Get")
	require.Equal(t, 3, got.Beyond)
}
