package promretry_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/retry"
)

func TestAttemptsHaveKindAndErrorType(t *testing.T) {
	t.Parallel()
	metrics := observed(t, retry.AttemptEnded, []retry.Event{
		{Operation: getItem},
		{Err: apiError("ThrottlingException"), Verdict: classify.RetryAs(classify.Throttling)},
		{Err: apiError("ThrottlingException"), Verdict: classify.RetryAs(classify.Throttling)},
		{Err: apiError("no code"), Verdict: classify.RetryAs(classify.Transient)},
		{Err: errors.New("x"), Verdict: classify.RetryAs(classify.Timeout)},
		{Err: apiError("InternalFailure"), Verdict: classify.RetryAs(classify.Server)},
		{Err: apiError("RequestExpired"), Verdict: classify.RetryAs(classify.ClockSkew)},
		{Err: apiError("AccessDenied")},
		{Err: errors.New("x")},
		{Err: (*apiError)(nil)},                      // its methods panic
		{Verdict: classify.RetryAs(classify.Server)}, // a success, whatever the verdict is
	}...)
	require.Equal(t, []string{
		`attempts_total{kind="clock_skew",error_type="RequestExpired"} 1`,
		`attempts_total{kind="none",error_type="AccessDenied"} 1`,
		`attempts_total{kind="none",error_type="_OTHER"} 2`,
		`attempts_total{kind="ok"} 1`,
		`attempts_total{kind="ok",cloud_region="eu-central-1",rpc_method="GetItem",rpc_service="dynamodb"} 1`,
		`attempts_total{kind="server",error_type="InternalFailure"} 1`,
		`attempts_total{kind="throttling",error_type="ThrottlingException"} 2`,
		`attempts_total{kind="timeout",error_type="timeout"} 1`,
		`attempts_total{kind="transient",error_type="transient"} 1`,
	}, series(t, metrics, "attempts_total{"))
}

// aboutTableError is a throttle that says which limit it is about.
type aboutTableError struct{ reasons []classify.Reason }

func (aboutTableError) Error() string { return "throttled" }

func (aboutTableError) ErrorCode() string { return "LimitExceededException" }

func (e aboutTableError) ThrottledBy() []classify.Reason { return e.reasons }

func TestThrottlesHaveTheReachAndTheNameOfTheirLimit(t *testing.T) {
	t.Parallel()
	hot := classify.Reason{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"}
	var events []retry.Event
	for _, c := range []struct {
		service string
		reasons []classify.Reason
	}{
		{"dynamodb", nil},
		{"dynamodb", []classify.Reason{hot}},
		{"dynamodb", []classify.Reason{hot}},
		{"dynamodb", []classify.Reason{hot, {Reach: classify.ReachScope, Quota: "L-1"}}},
		{"dynamodb", []classify.Reason{{Word: "no name"}}},
		{"cloudwatch logs", nil},
	} {
		err := aboutTableError{c.reasons}
		events = append(events, retry.Event{
			Operation: retry.Operation{Service: c.service}, Err: err,
			Verdict: classify.Default().Classify(classify.Outcome{Err: err, Service: c.service}),
		})
	}
	require.Equal(t, []string{
		`throttles_total{limit="L-1",reach="scope",rpc_service="dynamodb"} 1`,
		`throttles_total{limit="TableReadKeyRangeThroughputExceeded",reach="part",rpc_service="dynamodb"} 2`,
		`throttles_total{limit="_OTHER",reach="unknown",rpc_service="dynamodb"} 1`,
		`throttles_total{reach="hard_quota",rpc_service="cloudwatch logs"} 1`,
		`throttles_total{reach="unknown",rpc_service="dynamodb"} 1`,
	}, sorted(series(t, observed(t, retry.AttemptEnded, events...), "throttles_total{")))
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

func TestEntriesThrottledInsideOfASuccessAreCounted(t *testing.T) {
	t.Parallel()
	metrics := observed(t, retry.AttemptEnded,
		retry.Event{Entries: 25}, retry.Event{Entries: 25, EntriesThrottled: 3}, retry.Event{EntriesThrottled: 1})
	require.Equal(t, []string{"entries_throttled_total 4"}, series(t, metrics, "entries_throttled_total"))
}

func TestDurationsLieInTheBucketsThatTheyDoNotExceed(t *testing.T) {
	t.Parallel()
	var events []retry.Event
	for _, d := range []time.Duration{-time.Hour, 0, 5 * time.Millisecond, 5*time.Millisecond + 1, 75 * time.Millisecond, 2 * time.Minute, time.Hour} {
		events = append(events, retry.Event{Delay: d})
	}
	metrics := observed(t, retry.SendWaitEnded, events...)
	require.Equal(t, []string{"send_wait_seconds_sum 3720.085000001", "send_wait_seconds_count 7"}, series(t, metrics, "send_wait_seconds_"))
	requireBuckets(t, metrics, "send_wait_seconds", "0.005 3|0.01 4|0.025 4|0.05 4|0.075 5|0.1 5|0.25 5|0.5 5|0.75 5|1 5|2.5 5|5 5|"+
		"7.5 5|10 5|20 5|30 5|60 5|120 6|+Inf 7")
}

func requireBuckets(t *testing.T, metrics *promretry.Metrics, name, want string) {
	t.Helper()
	var got []string
	for _, line := range series(t, metrics, name+"_bucket") {
		got = append(got, strings.Replace(strings.TrimPrefix(line, name+`_bucket{le="`), `"}`, "", 1))
	}
	require.Equal(t, strings.Split(want, "|"), got)
}

func TestOnlyOperationsWithARetryHaveRetriesAndOnlyThoseThatWaitedHaveADelay(t *testing.T) {
	t.Parallel()
	metrics := observed(t, retry.OperationEnded, []retry.Event{
		{}, // no attempt was made
		{Attempt: math.MinInt},
		{Attempt: 1}, // no retry
		{Attempt: 1, SendWait: time.Hour},
		{Attempt: 1, BackoffWait: time.Second, Reason: retry.ErrQuotaExhausted}, // slowed down, then refused
		{Attempt: 3, BackoffWait: 2 * time.Second, QuotaWait: 3 * time.Second},
		{Attempt: 2},   // without a backoff
		{Attempt: 100}, // more than the last bucket
	}...)
	require.Equal(t, []string{
		"call_retries_sum 102", "call_retries_count 3", "call_retry_delay_seconds_sum 6", "call_retry_delay_seconds_count 4",
	}, series(t, metrics, "call_retr"))
	requireBuckets(t, metrics, "call_retries", "1 1|2 2|3 2|4 2|5 2|10 2|+Inf 3")
}

func TestOutcomesAndReasonsAreWords(t *testing.T) {
	t.Parallel()
	rule := fmt.Errorf("%w: %w", retry.ErrNotRetryable, errors.New("the body cannot be sent again"))
	var events []retry.Event
	for _, reason := range []error{
		retry.ErrAttemptsExhausted, fmt.Errorf("%w: %w", retry.ErrQuotaExhausted, retry.ErrDebtLimit), retry.ErrQuotaExhausted, retry.ErrQuotaExhausted, rule, errors.New("reason of a stranger"),
	} {
		events = append(events, retry.Event{Reason: reason, Elapsed: time.Second})
	}
	words := []string{`="attempts"} 1`, `="debt_limit"} 1`, `="other"} 1`, `="quota"} 2`, `="rule"} 1`}
	refused := series(t, observed(t, retry.RetryRefused, events...), "retries_refused_total")
	ended := series(t, observed(t, retry.OperationEnded, events...), "call_duration_seconds_count")
	for i, word := range words {
		require.Equal(t, "retries_refused_total{reason"+word, refused[i])
		require.Equal(t, "call_duration_seconds_count{outcome"+word, ended[i])
	}
}

// Texts with the same lengths and the same first letter share a place in which find looks.
func TestOperationsThatLookAlikeAreCountedApart(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	operations := []retry.Operation{
		{Service: "sqs", Name: "Get", Region: "a"},
		{Service: "sns", Name: "Get", Region: "a"},
		{Service: "sns", Name: "Got", Region: "a"},
		{Service: "sns", Name: "Got", Region: "b"},
		{Service: "s", Name: "nsGot", Region: "b"},
		{Service: "sns", Name: "Gotb"},
	}
	for round := range 3 {
		for _, op := range operations {
			metrics.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Operation: op, Elapsed: time.Duration(round)})
		}
	}
	got := series(t, metrics, "call_duration_seconds_count{")
	require.Len(t, got, len(operations))
	for _, line := range got {
		require.True(t, strings.HasSuffix(line, "} 3"), line)
	}
}

func TestTextsThatCannotBeLabelsAreMended(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	for _, op := range []retry.Operation{
		{Service: "\xff", Name: "a\xc3", Region: "eu\x00"},
		{Service: "\uFFFD", Name: "a\xc4", Region: "eu\x00"}, // the same once it is text
		{Name: strings.Repeat("n", 100_000)},
		{Name: strings.Repeat("n", 100_001)}, // the same once it is cut
	} {
		metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Operation: op})
		metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Operation: op, Err: apiError("\xff")})
	}
	long := strings.Repeat("n", 200)
	require.Equal(t, []string{
		`attempts_total{kind="none",error_type="_OTHER",rpc_method="` + long + `"} 2`,
		"attempts_total{kind=\"none\",cloud_region=\"eu\x00\",error_type=\"_OTHER\",rpc_method=\"a\uFFFD\",rpc_service=\"\uFFFD\"} 2",
		`attempts_total{kind="ok",rpc_method="` + long + `"} 2`,
		"attempts_total{kind=\"ok\",cloud_region=\"eu\x00\",rpc_method=\"a\uFFFD\",rpc_service=\"\uFFFD\"} 2",
	}, series(t, metrics, "attempts_total{"))
}

func TestNoEventPanicsOrBreaksAScrape(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	for kind := range retry.EventKind(255) {
		for _, e := range []retry.Event{
			{},
			{Elapsed: -1, BackoffWait: -1, QuotaWait: -1, SendWait: -1, Delay: -1, Attempt: -1 << 62},
			{Elapsed: 1<<63 - 1, BackoffWait: 1<<63 - 1, QuotaWait: 1, Delay: 1<<63 - 1, Attempt: 1<<62 - 1},
			{Err: errors.Join(), Reason: errors.Join(errors.New("x"), nil)},
			{Err: apiError(""), Verdict: classify.RetryAs(250)},
		} {
			e.Kind = kind
			require.NotPanics(t, func() { metrics.Observe(t.Context(), e) })
		}
	}
	for _, line := range series(t, metrics, "") {
		require.NotContains(t, line, "} -", "a sum went down")
	}
}

func TestObserveAllocatesNothingOnceTheSeriesAreThere(t *testing.T) {
	metrics := promretry.New(promretry.Config{})
	throttled := retry.Event{Err: apiError("SlowDown"), Verdict: classify.RetryAs(classify.Throttling), Reason: retry.ErrQuotaExhausted, Attempt: 2}
	for name, e := range map[string]retry.Event{"success": {Attempt: 1}, "failure": throttled} {
		e.Operation = getItem
		require.Zero(t, testing.AllocsPerRun(100, func() {
			for kind := range retry.OperationEnded + 1 {
				e.Kind = kind
				metrics.Observe(t.Context(), e)
			}
		}), name)
	}
}

func TestServicesAreSpelledAsTheSDKsDo(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{SDKServices: true})
	key := retry.ScopeKey{Service: "secrets manager"}
	require.NoError(t, metrics.Watch(show(t, retry.ScopeSnapshot{Key: key, Scope: key.String()})))
	for range 2 {
		for _, service := range []string{"dynamodb", "of mine", ""} {
			op := retry.Operation{Service: service, Name: "Call"}
			metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Operation: op})
			metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Operation: op, Err: apiError("X")})
		}
	}
	require.Equal(t, []string{
		`attempts_total{kind="none",error_type="X",rpc_method="Call"} 2`,
		`attempts_total{kind="none",error_type="X",rpc_method="Call",rpc_service="DynamoDB"} 2`,
		`attempts_total{kind="none",error_type="X",rpc_method="Call",rpc_service="of mine"} 2`,
		`attempts_total{kind="ok",rpc_method="Call"} 2`,
		`attempts_total{kind="ok",rpc_method="Call",rpc_service="DynamoDB"} 2`,
		`attempts_total{kind="ok",rpc_method="Call",rpc_service="of mine"} 2`,
	}, series(t, metrics, "attempts_total{"))
	require.Contains(t, series(t, metrics, "quota_available{")[0], `rpc_service="Secrets Manager"`)
}
