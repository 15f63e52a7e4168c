package classify_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestCodes(t *testing.T) {
	t.Parallel()
	throttle, transient := classify.RetryAs(classify.Throttling), classify.RetryAs(classify.Transient)
	for code, want := range map[string]classify.Verdict{
		"BandwidthLimitExceeded":                 throttle,
		"EC2ThrottledException":                  throttle,
		"LimitExceededException":                 throttle,
		"PriorRequestNotComplete":                throttle,
		"ProvisionedThroughputExceededException": throttle,
		"RequestLimitExceeded":                   throttle,
		"RequestThrottled":                       throttle,
		"RequestThrottledException":              throttle,
		"SlowDown":                               throttle,
		"ThrottledException":                     throttle,
		"Throttling":                             throttle,
		"ThrottlingException":                    throttle,
		"TooManyRequestsException":               throttle,
		"TransactionInProgressException":         throttle,
		"RequestTimeout":                         transient,
		"RequestTimeoutException":                transient,
		"InternalError":                          {},
		"ServiceUnavailable":                     {},
		"RequestExpired":                         {},
		"RequestTimeTooSkewed":                   {},
		"CRC32CheckFailed":                       {},
		"Slowdown":                               {},
		" SlowDown":                              {},
		"SlowDown ":                              {},
		"":                                       {},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, classify.Code().Classify(classify.Outcome{Err: codeError(code)}))
		})
	}
}

func TestCodesLoseWhatTheWireAdds(t *testing.T) {
	t.Parallel()
	throttle, none := classify.RetryAs(classify.Throttling), classify.Verdict{}
	for _, c := range []struct {
		code string
		want classify.Verdict
	}{
		{"com.amazonaws.kinesis#SlowDown", throttle},
		{"SlowDown:http://internal.example/coral/", throttle},
		{"com.amazon#SlowDown:http://internal.example", throttle},
		{"com.amazon#SlowDown:http://x/#NoSuchKey", throttle},
		{"SlowDown:", throttle},
		{"#SlowDown", throttle},
		{"#SlowDown:", throttle},
		{"SlowDown:SlowDown#NoSuchKey", throttle},
		{"com.amazon#NoSuchKey:http://x/#SlowDown", none},
		{"SlowDown#NoSuchKey", none},
		{"NoSuchKey:SlowDown", none},
		{"NoSuchKey#", none},
		{"com#amazon#SlowDown", none},
		{":SlowDown", none},
		{"com.amazon.SlowDown", none},
		{"#", none},
		{":", none},
	} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, classify.Code().Classify(classify.Outcome{Err: codeError(c.code)}))
		})
	}
}

// FuzzCode puts something around a code that the wire formats could have put there.
func FuzzCode(f *testing.F) {
	f.Fuzz(func(t *testing.T, namespace, code, address string) {
		namespace = strings.NewReplacer("#", "", ":", "").Replace(namespace)
		code = strings.NewReplacer("#", "", ":", "").Replace(code)
		want := verdictOf(codeError(code))
		require.Equal(t, want, verdictOf(codeError(namespace+"#"+code)))
		require.Equal(t, want, verdictOf(codeError(code+":"+address)))
		require.Equal(t, want, verdictOf(codeError(namespace+"#"+code+":"+address)))
		throttle := codeError(namespace + "#SlowDown:" + address)
		require.Equal(t, classify.RetryAs(classify.Throttling), verdictOf(throttle))
	})
}

func TestParseRetryAfterMillis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value string
		after time.Duration
		ok    bool
	}{
		{"0", 0, true},
		{"1", time.Millisecond, true},
		{"1500", 1500 * time.Millisecond, true},
		{"000010", 10 * time.Millisecond, true},
		{"9223372036854", 9223372036854 * time.Millisecond, true},
		{"9223372036855", math.MaxInt64, true},
		{"9223372036854775807", math.MaxInt64, true},
		{strings.Repeat("0", 40) + "9223372036854775807", math.MaxInt64, true},
		{"9223372036854775808", 0, false},
		{"18446744073709551615", 0, false},
		{"18446744073709551616", 0, false},
		{"1" + strings.Repeat("0", 400), 0, false},
		{"", 0, false},
		{" ", 0, false},
		{" 5", 0, false},
		{"5 ", 0, false},
		{"-0", 0, false},
		{"-1", 0, false},
		{"-99999999999999999999", 0, false},
		{"+1", 0, false},
		{"1.5", 0, false},
		{"1e3", 0, false},
		{"0x10", 0, false},
		{"1_000", 0, false},
		{"1,000", 0, false},
		{"٣", 0, false},
		{"NaN", 0, false},
		{"5ms", 0, false},
		{"9223372036855ms", 0, false},
		{"Wed, 21 Oct 2026 07:28:00 GMT", 0, false},
		{"5\x00", 0, false},
		{"184467440737095516160x", 0, false},
		{"99999999999999999999999 ms", 0, false},
		{"99999999999999999999999-", 0, false},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Parallel()
			after, ok := classify.ParseRetryAfterMillis(c.value)
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.after, after)
		})
	}
}

func FuzzParseRetryAfterMillis(f *testing.F) {
	f.Fuzz(func(t *testing.T, value string) {
		after, ok := classify.ParseRetryAfterMillis(value)
		wantAfter, wantOK := exactMillis(value)
		require.Equal(t, wantOK, ok)
		require.Equal(t, wantAfter, after)
		require.GreaterOrEqual(t, after, time.Duration(0))
	})
}

// exactMillis reads decimal digits, and nothing else, as a signed 64-bit number.
func exactMillis(value string) (time.Duration, bool) {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return 0, false
	}
	nanoseconds, _ := new(big.Int).SetString(value, 10)
	if !nanoseconds.IsInt64() {
		return 0, false
	}
	nanoseconds.Mul(nanoseconds, big.NewInt(int64(time.Millisecond)))
	if !nanoseconds.IsInt64() {
		return math.MaxInt64, true
	}
	return time.Duration(nanoseconds.Int64()), true
}

func TestCodesCanBeAddedAndChanged(t *testing.T) {
	t.Parallel()
	first := classify.Codes{"Busy": classify.Transient, "SlowDown": classify.KindNone, "Odd": classify.Server}
	code := classify.Code(first, classify.Codes{"Odd": classify.Timeout, "RequestTimeout": classify.Throttling})
	first["Busy"], first["Late"] = classify.KindNone, classify.Transient
	throttle, none := classify.RetryAs(classify.Throttling), classify.Verdict{}
	for _, c := range []struct {
		name string
		err  error
		want classify.Verdict
	}{
		{"added", codeError("Busy"), classify.RetryAs(classify.Transient)},
		{"added, as on the wire", codeError("x#Busy:y"), classify.RetryAs(classify.Transient)},
		{"of two the later one", codeError("Odd"), classify.RetryAs(classify.Timeout)},
		{"changed", codeError("RequestTimeout"), throttle},
		{"taken away", codeError("SlowDown"), none},
		{"known before", codeError("Throttling"), throttle},
		{"put into the caller's map later", codeError("Late"), none},
		{"unknown", codeError("NoSuchKey"), none},
		{"a throttle stays one", errors.Join(statusError(429), codeError("Busy")), throttle},
		{"a throttle stays one below a built-in code", errors.Join(statusError(429), codeError("RequestTimeoutException")), throttle},
		{"taken away below a throttling status", errors.Join(statusError(429), codeError("SlowDown")), throttle},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, changed(t)(classify.Default().Replace("aws-code", code)).Classify(classify.Outcome{Err: c.err}))
		})
	}
	require.Equal(t, throttle, verdictOf(codeError("SlowDown")), "other classifiers know what they knew")
}

func TestStatusesCanBeReplaced(t *testing.T) {
	t.Parallel()
	statuses := []int{429, 500, 599}
	chain := changed(t)(classify.Default().Replace("http-status", classify.Status(statuses...)))
	statuses[1] = 404
	for status, want := range map[int]classify.Verdict{
		429: classify.RetryAs(classify.Throttling),
		500: classify.RetryAs(classify.Transient),
		599: classify.RetryAs(classify.Transient),
		404: {},
		503: {},
	} {
		require.Equal(t, want, chain.Classify(classify.Outcome{Err: statusError(status)}), status)
	}
	without := changed(t)(classify.Default().Replace("http-status", classify.Status(503)))
	require.Equal(t, classify.Verdict{}, without.Classify(classify.Outcome{Err: statusError(429)}))
}

func TestServicesThatResembleAWS(t *testing.T) {
	t.Parallel()
	throttle, transient := classify.RetryAs(classify.Throttling), classify.RetryAs(classify.Transient)
	for code, want := range map[string]classify.Verdict{
		"Throttled": throttle, "ThrottledRequest": throttle, "TooManyRequest": throttle, "TooManyRequests": throttle,
		"RateExceeded": throttle, "RateLimitExceeded": throttle, "SlowDownRead": throttle, "SlowDownWrite": throttle,
		"InternalError": transient, "InternalFailure": transient, "ServiceUnavailable": transient,
	} {
		o := classify.Outcome{Err: joinAnswer(400, code)}
		require.Equal(t, want, classify.AWSCompatible().Classify(o), code)
		require.Equal(t, classify.Verdict{}, classify.Default().Classify(o), code)
	}
	for _, err := range manyErrors() {
		o := classify.Outcome{Err: err, Service: "dynamodb"}
		require.Equal(t, classify.Default().Classify(o), classify.AWSCompatible().Classify(o), err)
	}
}

func TestCandidateSkew(t *testing.T) {
	t.Parallel()
	sent := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name   string
		trip   time.Duration
		date   time.Time
		cached bool
		want   time.Duration
		ok     bool
	}{
		{"clocks agree", 2 * time.Second, sent.Add(time.Second), false, 0, true},
		{"server ahead", 2 * time.Second, sent.Add(time.Hour), false, time.Hour - time.Second, true},
		{"server behind", 2 * time.Second, sent.Add(-time.Hour), false, -time.Hour - time.Second, true},
		{"in no time", 0, sent, false, 0, true},
		{"longest exchange", 15 * time.Minute, sent, false, -450 * time.Second, true},
		{"too long an exchange", 15*time.Minute + 1, sent, false, 0, false},
		{"clock set back meanwhile", -1, sent, false, 0, false},
		{"from a cache", 2 * time.Second, sent, true, 0, false},
		{"no date", 2 * time.Second, time.Time{}, false, 0, false},
		{"far in the past", 0, time.Unix(-1<<40, 0), false, math.MinInt64, true},
		{"far in the future", 0, time.Unix(1<<40, 0), false, math.MaxInt64, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ok := classify.CandidateSkew(sent, sent.Add(c.trip), c.date, c.cached)
			require.Equal(t, c.want, got)
			require.Equal(t, c.ok, ok)
		})
	}
}

func TestSkewsOfAnySize(t *testing.T) {
	t.Parallel()
	const limit = 4 * time.Minute
	for _, c := range []struct {
		used, observed time.Duration
		want           bool
	}{
		{0, limit, false},
		{0, limit + 1, true},
		{0, -limit, false},
		{0, -limit - 1, true},
		{math.MaxInt64, math.MaxInt64 - limit, false},
		{math.MaxInt64, math.MaxInt64 - limit - 1, true},
		{math.MinInt64, math.MaxInt64, true},
		{math.MaxInt64, math.MinInt64, true},
		{-1, math.MaxInt64, true},
		{math.MinInt64, math.MinInt64, false},
		{math.MinInt64, 0, true},
	} {
		for how, err := range wrappings(&skewedError{used: c.used, observed: c.observed, err: codeError("AuthFailure")}) {
			require.Equal(t, c.want, verdictOf(err) == classify.RetryAs(classify.ClockSkew), "%s, %v", how, c)
		}
	}
}

// unseenError is an answer without a Date.
type unseenError struct{ codeError }

func (unseenError) ClockSkew() (used, observed time.Duration, ok bool) { return 0, time.Hour, false }

func TestSkewCodes(t *testing.T) {
	t.Parallel()
	skewed := func(code string) error {
		return &skewedError{observed: time.Hour, err: codeError(code)}
	}
	skew, none := classify.RetryAs(classify.ClockSkew), classify.Verdict{}
	added := []string{"RequestExpired"}
	chain := changed(t)(classify.Default().Replace("clock-skew", classify.Skew(added...)))
	added[0] = "ChangedLater"
	for _, c := range []struct {
		name  string
		chain *classify.Chain
		err   error
		want  classify.Verdict
	}{
		{"signature", classify.Default(), skewed("SignatureDoesNotMatch"), skew},
		{"invalid signature", classify.Default(), skewed("InvalidSignatureException"), skew},
		{"access denied", classify.Default(), skewed("AccessDeniedException"), skew},
		{"other code", classify.Default(), skewed("RequestExpired"), none},
		{"other code, added", chain, skewed("RequestExpired"), skew},
		{"no code, others added", chain, skewed(""), none},
		{"built-in code, others added", chain, skewed("AuthFailure"), skew},
		{"without the clocks", classify.Default(), codeError("AuthFailure"), none},
		{"no skew seen", classify.Default(), unseenError{"AuthFailure"}, none},
		{"a throttle stays one", classify.Default(), errors.Join(statusError(429), skewed("AuthFailure")), classify.RetryAs(classify.Throttling)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.chain.Classify(classify.Outcome{Err: c.err}))
		})
	}
}

func TestStatusOfEveryNumber(t *testing.T) {
	t.Parallel()
	opinion := func(status int) classify.Verdict {
		return classify.Status().Classify(classify.Outcome{Err: statusError(status)})
	}
	got := map[int]classify.Verdict{}
	for status := -1; status <= 1000; status++ {
		if v := opinion(status); v != (classify.Verdict{}) {
			got[status] = v
		}
	}
	want := map[int]classify.Verdict{429: classify.RetryAs(classify.Throttling)}
	for _, status := range []int{500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530} {
		want[status] = classify.RetryAs(classify.Transient)
	}
	require.Equal(t, want, got)
	require.Equal(t, classify.Verdict{}, opinion(math.MaxInt))
	require.Equal(t, classify.Verdict{}, opinion(math.MinInt))
}
