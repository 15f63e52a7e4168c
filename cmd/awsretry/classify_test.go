package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
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
		{"bad-header", "--header Retry-After:3"},
		{"bad-skew", "--candidate-skew-s NaN"},
		{"argument", "503"},
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

func TestClassifyFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Classification](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "classification.json") {
		for _, c := range slices.Concat(file.ErrorCodes, file.StatusCodes, file.TransportKinds, file.Combinations, file.SkewDecisions) {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				t.Parallel()
				status, out, errs := classifying(t, argsOf(c)...)
				require.Zero(t, status, errs)
				var got vectors.Traits
				require.NoError(t, json.Unmarshal([]byte(out), &got))
				require.Equal(t, c.Want, got, out)
			})
		}
	}
}

// argsOf returns the flags for a case.
func argsOf(c vectors.Classified) []string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	args := []string{"--json"}
	if c.Given.Status != 0 {
		args = append(args, "--status", strconv.Itoa(c.Given.Status))
	}
	if c.Given.ErrorCode != "" {
		args = append(args, "--code", c.Given.ErrorCode)
	}
	if c.Given.Service != "" {
		args = append(args, "--service", c.Given.Service)
	}
	if c.Given.Transport != "" {
		args = append(args, "--transport", c.Given.Transport)
	}
	if c.Given.Modeled != "" {
		args = append(args, "--modeled", c.Given.Modeled)
	}
	if c.Given.AttemptSkew != 0 {
		args = append(args, "--attempt-skew-s", number(c.Given.AttemptSkew))
	}
	if c.Given.CandidateSkew != nil {
		args = append(args, "--candidate-skew-s", number(*c.Given.CandidateSkew))
	}
	return args
}

// TestTransportKindsAreAllKnown names the kinds that are timeouts and those that are final. All
// others are failed connections.
func TestTransportKindsAreAllKnown(t *testing.T) {
	t.Parallel()
	timeouts := []string{"connect_timeout", "read_timeout", "attempt_deadline", "dns_timeout"}
	final := []string{"dns_not_found", "caller_canceled", "caller_deadline_exceeded", "plain_error"}
	for _, kind := range transportKinds() {
		_, out, _ := classifying(t, "--transport", kind, "--json")
		require.Contains(t, out, fmt.Sprintf(`"retryable":%t`, !slices.Contains(final, kind)), kind)
		require.Contains(t, out, fmt.Sprintf(`"timeout":%t`, slices.Contains(timeouts, kind)), kind)
	}
	require.Len(t, transportKinds(), 19)
}
