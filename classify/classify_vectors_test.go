package classify_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

func TestDefaultChainFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Classification](t, "classification.json") {
		for _, c := range slices.Concat(file.ErrorCodes, file.StatusCodes, file.TransportKinds, file.Combinations, file.SkewDecisions) {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				t.Parallel()
				outcome := classify.Outcome{
					Err: failureOf(t, c), Service: c.Given.Service, CallerGone: vectors.CallerGone(c.Given.Transport),
				}
				require.Equal(t, c.Want, traitsOf(classify.Default().Classify(outcome)))
			})
		}
	}
}

func traitsOf(v classify.Verdict) vectors.Traits {
	return vectors.Traits{
		Retryable:  v.Retryable(),
		Throttling: v.Kind() == classify.Throttling,
		Timeout:    v.Kind() == classify.Timeout,
		Transient:  v.Kind() == classify.Transient || v.Kind() == classify.Timeout,
		ClockSkew:  v.Kind() == classify.ClockSkew,
	}
}

// failureOf returns the error that a client makes of the case.
func failureOf(t *testing.T, c vectors.Classified) error {
	t.Helper()
	var err error
	if c.Given.Status != 0 || c.Given.ErrorCode != "" {
		err = &vectors.ServiceError{Response: vectors.Response{Status: c.Given.Status, ErrorCode: c.Given.ErrorCode}}
	}
	if c.Given.Transport != "" {
		broken := &url.Error{Op: "Post", URL: "https://service.example/", Err: transportFailure(t, c.Given.Transport)}
		err = fmt.Errorf("call: %w", errors.Join(err, broken))
	}
	if c.Given.CandidateSkew != nil {
		err = &skewedError{
			used: vectors.Seconds(c.Given.AttemptSkew), observed: vectors.Seconds(*c.Given.CandidateSkew), err: err,
		}
	}
	switch c.Given.Modeled {
	case "":
		return err
	case "retryable":
		return errors.Join(err, yes)
	case "throttling":
		return errors.Join(err, throttlingError(true))
	case "not_retryable":
		return errors.Join(err, no)
	default:
		t.Fatalf("unknown model %q", c.Given.Modeled)
		return nil
	}
}

// TestSkewIsObservedAndRemembered does what an adapter does with the skew: it signs
// with what it remembers, learns from every answer, and retries what the default
// chain says.
func TestSkewIsObservedAndRemembered(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Classification](t, "classification.json") {
		for _, sequence := range file.SkewSequences {
			t.Run(title+"/"+sequence.ID, func(t *testing.T) {
				t.Parallel()
				skew := vectors.Seconds(sequence.Operations[0].InitialSkew)
				for _, operation := range sequence.Operations {
					require.Equal(t, vectors.Seconds(operation.InitialSkew), skew)
					require.Equal(t, operation.Outcome, perform(t, operation, &skew))
					require.Equal(t, vectors.Seconds(operation.Skew), skew)
				}
			})
		}
	}
}

// perform makes the attempts of an operation, each of which has to be the last one
// exactly if it succeeds, is not to be retried, or is the last one allowed.
func perform(t *testing.T, operation vectors.SkewOperation, skew *time.Duration) (outcome string) {
	t.Helper()
	limit := 3
	if operation.MaxAttempts != nil {
		limit = *operation.MaxAttempts
	}
	for i, attempt := range operation.Attempts {
		require.Equal(t, vectors.Seconds(attempt.Signing), vectors.Seconds(attempt.Sent)+*skew)
		verdict := verdictOfAttempt(attempt, skew)
		require.Equal(t, attempt.Skewed, verdict.Kind() == classify.ClockSkew, verdict)
		again := verdict.Retryable() && i+1 < limit
		require.Equal(t, i+1 < len(operation.Attempts), again, "attempt %d: %v", i+1, verdict)
		outcome = "success"
		if attempt.Failed() {
			outcome = "error"
		}
	}
	return outcome
}

// verdictOfAttempt judges an attempt that was signed with the skew, and puts the one
// that it observes in its place.
func verdictOfAttempt(a vectors.SkewAttempt, skew *time.Duration) classify.Verdict {
	at := func(seconds float64) time.Time { return time.Unix(1e9, 0).Add(vectors.Seconds(seconds)) }
	var date time.Time
	if a.Date != nil {
		date = at(*a.Date)
	}
	var err error
	if a.Failed() {
		err = &vectors.ServiceError{Response: vectors.Response{Status: a.Status, ErrorCode: a.ErrorCode}}
	}
	if observed, ok := classify.CandidateSkew(at(a.Sent), at(a.Received), date, a.Cached); ok {
		if err != nil {
			err = &skewedError{used: *skew, observed: observed, err: err}
		}
		*skew = observed
	}
	return verdictOf(err)
}

func TestLimitsOfClockSkewFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Classification](t, "classification.json") {
		limits := file.ClockSkew
		if limits == nil {
			continue // without constants
		}
		threshold, trip := vectors.Seconds(limits.DetectionThreshold), vectors.Seconds(limits.MaxTrustedTrip)
		for more, skewed := range map[time.Duration]bool{0: false, 1: true} {
			err := &skewedError{observed: threshold + more, err: codeError("AuthFailure")}
			require.Equal(t, skewed, verdictOf(err) == skew, "%s: threshold and %v", title, more)
			sent := time.Unix(1e9, 0)
			_, trusted := classify.CandidateSkew(sent, sent.Add(trip+more), sent, false)
			require.Equal(t, !skewed, trusted, "%s: longest exchange and %v", title, more)
		}
	}
}

// errRefusedStream is what TestFailuresOfHTTP2InGo126 gets of net/http.
var errRefusedStream = errors.New("http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM; " +
	"received from peer] after Request.Body was written; define Request.GetBody to avoid this error")

func transportFailure(t *testing.T, kind string) error {
	t.Helper()
	if kind == "http2_refused_stream" {
		return errRefusedStream
	}
	failure := vectors.TransportError(kind)
	require.Error(t, failure, "unknown kind of transport failure %q", kind)
	return failure
}
