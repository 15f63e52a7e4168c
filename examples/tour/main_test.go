package main

import (
	"bytes"
	"context"
	"flag"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
	"github.com/awsretry/awsretry/retry"
)

var update = flag.Bool("update", false, "write the golden files")

// pipes is a network that a synctest bubble holds all of.
func pipes(context.Context) (net.Listener, *http.Client, error) {
	network := pipenet.New()
	return network, &http.Client{Transport: network.Transport()}, nil
}

func environment(vars map[string]string) awsretry.ResolveOption {
	return awsretry.WithEnv(func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	})
}

const sharedConfig = `[profile x]
retry_mode = adaptive
max_attempts = 7
`

func TestTour(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		env    map[string]string
		opts   []awsretry.ResolveOption
		status int
		errs   string
	}{
		{name: "nothing-set"},
		{name: "profile-x", env: map[string]string{"AWS_PROFILE": "x"}},
		{name: "few-attempts", env: map[string]string{"AWS_MAX_ATTEMPTS": "2"}},
		{name: "v2.0", opts: []awsretry.ResolveOption{awsretry.WithBehavior(retry.V20)}},
		{
			name: "bad-mode", env: map[string]string{"AWS_RETRY_MODE": "bogus"}, status: 1,
			errs: `AWS_RETRY_MODE: "bogus"`,
		},
		{
			name: "no-such-profile", env: map[string]string{"AWS_PROFILE": "y"}, status: 1,
			errs: `profile "y"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out, errs bytes.Buffer
				status := run(t.Context(), &out, &errs, pipes, func() float64 { return 0.5 }, append(c.opts,
					environment(c.env),
					awsretry.WithFS(fstest.MapFS{"aws/config": {Data: []byte(sharedConfig)}}),
					awsretry.WithConfigFile("/aws/config"),
					awsretry.WithCredentialsFile("/aws/credentials"))...)
				require.Equal(t, c.status, status, errs.String())
				require.Contains(t, errs.String(), c.errs)
				requireGolden(t, c.name, out.Bytes())
			})
		})
	}
}

func requireGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
