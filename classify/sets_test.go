package classify_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

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
