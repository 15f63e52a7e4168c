package otelretry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

func TestMergedMethodHasTheServiceInTheMethod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op   retry.Operation
		want string
	}{
		"all":        {getItem, "{awsretry.outcome=success cloud.region=eu-central-1 rpc.method=dynamodb/GetItem}"},
		"no name":    {retry.Operation{Service: "s3"}, "{awsretry.outcome=success rpc.method=s3/}"},
		"no service": {retry.Operation{Name: "GET"}, "{awsretry.outcome=success rpc.method=GET}"},
		"nothing":    {retry.Operation{}, "{awsretry.outcome=success}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, config := newReader()
			config.MergedMethod = true
			telemetry := newTelemetry(t, config)
			telemetry.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Operation: c.op})
			require.NoError(t, telemetry.Watch(newStrategy(t)))
			metrics := collect(t, reader)
			require.Equal(t, []string{c.want + " count 1 sum 0: 1 to 0.005"}, figures(t, metrics, "awsretry.call.duration"))
			require.Equal(t, []string{"{awsretry.scope=(all)} 500"}, figures(t, metrics, "awsretry.quota.available"))
		})
	}
}

func TestServicesAreSpelledAsTheSDKsDo(t *testing.T) {
	t.Parallel()
	for merged, want := range map[bool]string{
		false: "{awsretry.outcome=success rpc.method=GetItem rpc.service=DynamoDB}", true: "{awsretry.outcome=success rpc.method=DynamoDB/GetItem}",
	} {
		reader, config := newReader()
		config.SDKServices, config.MergedMethod = true, merged
		telemetry := newTelemetry(t, config)
		require.NoError(t, telemetry.Watch(show(t, "orders")))
		op := retry.Operation{Service: "dynamodb", Name: "GetItem"}
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Operation: op})
		metrics := collect(t, reader)
		require.Contains(t, figures(t, metrics, "awsretry.call.duration")[0], want)
		require.Equal(t, !merged, strings.Contains(figures(t, metrics, "awsretry.quota.available")[0], "rpc.service=DynamoDB"))
	}
}

// A call that waited for retry quota and then got no retry has a delay all the same.
func TestACallWithAWaitHasARetryDelay(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	for _, e := range []retry.Event{
		{Attempt: 1},
		{Attempt: 1, QuotaWait: 2 * time.Second, Reason: retry.ErrCanceled},
		{Attempt: 3, BackoffWait: time.Second, QuotaWait: time.Second},
		{Attempt: 2}, // the retry came at once
	} {
		e.Kind = retry.OperationEnded
		telemetry.Observe(t.Context(), e)
	}
	metrics := collect(t, reader)
	require.Equal(t, []string{"{} count 2 sum 3: 1 to 1 1 to 2"}, figures(t, metrics, "awsretry.call.retries"))
	require.Equal(t, []string{"{} count 3 sum 4: 1 to 0.005 2 to 2.5"}, figures(t, metrics, "awsretry.call.retry_delay"))
	require.Equal(t, []string{
		"{awsretry.outcome=canceled} count 1 sum 0: 1 to 0.005", "{awsretry.outcome=success} count 3 sum 0: 3 to 0.005",
	}, figures(t, metrics, "awsretry.call.duration"))
}

func TestAnAttemptCountsByKindAndErrorType(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	for range 2 {
		for kind := range classify.ClockSkew + 2 {
			telemetry.Observe(t.Context(), retry.Event{
				Kind: retry.AttemptEnded, Err: errors.New("no code"), Verdict: classify.RetryAs(kind), Elapsed: time.Second,
			})
		}
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Err: serviceError("Busy")})
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Err: (*serviceError)(nil)}) // its methods panic
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Elapsed: time.Second})
	}
	metrics := collect(t, reader)
	require.Equal(t, []string{
		"{awsretry.kind=client error.type=client} 2",
		"{awsretry.kind=clock_skew error.type=clock_skew} 2",
		"{awsretry.kind=none error.type=Busy} 2",
		"{awsretry.kind=none error.type=_OTHER} 4",
		"{awsretry.kind=ok} 2",
		"{awsretry.kind=server error.type=server} 2",
		"{awsretry.kind=throttling error.type=throttling} 2",
		"{awsretry.kind=timeout error.type=timeout} 2",
		"{awsretry.kind=transient error.type=transient} 2",
		"{awsretry.kind=unknown error.type=unknown} 2",
	}, figures(t, metrics, "awsretry.attempts"))
	require.Contains(t, figures(t, metrics, "awsretry.attempt.duration"), "{awsretry.kind=none} count 6 sum 2: 4 to 0.005 2 to 1")
}

// aboutTableError is a throttle that says which limit it is about.
type aboutTableError struct{ reasons []classify.Reason }

func (aboutTableError) Error() string { return "throttled" }

func (aboutTableError) ErrorCode() string { return "LimitExceededException" }

func (e aboutTableError) ThrottledBy() []classify.Reason { return e.reasons }

func TestThrottlesHaveTheReachAndTheNameOfTheirLimit(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	for _, c := range []struct {
		service string
		reasons []classify.Reason
	}{
		{"dynamodb", nil},
		{"dynamodb", []classify.Reason{{Reach: classify.ReachPart, Word: "Hot"}}},
		{"dynamodb", []classify.Reason{{Word: "no name"}}},
		{"cloudwatch logs", nil},
	} {
		err := aboutTableError{c.reasons}
		telemetry.Observe(t.Context(), retry.Event{
			Kind: retry.AttemptEnded, Err: err,
			Verdict: classify.Default().Classify(classify.Outcome{Err: err, Service: c.service}),
		})
	}
	require.Equal(t, []string{
		"{awsretry.limit=Hot awsretry.reach=part} 1",
		"{awsretry.limit=_OTHER awsretry.reach=unknown} 1",
		"{awsretry.reach=hard_quota} 1",
		"{awsretry.reach=unknown} 1",
	}, figures(t, collect(t, reader), "awsretry.throttles"))
}

func TestEntriesThrottledInsideOfASuccessAreCounted(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	for _, n := range []int{0, 3, 2} {
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, EntriesThrottled: n, Entries: 25})
	}
	require.Equal(t, []string{"{} 5"}, figures(t, collect(t, reader), "awsretry.entries.throttled"))
}

func TestNoEventIsTooOdd(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	for kind := range retry.OperationEnded + 3 {
		telemetry.Observe(t.Context(), retry.Event{Kind: kind})
		telemetry.Observe(nil, retry.Event{Kind: kind}) //nolint:staticcheck // a context that a strategy never gives
		telemetry.Observe(t.Context(), retry.Event{
			Kind: kind, Attempt: -7, Delay: -1, Elapsed: -1, BackoffWait: -1, QuotaWait: -1, Quota: -1, Reason: errors.New("odd"),
			Err: errors.Join(nil, context.Canceled), Operation: retry.Operation{Service: "\xff", Name: "\xff", Region: strings.Repeat("x", 201)},
		})
	}
	metrics, long := collect(t, reader), strings.Repeat("x", 200)
	require.Equal(t, []string{
		"{awsretry.kind=none cloud.region=" + long + " error.type=_OTHER rpc.method=\uFFFD rpc.service=\uFFFD} 1", "{awsretry.kind=ok} 2",
	}, figures(t, metrics, "awsretry.attempts"))
	require.Equal(t, []string{
		"{awsretry.outcome=other cloud.region=" + long + " rpc.method=\uFFFD rpc.service=\uFFFD} count 1 sum 0: 1 to 0.005",
		"{awsretry.outcome=success} count 2 sum 0: 2 to 0.005",
	}, figures(t, metrics, "awsretry.call.duration"))
}

func TestCombinationsOfLateAreOther(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	odd := retry.Event{Kind: retry.SendWaitEnded, Operation: retry.Operation{Name: "\xff"}}
	telemetry.Observe(t.Context(), odd)
	for i := range 1100 {
		op := retry.Operation{Service: "dynamodb", Name: fmt.Sprintf("Op%04d", i)}
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.SendWaitEnded, Operation: op})
		op.Resource = "orders" // not in the labels
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.SendWaitEnded, Operation: op})
	}
	telemetry.Observe(t.Context(), odd) // it has its place
	points := figures(t, collect(t, reader), "awsretry.send.wait")
	require.Len(t, points, 1001)
	require.Equal(t, "{cloud.region=_OTHER rpc.method=_OTHER rpc.service=_OTHER} count 202 sum 0: 202 to 0.005", points[0])
	require.Equal(t, "{rpc.method=Op0998 rpc.service=dynamodb} count 2 sum 0: 2 to 0.005", points[999])
	require.Equal(t, "{rpc.method=\uFFFD} count 2 sum 0: 2 to 0.005", points[1000])
}

func TestMergedCombinationsOfLateAreOther(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	config.MergedMethod = true
	telemetry := newTelemetry(t, config)
	for i := range 1001 {
		telemetry.Observe(t.Context(), retry.Event{
			Kind: retry.SendWaitEnded, Operation: retry.Operation{Service: "dynamodb", Name: fmt.Sprintf("Op%04d", i)},
		})
	}
	require.Equal(t, "{cloud.region=_OTHER rpc.method=_OTHER} count 1 sum 0: 1 to 0.005",
		figures(t, collect(t, reader), "awsretry.send.wait")[0])
}

func TestErrorCodesOfLateAreOther(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	for range 2 {
		for i := range 250 {
			telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Err: serviceError(fmt.Sprintf("Code%03d", i))})
		}
	}
	timeout := retry.Event{Kind: retry.AttemptEnded, Err: errors.New("late"), Verdict: classify.RetryAs(classify.Timeout)}
	telemetry.Observe(t.Context(), timeout) // a kind needs no place
	points := figures(t, collect(t, reader), "awsretry.attempts")
	require.Len(t, points, 202)
	require.Equal(t, "{awsretry.kind=none error.type=Code199} 2", points[199])
	require.Equal(t, "{awsretry.kind=none error.type=_OTHER} 100", points[200])
	require.Equal(t, "{awsretry.kind=timeout error.type=timeout} 1", points[201])
}

// Operations that are new at the same time get their places once.
func TestNewCombinationsConcurrentSafe(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for n := range 1200 {
				telemetry.Observe(context.Background(), retry.Event{
					Kind: retry.OperationEnded, Operation: retry.Operation{Name: time.Duration(n).String()}, Elapsed: time.Second,
				})
			}
		})
	}
	group.Wait()
	metrics := collect(t, reader)
	require.Equal(t, 8*1200, sum(t, metrics["awsretry.call.duration"].Data))
	require.Len(t, figures(t, metrics, "awsretry.call.duration"), 1001)
}
