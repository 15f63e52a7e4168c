package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

// Each error of awsretry is printed, by itself and in a log, and read again.
func TestWhyReadsEachErrorAgain(t *testing.T) {
	t.Parallel()
	for _, e := range ends() {
		err := &retry.Error{Reason: e.reason, Attempts: 2, MaxAttempts: 3, Last: errors.New("https response error StatusCode: 503, RequestID: 7, api error SlowDown: easy")}
		var logged bytes.Buffer
		retry.SlogObserver{Logger: slog.New(slog.NewTextHandler(&logged, nil))}.Observe(t.Context(), retry.Event{
			Kind: retry.RetryRefused, Reason: fmt.Errorf("%w", e.reason), Attempt: 2, Err: err.Last,
		})
		for _, text := range []string{err.Error(), logged.String(), "2026/11/28 call: " + err.Error() + "\n"} {
			out, errs, status := invoke(t, world(nil, nil), "why", "--json", text)
			require.Zero(t, status, errs)
			var answer whyAnswer
			require.NoError(t, json.Unmarshal([]byte(out), &answer))
			require.Contains(t, answer.Ended, e.ended, text)
			require.Equal(t, []string{"status 503 SlowDown", "retried as throttling"}, []string{answer.Last, answer.Verdict}, text)
			require.NotEmpty(t, answer.Do)
		}
	}
}

func TestWhyReadsErrorsOfTheSDK(t *testing.T) {
	t.Parallel()
	const sdk = "operation error DynamoDB: GetItem, "
	for text, want := range map[string][]string{
		sdk + "exceeded maximum number of attempts, 3, https response error StatusCode: 400, RequestID: A1, ThrottlingException: slow": {
			"All attempts", "max_attempts, which is 5 here: AWS_MAX_ATTEMPTS", "status 400 ThrottlingException: retried as throttling",
		},
		sdk + "https response error StatusCode: 500, RequestID: A1, api error InternalServerError: oh, failed to get rate limit token, retry quota exceeded, 4 available, 5 requested": {
			"The retry quota was empty", "status 500 InternalServerError: retried as", "observing.md#awsretryquotaempty",
		},
		sdk + "https response error StatusCode: 0, RequestID: , canceled, context deadline exceeded": {"The caller's context ended", "the text names none"},
		sdk + "failed to get retry Send token, context deadline exceeded":                            {"Adaptive mode held the attempt back", "retry_mode is standard here"},
		sdk + "https response error StatusCode: 400, RequestID: A1, ValidationException: no key":     {"nothing in the text says that a retry was refused", "ValidationException: not retried"},
	} {
		out, errs, status := invoke(t, world(nil, map[string]string{"AWS_MAX_ATTEMPTS": "5"}), "why", text)
		require.Zero(t, status, errs)
		require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 5)
		for _, part := range want {
			require.Contains(t, out, part, text)
		}
	}
	_, errs, status := invoke(t, world(nil, nil), "why", "no such file")
	require.Equal(t, exitBad, status)
	require.Contains(t, errs, "this is the text of no error of awsretry or of aws-sdk-go-v2")
	_, errs, status = invoke(t, world(nil, nil), "why")
	require.Equal(t, exitUsage, status)
	require.Contains(t, errs, "there is no text")
}
