package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// classified returns what classify prints in JSON, and its warnings.
func classified(t *testing.T, args ...string) (members map[string]any, errs string) {
	t.Helper()
	out, errs, status := invoke(t, world(nil, nil), append([]string{"classify", "--json"}, args...)...)
	require.Zero(t, status, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &members))
	return members, errs
}

func TestClassifyHeaders(t *testing.T) {
	t.Parallel()
	const longest, unread = 9223372036.854776, "x" // a header that counts as absent, of which a warning tells
	for _, c := range []struct {
		name    string
		headers []string
		want    any // seconds; nil is none
	}{
		{"none", nil, nil},
		{"milliseconds", []string{"x-amz-retry-after=250"}, 0.25},
		{"any case and spaces", []string{" X-Amz-Retry-After = 250 "}, 0.25},
		{"zero", []string{"x-amz-retry-after=0"}, 0.0},
		{"seconds", []string{"Retry-After: 2"}, 2.0},
		{"the one of AWS counts first", []string{"Retry-After=2", "x-amz-retry-after=1"}, 0.001},
		{"the other one if that is no number", []string{"Retry-After=2", "x-amz-retry-after=soon"}, 2.0},
		{"the last of two", []string{"Retry-After=2", "Retry-After=3"}, 3.0},
		{"more than there is", []string{"Retry-After=99999999999999"}, longest},
		{"more seconds than there are numbers", []string{"Retry-After=9223372036854775808"}, longest},
		{"more milliseconds than there are numbers", []string{"x-amz-retry-after=9223372036854775808"}, unread},
		{"negative", []string{"x-amz-retry-after=-1"}, unread},
		{"a date", []string{"Retry-After=Wed, 21 Oct 2026 07:28:00 GMT"}, unread},
		{"no value", []string{"Retry-After:"}, unread},
		{"an equals sign in the value", []string{"x-amz-retry-after=1=1"}, unread},
		{"another header", []string{"date=5"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--status", "503"}
			for _, header := range c.headers {
				args = append(args, "--header", header)
			}
			got, errs := classified(t, args...)
			if c.want == unread {
				require.Equal(t, fmt.Sprintf("awsretry classify: warning: --header %q: the value is not a whole number of 0 or more, so the header counts as absent\n", c.headers[0]), errs)
				c.want = nil
			}
			require.Equal(t, c.want, got["retry_after_s"])
		})
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
		{"a code of gRPC", "--grpc resource-exhausted", "retryable throttling"},
		{"its number", "--grpc 14", "retryable transient"},
		{"a final one", "--grpc ABORTED", ""},
		{"a code of SQL", "--sqlstate 57p01", "retryable transient"},
		{"a final one of SQL", "--sqlstate 23505", ""},
		{"a skew", "--status 403 --code RequestTimeTooSkewed --candidate-skew-s -300", "retryable clock_skew"},
		{"a skew that the request knew", "--status 403 --code RequestTimeTooSkewed --attempt-skew-s -299.5 --candidate-skew-s -300", ""},
		{"no skew", "--status 403 --code RequestTimeTooSkewed", ""},
		{"a code of a header", "--header x-amzn-ErrorType=com.amazon#ThrottlingException:http://x", "retryable throttling"},
		{"a code of a flag beats it", "--header x-amzn-ErrorType=ThrottlingException --code ValidationException", ""},
		{"another header", "--header x-amzn-ErrorMessage=ThrottlingException", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, strings.Fields(c.want), traitsOf(t, strings.Fields(c.args)...))
		})
	}
}

// traitsOf returns the names of what is true in the JSON.
func traitsOf(t *testing.T, args ...string) (names []string) {
	t.Helper()
	members, _ := classified(t, args...)
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
	const timeout = "retryable transient timeout"
	want := map[string]string{
		"connect_timeout": timeout, "read_timeout": timeout, "attempt_deadline": timeout, "dns_timeout": timeout,
		"dns_not_found": "", "caller_canceled": "", "caller_deadline_exceeded": "", "plain_error": "",
	}
	for _, kind := range transportKinds() {
		traits, special := want[kind]
		if !special {
			traits = "retryable transient"
		}
		require.ElementsMatch(t, strings.Fields(traits), traitsOf(t, "--transport", kind), kind)
	}
	require.Len(t, transportKinds(), 19)
}
