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
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var update = flag.Bool("update", false, "write the golden files")

// pipes is a network that a synctest bubble holds all of.
func pipes(context.Context) (net.Listener, http.RoundTripper, error) {
	network := pipenet.New()
	return network, network.Transport(), nil
}

func TestHTTPClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		env    map[string]string
		opts   []awsretry.Option
		status int
		errs   string
	}{
		{name: "nothing-set"},
		{name: "few-attempts", env: map[string]string{"AWS_MAX_ATTEMPTS": "2"}},
		{name: "v2.0", opts: []awsretry.Option{awsretry.WithStandard(standard.Config{Behavior: retry.V20})}},
		{name: "bad-mode", env: map[string]string{"AWS_RETRY_MODE": "bogus"}, status: 1, errs: `AWS_RETRY_MODE: "bogus"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out, errs bytes.Buffer
				status := run(t.Context(), &out, &errs, pipes, append(c.opts,
					awsretry.WithSources(awsretry.Sources{FS: fstest.MapFS{}, LookupEnv: func(name string) (string, bool) {
						value, ok := c.env[name]
						return value, ok
					}}),
					awsretry.WithRandom(func() float64 { return 0.5 }))...)
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
