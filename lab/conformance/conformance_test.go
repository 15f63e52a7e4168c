package conformance

import (
	"context"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
	"github.com/awsretry/awsretry/testdata"
)

// configOf returns the Config that a case asks for.
func configOf(s *Settings) standard.Config {
	return standard.Config{
		Behavior: s.Behavior(), MaxAttempts: s.MaxAttempts(), QuotaCapacity: new(s.QuotaCapacity()),
		MaxBackoff: s.MaxBackoff(), Random: s.Random(),
	}
}

func newStandard(s *Settings) (retry.Strategy, error) { return standard.New(configOf(s)) }

// newAdaptive returns adaptive mode as the AWS SDKs have it: each throttle cuts the rate.
func newAdaptive(s *Settings) (retry.Strategy, error) {
	return adaptive.New(adaptive.Config{Standard: configOf(s), Controller: ratelimit.CutPerThrottle})
}

func once(ctx context.Context, attempt func(context.Context) error) error { return attempt(ctx) }

func newOnce(*Settings) (Do, error) { return once, nil }

// checkCases is Check with the cases of a folder, and with the error of an impossible subject.
func checkCases(t *testing.T, s Subject, cases fs.ReadFileFS) (Report, error) {
	t.Helper()
	b, err := read(cases)
	require.NoError(t, err)
	return check(t, s, b)
}

// folders are where there are cases: those of the module, and those of a folder that the environment
// may name.
func folders(t *testing.T) map[string]fs.ReadFileFS {
	t.Helper()
	all := map[string]fs.ReadFileFS{"own": testdata.Cases}
	if extra := os.Getenv("AWSRETRY_CONFORMANCE"); extra != "" {
		shared, ok := os.DirFS(extra).(fs.ReadFileFS)
		require.True(t, ok)
		all["shared"] = shared
	}
	return all
}
