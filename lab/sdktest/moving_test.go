//go:build long

package sdktest

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

func listQueues(ctx context.Context, cfg aws.Config) error {
	_, err := sqs.NewFromConfig(cfg).ListQueues(ctx, &sqs.ListQueuesInput{})
	return err
}

// oldRetryer is that of the SDK with the costs and the backoff that it had before v1.48.0.
func oldRetryer() aws.Retryer {
	return sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
		o.RetryCost, o.Backoff = 5, sdkretry.NewExponentialJitterBackoff(sdkretry.DefaultMaxBackoff)
	})
}

// moves are the columns of the first table of docs/moving.md.
var moves = []struct {
	name    string
	prepare func(cfg *aws.Config) error
}{
	{"SDK before v1.48", func(cfg *aws.Config) error {
		cfg.Retryer = oldRetryer
		return nil
	}},
	{"SDK since v1.48", func(*aws.Config) error { return nil }},
	{"awsretry, v2.1 (default)", func(cfg *aws.Config) error { return awssdk.Install(cfg, hermetic()) }},
	{"awsretry, v2.0", func(cfg *aws.Config) error {
		return awssdk.Install(cfg, hermetic(awsretry.WithBehavior(retry.V20)))
	}},
}

// movingRow returns the cells of a row of that table.
func movingRow(t *testing.T, title string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/moving.md")
	require.NoError(t, err)
	_, row, found := strings.Cut(string(page), "\n| "+title+" | ")
	require.True(t, found, "docs/moving.md has no row %q", title)
	row, _, _ = strings.Cut(row, " |\n")
	cells := strings.Split(row, " | ")
	require.Len(t, cells, len(moves), title)
	return cells
}

// TestNumbersOfTheMovingPage checks the delays and attempts of docs/moving.md, with Install and
// without. The jitter is random, so the longest of many delays is close to the longest possible
// one.
func TestNumbersOfTheMovingPage(t *testing.T) {
	const calls = 200
	// The client of DynamoDB is from before v1.48.0, and has defaults of its own with this only.
	t.Setenv("AWS_NEW_RETRIES_2026", "true")
	serverError, throttled := fail(500, ""), fail(400, "ThrottlingException")
	dynamo := func(ctx context.Context, cfg aws.Config) error { return describeWith(ctx, cfg) }
	for _, c := range []struct {
		delays, attempts string // the rows
		answer           answerFunc
		call             func(ctx context.Context, cfg aws.Config) error
	}{
		{"first delay after a throttle", "attempts, the first included", throttled, listQueues},
		{"first delay after any other failure", "attempts, the first included", serverError, listQueues},
		{"first delay after a throttle", "attempts in DynamoDB and DynamoDB Streams", throttled, dynamo},
		{"first delay after any other failure, in DynamoDB and DynamoDB Streams", "attempts in DynamoDB and DynamoDB Streams", serverError, dynamo},
	} {
		delays, attempts := movingRow(t, c.delays), movingRow(t, c.attempts)
		for i, move := range moves {
			t.Run(c.delays+"/"+move.name, func(t *testing.T) {
				want, err := time.ParseDuration(strings.ReplaceAll(delays[i], " ", ""))
				require.NoError(t, err)
				synctest.Test(t, func(t *testing.T) {
					longest := time.Duration(0)
					for range calls {
						s := newScript(c.answer)
						cfg := configFor(s)
						require.NoError(t, move.prepare(&cfg))
						require.Error(t, c.call(t.Context(), cfg))
						require.Equal(t, attempts[i], strconv.Itoa(s.requests()))
						longest = max(longest, s.gaps()[0])
					}
					require.LessOrEqual(t, longest, want)
					require.Greater(t, longest, want*9/10)
				})
			})
		}
	}
}

// TestOutageOfTheMovingPage checks the row about an outage. With v2.0 the quota lasts for about the
// outage, so that one minute can have 2 or 12 %; the others are all alike.
func TestOutageOfTheMovingPage(t *testing.T) {
	row := movingRow(t, "calls that fail in a minute with an outage of 20 s")
	for i, move := range moves {
		t.Run(move.name, func(t *testing.T) {
			want, err := strconv.ParseFloat(strings.TrimSuffix(row[i], " %"), 64)
			require.NoError(t, err)
			minutes, spread := 1, 0.5
			if move.name == "awsretry, v2.0" {
				minutes, spread = 10, 4
			}
			sum := 0.0
			for range minutes {
				synctest.Test(t, func(t *testing.T) { sum += failedInAMinute(t, move.prepare) })
			}
			mean := sum / float64(minutes)
			t.Logf("%.1f %%", mean)
			require.InDelta(t, want, mean, spread, "percent of the calls")
		})
	}
}

// failedInAMinute returns how many percent of the calls fail that four workers make in a minute. A
// call takes 10 ms, and each worker makes the next 50 ms later. From second 10 to second 30 the
// server refuses connections.
func failedInAMinute(t *testing.T, prepare func(cfg *aws.Config) error) float64 {
	t.Helper()
	start := time.Now()
	cfg := configFor(answerFunc(func(*http.Request) (*http.Response, error) {
		if at := time.Since(start); at >= 10*time.Second && at < 30*time.Second {
			return nil, syscall.ECONNREFUSED
		}
		pause(10 * time.Millisecond)
		return response(200, `{}`), nil
	}))
	require.NoError(t, prepare(&cfg))
	client := sqs.NewFromConfig(cfg)
	var (
		mu            sync.Mutex // guards both
		calls, failed int
		all           sync.WaitGroup
	)
	for range workers {
		all.Go(func() {
			for time.Since(start) < time.Minute {
				_, err := client.ListQueues(t.Context(), &sqs.ListQueuesInput{})
				mu.Lock()
				calls++
				if err != nil {
					failed++
				}
				mu.Unlock()
				pause(50 * time.Millisecond)
			}
		})
	}
	all.Wait()
	return 100 * float64(failed) / float64(calls)
}
