package promretry_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/retry"
)

// only compares the metrics of one name with the lines that come after HELP and TYPE.
func only(t *testing.T, metrics *promretry.Metrics, name, help, kind string, lines ...string) {
	t.Helper()
	want := fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n%s\n", name, help, name, kind, strings.Join(lines, "\n"))
	require.NoError(t, testutil.GatherAndCompare(registryOf(t, metrics), strings.NewReader(want), name))
}

func TestAttemptsHaveKindAndErrorType(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	for _, e := range []retry.Event{
		{},
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
	} {
		e.Kind, e.Operation = retry.AttemptEnded, getItem
		metrics.Observe(t.Context(), e)
	}
	line := func(kind, errorType string, count int) string {
		return fmt.Sprintf(`awsretry_attempts_total{awsretry_kind=%q,cloud_region="eu-central-1",error_type=%q,`+
			`rpc_method="GetItem",rpc_service="dynamodb"} %d`, kind, errorType, count)
	}
	only(t, metrics, "awsretry_attempts_total",
		"Attempts that ended, by the kind of the failure and the error code.", "counter",
		line("clock_skew", "RequestExpired", 1),
		line("none", "AccessDenied", 1),
		line("none", "_OTHER", 2),
		line("ok", "", 2),
		line("server", "InternalFailure", 1),
		line("throttling", "ThrottlingException", 2),
		line("timeout", "timeout", 1),
		line("transient", "transient", 1),
	)
}

// aboutTableError is a throttle that says which limit it is about.
type aboutTableError struct{ reasons []classify.Reason }

func (aboutTableError) Error() string { return "throttled" }

func (aboutTableError) ErrorCode() string { return "LimitExceededException" }

func (e aboutTableError) ThrottledBy() []classify.Reason { return e.reasons }

func TestThrottlesHaveTheReachAndTheNameOfTheirLimit(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	hot := classify.Reason{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"}
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
		metrics.Observe(t.Context(), retry.Event{
			Kind: retry.AttemptEnded, Operation: retry.Operation{Service: c.service}, Err: err,
			Verdict: classify.Default().Classify(classify.Outcome{Err: err, Service: c.service}),
		})
	}
	line := func(service, reach, limit string, count int) string {
		return fmt.Sprintf(`awsretry_throttles_total{awsretry_limit=%q,awsretry_reach=%q,cloud_region="",rpc_method="",rpc_service=%q} %d`,
			limit, reach, service, count)
	}
	only(t, metrics, "awsretry_throttles_total",
		"Attempts that were throttled, by how much the limit is about and its name.", "counter",
		line("cloudwatch logs", "hard_quota", "", 1),
		line("dynamodb", "part", hot.Word, 2),
		line("dynamodb", "scope", "L-1", 1),
		line("dynamodb", "unknown", "", 1),
		line("dynamodb", "unknown", "_OTHER", 1),
	)
}

func TestEntriesThrottledInsideOfASuccessAreCounted(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	for _, n := range []int{0, 3, 2} {
		metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Operation: getItem, EntriesThrottled: n, Entries: 25})
	}
	only(t, metrics, "awsretry_entries_throttled_total", "Entries of batches that were throttled inside of a success.", "counter",
		`awsretry_entries_throttled_total{cloud_region="eu-central-1",rpc_method="GetItem",rpc_service="dynamodb"} 5`)
}

func TestDurationsLieInTheBucketsThatTheyDoNotExceed(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	for _, d := range []time.Duration{-time.Hour, 0, 5 * time.Millisecond, 5*time.Millisecond + 1, 75 * time.Millisecond, 2 * time.Minute, time.Hour} {
		metrics.Observe(t.Context(), retry.Event{Kind: retry.SendWaitEnded, Delay: d})
	}
	var lines []string
	for _, bucket := range []string{
		"0.005 3", "0.01 4", "0.025 4", "0.05 4", "0.075 5", "0.1 5", "0.25 5", "0.5 5", "0.75 5", "1 5", "2.5 5", "5 5",
		"7.5 5", "10 5", "20 5", "30 5", "60 5", "120 6", "+Inf 7",
	} {
		le, count, _ := strings.Cut(bucket, " ")
		lines = append(lines, fmt.Sprintf(
			`awsretry_send_wait_seconds_bucket{cloud_region="",rpc_method="",rpc_service="",le=%q} %s`, le, count))
	}
	only(t, metrics, "awsretry_send_wait_seconds", "Time that an attempt waited for the send rate, if it had to wait.",
		"histogram", append(lines,
			`awsretry_send_wait_seconds_sum{cloud_region="",rpc_method="",rpc_service=""} 3720.085000001`,
			`awsretry_send_wait_seconds_count{cloud_region="",rpc_method="",rpc_service=""} 7`)...)
}

func TestOnlyOperationsWithARetryHaveRetriesAndOnlyThoseThatWaitedHaveADelay(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	for _, e := range []retry.Event{
		{}, // no attempt was made
		{Attempt: math.MinInt},
		{Attempt: 1}, // no retry
		{Attempt: 1, SendWait: time.Hour},
		{Attempt: 1, BackoffWait: time.Second, Reason: retry.ErrQuotaExhausted}, // slowed down, then refused
		{Attempt: 3, BackoffWait: 2 * time.Second, QuotaWait: 3 * time.Second},
		{Attempt: 2},   // without a backoff
		{Attempt: 100}, // more than the last bucket
	} {
		e.Kind = retry.OperationEnded
		metrics.Observe(t.Context(), e)
	}
	label := `{cloud_region="",rpc_method="",rpc_service=""}`
	require.Equal(t, []string{
		`awsretry_call_retries_sum` + label + ` 102`,
		`awsretry_call_retries_count` + label + ` 3`,
		`awsretry_call_retry_delay_seconds_sum` + label + ` 6`,
		`awsretry_call_retry_delay_seconds_count` + label + ` 4`,
	}, series(t, metrics, "awsretry_call_retr"))
	text := scrape(t, registryOf(t, metrics))
	for _, bucket := range []string{"1 1", "2 2", "3 2", "4 2", "5 2", "10 2", "+Inf 3"} {
		le, count, _ := strings.Cut(bucket, " ")
		require.Contains(t, text, fmt.Sprintf(
			`awsretry_call_retries_bucket{cloud_region="",rpc_method="",rpc_service="",le=%q} %s`, le, count))
	}
}

func TestOutcomesAndReasonsAreWords(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	rule := fmt.Errorf("%w: %w", retry.ErrNotRetryable, errors.New("the body cannot be sent again"))
	for _, reason := range []error{
		retry.ErrAttemptsExhausted, retry.ErrQuotaExhausted, retry.ErrQuotaExhausted, rule, errors.New("reason of a stranger"),
	} {
		metrics.Observe(t.Context(), retry.Event{Kind: retry.RetryRefused, Reason: reason})
		metrics.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Reason: reason, Elapsed: time.Second})
	}
	var want []string
	for _, word := range []string{"attempts 1", "other 1", "quota 2", "rule 1"} {
		word, count, _ := strings.Cut(word, " ")
		want = append(want, fmt.Sprintf(
			`awsretry_retries_refused_total{awsretry_reason=%q,cloud_region="",rpc_method="",rpc_service=""} %s`, word, count))
	}
	require.Equal(t, want, series(t, metrics, "awsretry_retries_refused_total"))
	for i, line := range want {
		want[i] = strings.NewReplacer("retries_refused_total", "call_duration_seconds_count", "reason", "outcome").Replace(line)
	}
	require.Equal(t, want, series(t, metrics, "awsretry_call_duration_seconds_count"))
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
	got := series(t, metrics, "awsretry_call_duration_seconds_count{")
	require.Len(t, got, len(operations))
	for _, op := range operations {
		require.Contains(t, got, fmt.Sprintf(
			`awsretry_call_duration_seconds_count{awsretry_outcome="success",cloud_region=%q,rpc_method=%q,rpc_service=%q} 3`,
			op.Region, op.Name, op.Service))
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
	require.Equal(t, []string{
		`awsretry_attempts_total{awsretry_kind="none",cloud_region="",error_type="_OTHER",rpc_method="` +
			strings.Repeat("n", 200) + `",rpc_service=""} 2`,
		"awsretry_attempts_total{awsretry_kind=\"none\",cloud_region=\"eu\x00\",error_type=\"_OTHER\"," +
			"rpc_method=\"a\uFFFD\",rpc_service=\"\uFFFD\"} 2",
		`awsretry_attempts_total{awsretry_kind="ok",cloud_region="",error_type="",rpc_method="` +
			strings.Repeat("n", 200) + `",rpc_service=""} 2`,
		"awsretry_attempts_total{awsretry_kind=\"ok\",cloud_region=\"eu\x00\",error_type=\"\"," +
			"rpc_method=\"a\uFFFD\",rpc_service=\"\uFFFD\"} 2",
	}, series(t, metrics, "awsretry_attempts_total{"))
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
	for _, line := range series(t, metrics, "awsretry_") {
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
	for _, service := range []string{"DynamoDB", "of mine", ""} {
		require.Contains(t, series(t, metrics, "awsretry_attempts_total{"),
			`awsretry_attempts_total{awsretry_kind="ok",cloud_region="",error_type="",rpc_method="Call",rpc_service="`+service+`"} 2`)
	}
	require.Len(t, series(t, metrics, "awsretry_attempts_total{"), 6)
	require.Contains(t, series(t, metrics, "awsretry_quota_available{")[0], `rpc_service="Secrets Manager"`)
}
