package redisstore_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

// A server that knows the script today has forgotten it after a restart.
func TestCheckSendsTheSourceAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	store := newStore(t, server.Addr())
	_, err := store.Call(t.Context(), key, fleet.Ask{Bad: 1})
	require.NoError(t, err)
	for range 2 {
		known := server.CommandCount()
		require.NoError(t, store.Check(t.Context()))
		require.GreaterOrEqual(t, server.CommandCount()-known, 3, "EVALSHA, EVAL and EVALSHA")
		require.Equal(t, []string{"awsretry:" + key}, server.Keys())
	}

	_, err = server.Push("awsretry:check", "mine")
	require.NoError(t, err)
	require.ErrorIs(t, store.Check(t.Context()), fleet.ErrRejected, "another type")
	require.Contains(t, server.Keys(), "awsretry:check")
}

func TestCheckKeepsToThePrefix(t *testing.T) {
	t.Parallel()
	keys := map[string]struct{}{}
	server := startFake(t, func(command []string) string {
		keys[command[3]] = struct{}{}
		return "*0\r\n"
	})
	store, err := redisstore.New(redisstore.Config{
		Options: &redis.UniversalOptions{Addrs: []string{server.addr}}, Prefix: "mine:",
	})
	require.NoError(t, err)

	require.NoError(t, store.Check(t.Context()))

	require.Equal(t, map[string]struct{}{"mine:check": {}}, keys)
	require.NoError(t, store.Close())
	require.ErrorIs(t, store.Check(t.Context()), redis.ErrClosed)
}

func TestCheckSaysWhatToDoWhereNoServerAnswers(t *testing.T) {
	t.Parallel()
	const network = "; look at the address, at the network, and whether the server runs and wants TLS"
	const other = "; it does not speak the protocol: look at the port and at TLSConfig"
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	hangsUp := startFake(t, func([]string) string { return "" })
	for name, tt := range map[string]struct {
		addr string
		tls  *tls.Config
		want string
	}{
		"refused":            {"127.0.0.1:1", nil, network},
		"silent":             {silent.Addr().String(), nil, network},
		"hangs up":           {hangsUp.addr, nil, network},
		"a web server":       {web.Listener.Addr().String(), nil, other},
		"an unknown CA":      {secure.Listener.Addr().String(), &tls.Config{}, "; TLSConfig must know the authority of the server's certificate, and its name"},
		"TLS where none is":  {web.Listener.Addr().String(), &tls.Config{}, other},
		"no TLS where it is": {secure.Listener.Addr().String(), nil, network},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := storeOf(t, redis.UniversalOptions{Addrs: []string{tt.addr}, TLSConfig: tt.tls})
			patience := time.Minute
			if name == "silent" {
				patience = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()

			err := store.Check(ctx)

			require.Error(t, err)
			require.True(t, strings.HasSuffix(err.Error(), tt.want), err)
			require.NotErrorIs(t, err, fleet.ErrRejected)
		})
	}
}
