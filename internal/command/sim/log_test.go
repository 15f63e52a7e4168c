//go:build !race

package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/trace"
	"github.com/awsretry/awsretry/modes/standard"
)

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
