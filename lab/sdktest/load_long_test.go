//go:build long

package sdktest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
)

// roles is how a program assumes roles in many accounts at the same time.
type roles struct {
	how      string
	accounts int
	attempts int
	quota    int // the capacity of a shared strategy
}

// limitedSTS allows a number of requests a second, and a burst of as many.
type limitedSTS struct{ limitOf }

func (s *limitedSTS) Do(r *http.Request) (*http.Response, error) {
	pause(50 * time.Millisecond)
	if s.take(1) == 0 {
		return stsError("Throttling")(r)
	}
	return identity(r)
}

// TestAssumeRoleForAHundredAccounts and for two hundred, where STS allows ten requests a second. With
// -v it prints a table.
func TestAssumeRoleForAHundredAccounts(t *testing.T) {
	var file strings.Builder
	for i := range 200 {
		fmt.Fprintf(&file, "[profile account%d]\nrole_arn = arn:aws:iam::%012d:role/r\nsource_profile = keys\nregion = eu-central-1\n", i, i)
	}
	machine(t, map[string]string{".aws/config": file.String(), ".aws/credentials": "[keys]\n" + keys})
	failures, throttles := map[roles]int{}, map[roles]int{}
	const sdk, ours, standardShared, adaptiveShared = "aws-sdk-go-v2", "standard", "standard, shared", "adaptive, shared"
	for _, r := range []roles{
		{sdk, 100, 3, 0},
		{ours, 100, 3, 0},
		{standardShared, 100, 3, 500},
		{adaptiveShared, 100, 3, 500},
		{sdk, 100, 20, 0},
		{ours, 100, 20, 0},
		{standardShared, 100, 20, 500},
		{adaptiveShared, 100, 20, 500},
		{sdk, 200, 20, 0},
		{adaptiveShared, 200, 20, 500},
		{adaptiveShared, 200, 20, 5000},
	} {
		synctest.Test(t, func(t *testing.T) {
			sts, began := &limitedSTS{limitOf{rate: 10, burst: 10}}, time.Now()
			failures[r] = assume(t, r, sts)
			require.Equal(t, r.accounts, failures[r]+sts.allowed)
			throttles[r] = sts.refused
			t.Logf("| %s | %d | %d | %d | %d | %d | %.0f s |",
				r.how, r.accounts, r.attempts, r.quota, failures[r], throttles[r], time.Since(began).Seconds())
		})
	}
	require.LessOrEqual(t, failures[roles{adaptiveShared, 100, 3, 500}], failures[roles{sdk, 100, 3, 0}])
	for _, r := range []roles{
		{sdk, 100, 20, 0}, {ours, 100, 20, 0}, {adaptiveShared, 100, 20, 500}, {sdk, 200, 20, 0}, {adaptiveShared, 200, 20, 5000},
	} {
		require.Zero(t, failures[r], r)
	}
	require.Less(t, throttles[roles{adaptiveShared, 100, 3, 500}], throttles[roles{sdk, 100, 3, 0}]/2)
	require.Less(t, throttles[roles{adaptiveShared, 100, 20, 500}], throttles[roles{sdk, 100, 20, 0}]/2)
	require.Less(t, throttles[roles{adaptiveShared, 200, 20, 5000}], throttles[roles{sdk, 200, 20, 0}]/2)
}

// assume loads a config for each account and gets its credentials, all at the same time. It returns
// how many failed.
func assume(t *testing.T, r roles, sts *limitedSTS) int {
	t.Helper()
	mode, isShared := strings.CutSuffix(r.how, ", shared")
	shared, err := awsretry.Load(t.Context(),
		awsretry.WithSources(awsretry.Sources{LookupEnv: func(name string) (string, bool) { return mode, name == "AWS_RETRY_MODE" && isShared }}),
		awsretry.WithMaxAttempts(r.attempts),
		awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: &r.quota}}))
	require.NoError(t, err)
	var failed atomic.Int64
	var all sync.WaitGroup
	for i := range r.accounts {
		options := []func(*config.LoadOptions) error{
			config.WithHTTPClient(sts), config.WithSharedConfigProfile(fmt.Sprintf("account%d", i)), config.WithRetryMaxAttempts(r.attempts),
		}
		var cfg aws.Config
		switch {
		case isShared:
			cfg, err = awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(options...), awssdk.WithStrategy(shared))
		case mode == "standard":
			cfg, err = awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(options...))
		default:
			cfg, err = config.LoadDefaultConfig(t.Context(), options...)
		}
		require.NoError(t, err)
		all.Go(func() {
			if _, err := cfg.Credentials.Retrieve(t.Context()); err != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	return int(failed.Load())
}
