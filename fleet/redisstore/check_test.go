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

func TestCheckLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	store := newStore(t, server.Addr())
	require.NoError(t, server.Set("awsretry:f2-00000000:test:orders", "kept"))

	for range 2 {
		require.NoError(t, store.Check(t.Context()))
		require.Equal(t, []string{"awsretry:f2-00000000:test:orders"}, server.Keys())
	}
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
	t.Cleanup(func() { require.NoError(t, store.Close()) })

	require.NoError(t, store.Check(t.Context()))

	require.Equal(t, map[string]struct{}{"mine:check": {}}, keys)
}

// A server that knows the script today has forgotten it after a restart.
func TestCheckSendsTheSourceThoughTheServerKnowsTheScript(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	store := newStore(t, server.Addr())
	_, err := store.Call(t.Context(), key, fleet.Ask{Want: 2})
	require.NoError(t, err)
	known := server.CommandCount()

	require.NoError(t, store.Check(t.Context()))

	require.GreaterOrEqual(t, server.CommandCount()-known, 3, "EVALSHA, EVAL and EVALSHA")
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	const allow = "; allow the user GET, SET, DEL, TIME, EVALSHA and EVAL on the keys with the prefix"
	tests := map[string]struct {
		answer, want string
		rejected     bool
	}{
		"no log-in": {"-NOAUTH Authentication required.\r\n", "; the server wants a log-in: set user name and password", true},
		"no log-in, 7": {
			"-ERR Protocol error: unauthenticated multibulk length\r\n", "; the server wants a log-in: set user name and password", true,
		},
		"a wrong password": {
			"-WRONGPASS invalid username-password pair or user is disabled.\r\n", "; user name or password is wrong", true,
		},
		"no permission":   {"-NOPERM this user has no permissions to run the 'eval' command\r\n", allow, true},
		"within a script": {"-ERR The user executing the script can't run this command script: a\r\n", allow, true},
		"no such command": {
			"-ERR unknown command 'EVALSHA', with args beginning with: \r\n",
			"; the server must know GET, SET, DEL, TIME, EVALSHA and EVAL", true,
		},
		"no master name": {
			"-redis: all sentinels specified in configuration are unreachable: ERR unknown command 'sentinel'\r\n",
			"; MasterName is for the addresses of Sentinels", true,
		},
		"another type": {
			"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
			"; another program has a key with this name: delete it, or choose another prefix", true,
		},
		"a cluster":     {"-MOVED 3999 127.0.0.1:1\r\n", "; the server is a cluster: set IsClusterMode", true},
		"no cluster":    {"-ERR This instance has cluster support disabled\r\n", "; the server is no cluster: leave IsClusterMode out, and give one address", true},
		"a replica":     {"-READONLY You can't write against a read only replica.\r\n", "; this is a replica: give the address of the master", false},
		"a full one":    {"-OOM command not allowed when used memory > 'maxmemory'.\r\n", "; the memory of the server is full: give it more, or a maxmemory-policy that evicts keys", false},
		"no database":   {"-ERR DB index is out of range\r\n", "; the server has no such database: leave DB out", false},
		"it is loading": {"-LOADING Redis is loading the dataset in memory\r\n", "dataset in memory", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startFake(t, func([]string) string { return tt.answer })
			store := newStore(t, server.addr)

			err := store.Check(t.Context())

			require.ErrorContains(t, err, "redisstore: ")
			require.True(t, strings.HasSuffix(err.Error(), tt.want), err)
			if tt.rejected {
				require.ErrorIs(t, err, fleet.ErrRejected)
			} else {
				require.NotErrorIs(t, err, fleet.ErrRejected)
			}
			_, again := store.Call(t.Context(), key, fleet.Ask{})
			require.EqualError(t, again, err.Error(), "a call of a member says the same")
		})
	}
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
	tests := map[string]struct {
		options redis.UniversalOptions
		want    string
	}{
		"refused":            {redis.UniversalOptions{Addrs: []string{"127.0.0.1:1"}}, network},
		"silent":             {redis.UniversalOptions{Addrs: []string{silent.Addr().String()}}, network},
		"hangs up":           {redis.UniversalOptions{Addrs: []string{hangsUp.addr}}, network},
		"a web server":       {redis.UniversalOptions{Addrs: []string{web.Listener.Addr().String()}}, other},
		"an unknown CA":      {redis.UniversalOptions{Addrs: []string{secure.Listener.Addr().String()}, TLSConfig: &tls.Config{}}, "; TLSConfig must know the authority of the server's certificate, and its name"},
		"TLS where none is":  {redis.UniversalOptions{Addrs: []string{web.Listener.Addr().String()}, TLSConfig: &tls.Config{}}, other},
		"no TLS where it is": {redis.UniversalOptions{Addrs: []string{secure.Listener.Addr().String()}}, network},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := redisstore.New(redisstore.Config{Options: &tt.options})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, store.Close()) })
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if name == "silent" {
				ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
			}

			err = store.Check(ctx)

			require.Error(t, err)
			require.True(t, strings.HasSuffix(err.Error(), tt.want), err)
			require.NotErrorIs(t, err, fleet.ErrRejected)
		})
	}
}

func TestCheckFindsAnotherTypeUnderItsKey(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	_, err := server.Push("awsretry:check", "mine")
	require.NoError(t, err)

	err = newStore(t, server.Addr()).Check(t.Context())

	require.ErrorIs(t, err, fleet.ErrRejected)
	require.Equal(t, []string{"awsretry:check"}, server.Keys())
}

func TestCheckOfAClosedStoreFails(t *testing.T) {
	t.Parallel()
	store := newStore(t, "127.0.0.1:1")
	require.NoError(t, store.Close())

	require.ErrorIs(t, store.Check(t.Context()), redis.ErrClosed)
}
