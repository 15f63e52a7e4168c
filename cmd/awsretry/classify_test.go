package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// classifying runs the command and returns its exit status and its output.
func classifying(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), append([]string{"classify"}, args...), system{out: &stdout, errs: &stderr, sources: world(nil, nil)})
	return status, stdout.String(), stderr.String()
}

func TestClassifyOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args string }{
		{"help", "-h"},
		{"nothing", ""},
		{"nothing-json", "--json"},
		{"throttle", "--status 503 --code SlowDown --header x-amz-retry-after=1500"},
		{"throttle-json", "--status 503 --code SlowDown --header x-amz-retry-after=1500 --json"},
		{"forbidden", "--status 503 --modeled not_retryable"},
		{"forbidden-json", "--status 503 --modeled not_retryable --json"},
		{"skew-json", "--status 403 --code RequestTimeTooSkewed --candidate-skew-s 300 --json"},
		{"transport", "--transport dns_not_found"},
		{"service", "--service dynamodb --status 400 --code ReplicatedWriteConflictException"},
		{"bad-status", "--status 503x"},
		{"bad-status-json", "--status 1000 --json"},
		{"bad-transport", "--transport broken"},
		{"bad-model", "--modeled maybe"},
		{"bad-header", "--header Retry-After"},
		{"bad-skew", "--candidate-skew-s NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			status, out, errs := classifying(t, strings.Fields(c.args)...)
			command := strings.TrimRight("awsretry classify "+c.args, " ")
			requireGolden(t, "classify-"+c.name, fmt.Sprintf("$ %s\n%s--- stderr\n%s--- exit %d\n", command, out, errs, status))
		})
	}
}

func TestClassifyHeaders(t *testing.T) {
	t.Parallel()
	seconds := func(s float64) *float64 { return &s }
	for _, c := range []struct {
		name string
		args []string
		want *float64
	}{
		{"none", nil, nil},
		{"milliseconds", []string{"--header", "x-amz-retry-after=250"}, seconds(0.25)},
		{"any case and spaces", []string{"--header", " X-Amz-Retry-After = 250 "}, seconds(0.25)},
		{"zero", []string{"--header", "x-amz-retry-after=0"}, seconds(0)},
		{"seconds", []string{"--header", "Retry-After=2"}, seconds(2)},
		{"the one of AWS counts first", []string{"--header", "Retry-After=2", "--header", "x-amz-retry-after=1"}, seconds(0.001)},
		{"the other one if that is no number", []string{"--header", "Retry-After=2", "--header", "x-amz-retry-after=soon"}, seconds(2)},
		{"the last of two", []string{"--header", "Retry-After=2", "--header", "Retry-After=3"}, seconds(3)},
		{"more than there is", []string{"--header", "Retry-After=99999999999999"}, seconds(9223372036.854775807)},
		{"more seconds than there are", []string{"--header", "Retry-After=99999999999"}, seconds(9223372036.854775807)},
		{"more seconds than there are numbers", []string{"--header", "Retry-After=9223372036854775808"}, seconds(9223372036.854775807)},
		{"more milliseconds than there are numbers", []string{"--header", "x-amz-retry-after=9223372036854775808"}, nil},
		{"negative", []string{"--header", "x-amz-retry-after=-1"}, nil},
		{"a date", []string{"--header", "Retry-After=Wed, 21 Oct 2026 07:28:00 GMT"}, nil},
		{"an equals sign in the value", []string{"--header", "x-amz-retry-after=1=1"}, nil},
		{"another header", []string{"--header", "date=5"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			status, out, errs := classifying(t, append(c.args, "--status", "503", "--json")...)
			require.Zero(t, status, errs)
			var got struct {
				RetryAfter *float64 `json:"retry_after_s"`
			}
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			require.Equal(t, c.want, got.RetryAfter)
		})
	}
}

func TestClassifyWarnsOfAHeaderThatItDoesNotRead(t *testing.T) {
	t.Parallel()
	for header, unread := range map[string]bool{
		"Retry-After: 2": false, "Retry-After: 1.5": true, "retry-after=Wed, 21 Oct 2026 07:28:00 GMT": true, "Retry-After:": true, "retry-after: -1": true,
		"x-amz-retry-after: 1s": true, "x-amz-retry-after: 1500": false, "date: soon": false,
	} {
		status, _, errs := classifying(t, "--status", "503", "--header", header)
		require.Zero(t, status)
		want := ""
		if unread {
			want = fmt.Sprintf("awsretry classify: warning: --header %q: the value is not a whole number of 0 or more, so the header counts as absent\n", header)
		}
		require.Equal(t, want, errs)
	}
}

func TestClassifyTakesTheCodeOfAHeader(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{
		"--header x-amzn-ErrorType=com.amazon#ThrottlingException:http://x":        true,
		"--header x-amzn-ErrorType=ThrottlingException --code ValidationException": false,
		"--header x-amzn-ErrorType=ValidationException --code ThrottlingException": true,
		"--header x-amzn-ErrorMessage=ThrottlingException":                         false,
		"--header x-amzn-ErrorType=":                                               false,
	} {
		_, out, _ := classifying(t, append(strings.Fields(args), "--json")...)
		require.Contains(t, out, fmt.Sprintf(`"throttling":%t`, want), args)
	}
}

func TestClassifyFlagsAreSignsOfTheFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, want string }{
		{"a status", "--status 500", "retryable transient"},
		{"another status", "--status 404", ""},
		{"a code", "--code ThrottlingException", "retryable throttling"},
		{"a code beats the status", "--status 500 --code SlowDown", "retryable throttling"},
		{"a hard quota of a service", "--service cloudwatch-logs --code LimitExceededException", "retryable throttling hard_quota"},
		{"a service", "--service dynamodb --code ReplicatedWriteConflictException", "retryable transient"},
		{"without the service", "--code ReplicatedWriteConflictException", ""},
		{"a timeout", "--transport read_timeout", "retryable timeout transient"},
		{"the caller ended it", "--transport caller_deadline_exceeded", ""},
		{"a code beats a failed connection", "--transport connection_reset --code SlowDown", "retryable throttling"},
		{"modeled as retryable", "--status 400 --modeled retryable", "retryable transient"},
		{"modeled as a throttle", "--status 400 --modeled throttling", "retryable throttling"},
		{"modeled as final", "--status 500 --modeled not_retryable", ""},
		{"a skew", "--status 403 --code RequestTimeTooSkewed --candidate-skew-s -300", "retryable clock_skew"},
		{"a skew that the request knew", "--status 403 --code RequestTimeTooSkewed --attempt-skew-s -299.5 --candidate-skew-s -300", ""},
		{"no skew", "--status 403 --code RequestTimeTooSkewed", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, strings.Fields(c.want), traitsOf(t, strings.Fields(c.args)...))
		})
	}
}

// traitsOf returns the names of what --json prints as true.
func traitsOf(t *testing.T, args ...string) (names []string) {
	t.Helper()
	status, out, errs := classifying(t, append(args, "--json")...)
	require.Zero(t, status, errs)
	var members map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &members))
	for name, value := range members {
		if value == true {
			names = append(names, name)
		}
	}
	return names
}

// TestTransportKindsAreAllKnown names the kinds that are timeouts and those that are final. All
// others are failed connections.
func TestTransportKindsAreAllKnown(t *testing.T) {
	t.Parallel()
	timeouts := []string{"connect_timeout", "read_timeout", "attempt_deadline", "dns_timeout"}
	final := []string{"dns_not_found", "caller_canceled", "caller_deadline_exceeded", "plain_error"}
	for _, kind := range transportKinds() {
		want := []string{"retryable", "transient"}
		switch {
		case slices.Contains(timeouts, kind):
			want = append(want, "timeout")
		case slices.Contains(final, kind):
			want = nil
		}
		require.ElementsMatch(t, want, traitsOf(t, "--transport", kind), kind)
	}
	require.Len(t, transportKinds(), 19)
}
