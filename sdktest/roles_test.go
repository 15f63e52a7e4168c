package sdktest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
)

const accounts = 100

// limitedSTS allows a number of requests a second, and a burst of as many.
type limitedSTS struct {
	limit     float64
	mu        sync.Mutex // guards all below
	tokens    float64
	at        time.Time
	throttled int
	answered  int
}

func (s *limitedSTS) Do(r *http.Request) (*http.Response, error) {
	pause(latency)
	s.mu.Lock()
	now := time.Now()
	s.tokens = min(s.limit, s.tokens+s.limit*now.Sub(s.at).Seconds())
	s.at = now
	if s.tokens < 1 {
		s.throttled++
		s.mu.Unlock()
		return stsError("Throttling")(r)
	}
	s.tokens--
	s.answered++
	s.mu.Unlock()
	return identity(r)
}

// TestAssumeRoleForAHundredAccounts assumes a role in each account at the same time, where STS
// allows ten requests a second. With -v it prints the table of docs/clients.md.
func TestAssumeRoleForAHundredAccounts(t *testing.T) {
	var file strings.Builder
	for i := range accounts {
		fmt.Fprintf(&file, "[profile account%d]\nrole_arn = arn:aws:iam::%012d:role/r\nsource_profile = keys\nregion = eu-central-1\n", i, i)
	}
	machine(t, map[string]string{".aws/config": file.String(), ".aws/credentials": "[keys]\n" + keys})
	assume := func(t *testing.T, load func(o ...func(*config.LoadOptions) error) (aws.Config, error)) (failed int, sts *limitedSTS, took time.Duration) {
		t.Helper()
		sts = &limitedSTS{limit: 10}
		began := time.Now()
		var all sync.WaitGroup
		var mu sync.Mutex
		for i := range accounts {
			cfg, err := load(config.WithHTTPClient(sts), config.WithSharedConfigProfile(fmt.Sprintf("account%d", i)))
			require.NoError(t, err)
			all.Go(func() {
				if _, err := cfg.Credentials.Retrieve(t.Context()); err != nil {
					mu.Lock()
					defer mu.Unlock()
					failed++
				}
			})
		}
		all.Wait()
		return failed, sts, time.Since(began)
	}
	t.Setenv("AWS_NEW_RETRIES_2026", "true") // the loop of v1.48.0
	for _, attempts := range []int{3, 20} {
		failures, throttles := map[string]int{}, map[string]int{}
		for _, mode := range []string{"aws-sdk-go-v2", "standard", "standard, shared", "adaptive, shared"} {
			inBubble(t, func(t *testing.T) {
				t.Helper()
				shared, err := awsretry.Load(t.Context(), awsretry.WithEnv(func(name string) (string, bool) {
					shared, ok := strings.CutSuffix(mode, ", shared")
					return shared, name == "AWS_RETRY_MODE" && ok
				}), awsretry.WithMaxAttempts(attempts))
				require.NoError(t, err)
				failed, sts, took := assume(t, func(o ...func(*config.LoadOptions) error) (aws.Config, error) {
					switch mode {
					case "aws-sdk-go-v2":
						return config.LoadDefaultConfig(t.Context(), append(o, config.WithRetryMaxAttempts(attempts))...)
					case "standard":
						return awssdk.LoadDefaultConfig(t.Context(),
							awssdk.WithLoadOptions(append(o, config.WithRetryMaxAttempts(attempts))...))
					}
					return awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(o...), awssdk.WithStrategy(shared))
				})
				require.Equal(t, accounts, failed+sts.answered)
				t.Logf("| %s | %d | %d | %d | %.0f s |", mode, attempts, failed, sts.throttled, took.Seconds())
				failures[mode], throttles[mode] = failed, sts.throttled
			})
		}
		require.LessOrEqual(t, failures["adaptive, shared"], failures["aws-sdk-go-v2"])
		require.Less(t, throttles["adaptive, shared"], throttles["aws-sdk-go-v2"]/2)
		if attempts == 20 {
			require.Zero(t, failures["aws-sdk-go-v2"])
			require.Zero(t, failures["standard"])
		}
	}
}
