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
	for codes, want := range map[string]classify.Verdict{
		"BandwidthLimitExceeded EC2ThrottledException LimitExceededException PriorRequestNotComplete SlowDown Throttling " +
			"ProvisionedThroughputExceededException RequestLimitExceeded RequestThrottled RequestThrottledException " +
			"ThrottledException ThrottlingException TooManyRequestsException TransactionInProgressException": throttle,
		"RequestTimeout RequestTimeoutException com.amazon#RequestTimeout:http://x/#SlowDown": transient,
		"InternalError ServiceUnavailable RequestExpired RequestTimeTooSkewed Slowdown":       none,
		"com#amazon#SlowDown :SlowDown SlowDown#NoSuchKey com.amazon.SlowDown # :":            none,
	} {
		for code := range strings.FieldsSeq(codes) {
			require.Equal(t, want, classify.Code().Classify(classify.Outcome{Err: codeError(code)}), code)
		}
	}
	for _, code := range []string{"", " SlowDown", "SlowDown "} {
		require.Equal(t, none, classify.Code().Classify(classify.Outcome{Err: codeError(code)}), code)
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
		require.Equal(t, throttle, verdictOf(codeError(namespace+"#SlowDown:"+address)))
	})
}

func FuzzParseRetryAfterMillis(f *testing.F) {
	for _, value := range []string{
		"0", "1", "1500", "000010", "9223372036854", "9223372036855", "9223372036854775807", "9223372036854775808",
		strings.Repeat("0", 40) + "9223372036854775807", "18446744073709551615", "18446744073709551616", "1" + strings.Repeat("0", 400),
		"", " ", " 5", "5 ", "-0", "-1", "-99999999999999999999", "+1", "1.5", "1e3", "0x10", "1_000", "1,000", "٣", "NaN", "5ms",
		"9223372036855ms", "Wed, 21 Oct 2026 07:28:00 GMT", "5\x00", "184467440737095516160x", "99999999999999999999999-",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		after, ok := classify.ParseRetryAfterMillis(value)
		wantAfter, wantOK := exactMillis(value)
		require.Equal(t, wantOK, ok)
		require.Equal(t, wantAfter, after)
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
	chain := changed(t)(classify.Default().Replace("aws-code", code))
	for _, c := range []row{
		{"added", codeError("Busy"), transient},
		{"added, as on the wire", codeError("x#Busy:y"), transient},
		{"of two the later one", codeError("Odd"), timeout},
		{"changed", codeError("RequestTimeout"), throttle},
		{"taken away", codeError("SlowDown"), none},
		{"known before", codeError("Throttling"), throttle},
		{"put into the caller's map later", codeError("Late"), none},
		{"unknown", codeError("NoSuchKey"), none},
		{"a throttle stays one", errors.Join(statusError(429), codeError("Busy")), throttle},
		{"a throttle stays one below a built-in code", errors.Join(statusError(429), codeError("RequestTimeoutException")), throttle},
		{"taken away below a throttling status", errors.Join(statusError(429), codeError("SlowDown")), throttle},
	} {
		require.Equal(t, c.want, chain.Classify(classify.Outcome{Err: c.err}), c.name)
	}
	require.Equal(t, throttle, verdictOf(codeError("SlowDown")), "other classifiers know what they knew")
}

func TestStatusesCanBeReplaced(t *testing.T) {
	t.Parallel()
	statuses := []int{429, 500, 599}
	chain := changed(t)(classify.Default().Replace("http-status", classify.Status(statuses...)))
	statuses[1] = 404
	for status, want := range map[statusError]classify.Verdict{429: throttle, 500: transient, 599: transient, 404: none, 503: none} {
		require.Equal(t, want, chain.Classify(classify.Outcome{Err: status}), status)
	}
	require.Equal(t, none, classify.Status(503).Classify(classify.Outcome{Err: statusError(429)}))
}

func TestServicesThatResembleAWS(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]classify.Verdict{
		"ThrottledRequest": throttle, "TooManyRequest": throttle,
		"RateExceeded": throttle, "RateLimitExceeded": throttle, "SlowDownRead": throttle, "SlowDownWrite": throttle,
		"InternalError": transient, "InternalFailure": transient, "ServiceUnavailable": transient,
	} {
		o := classify.Outcome{Err: joinAnswer(400, code)}
		require.Equal(t, want, classify.AWSCompatible().Classify(o), code)
		require.Equal(t, none, classify.Default().Classify(o), code)
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
		got, ok := classify.CandidateSkew(sent, sent.Add(c.trip), c.date, c.cached)
		require.Equal(t, c.want, got, c.name)
		require.Equal(t, c.ok, ok, c.name)
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
			require.Equal(t, c.want, verdictOf(err) == skew, "%s, %v", how, c)
		}
	}
}

// unseenError is an answer without a Date.
type unseenError struct{ codeError }

func (unseenError) ClockSkew() (used, observed time.Duration, ok bool) { return 0, time.Hour, false }

func TestSkewCodes(t *testing.T) {
	t.Parallel()
	skewed := func(code string) error { return &skewedError{observed: time.Hour, err: codeError(code)} }
	added := []string{"RequestExpired"}
	chain := changed(t)(classify.Default().Replace("clock-skew", classify.Skew(added...)))
	added[0] = "ChangedLater"
	for _, c := range []row{
		{"other code, added", skewed("RequestExpired"), skew},
		{"no code, others added", skewed(""), none},
		{"built-in code, others added", skewed("AuthFailure"), skew},
	} {
		require.Equal(t, c.want, chain.Classify(classify.Outcome{Err: c.err}), c.name)
	}
	requireVerdicts(t, []row{
		{"signature", skewed("SignatureDoesNotMatch"), skew},
		{"invalid signature", skewed("InvalidSignatureException"), skew},
		{"access denied", skewed("AccessDeniedException"), skew},
		{"too skewed", skewed("RequestTimeTooSkewed"), skew},
		{"other code", skewed("RequestExpired"), none},
		{"without the clocks", codeError("AuthFailure"), none},
		{"no skew seen", unseenError{"AuthFailure"}, none},
		{"a throttle stays one", errors.Join(statusError(429), skewed("AuthFailure")), throttle},
	})
}

func TestStatusOfEveryNumber(t *testing.T) {
	t.Parallel()
	got := map[int]classify.Verdict{}
	for status := -1; status <= 1000; status++ {
		if v := classify.Status().Classify(classify.Outcome{Err: statusError(status)}); v != none {
			got[status] = v
		}
	}
	want := map[int]classify.Verdict{429: throttle}
	for _, status := range []int{500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530} {
		want[status] = transient
	}
	require.Equal(t, want, got)
}
