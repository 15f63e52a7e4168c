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
)

var update = flag.Bool("update", false, "write the golden files")

// pipes is a network inside the process, so that a synctest bubble holds all of
// it.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
}

func newPipes(context.Context) (net.Listener, *http.Client, error) {
	p := &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})}
	return p, &http.Client{Transport: &http.Transport{DialContext: p.dial}}, nil
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.dialed <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialed:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "service", Net: "pipe"} }

func environment(vars map[string]string) awsretry.Option {
	return awsretry.WithEnv(func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	})
}

const sharedConfig = `[profile x]
retry_mode = adaptive
max_attempts = 7
`

func TestQuickStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		env    map[string]string
		status int
		errs   string
	}{
		{name: "nothing-set"},
		{name: "profile-x", env: map[string]string{"AWS_PROFILE": "x"}},
		{name: "new-retries", env: map[string]string{"AWS_NEW_RETRIES_2026": "true", "AWS_MAX_ATTEMPTS": "2"}},
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
				status := run(t.Context(), &out, &errs, newPipes,
					environment(c.env),
					awsretry.WithFS(fstest.MapFS{"aws/config": {Data: []byte(sharedConfig)}}),
					awsretry.WithConfigFile("/aws/config"),
					awsretry.WithCredentialsFile("/aws/credentials"),
					awsretry.WithRandom(func() float64 { return 0.5 }))
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
