package redisstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	_, err := redisstore.New(redisstore.Config{})
	require.EqualError(t, err, "redisstore: Config.Options: missing")
	for _, addrs := range [][]string{{"redis://user:secret@example.com:6379"}, {"a:1", "user:secret@example.com:6379"}} {
		_, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: addrs}})
		require.EqualError(t, err, "redisstore: Config.Options.Addrs: has a URL and not a host and port")
	}
}

func TestNewLeavesTheOptionsAloneAndDoesNotConnect(t *testing.T) {
	t.Parallel()
	server := startFake(t, func([]string) string { return run })
	options := redis.UniversalOptions{Addrs: []string{server.addr}, MaxRetries: 7, PoolSize: 70, ReadOnly: true}
	mine := options

	store, err := redisstore.New(redisstore.Config{Options: &options})
	require.NoError(t, err)
	require.Equal(t, mine, options)
	require.Zero(t, server.counts())
	options.Addrs[0] = "127.0.0.1:1"
	_, err = store.Call(t.Context(), key, fleet.Ask{Want: 2})

	require.NoError(t, err, "the addresses are copied too")
	require.Equal(t, []string{"HELLO", "EVALSHA"}, server.seen(), "nothing that servers reject")
	require.NoError(t, store.Close())
}

func TestStoreKeepsTheStateUnderThePrefix(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	for prefix, want := range map[string]string{"": "awsretry:" + key, "mine:": "mine:" + key} {
		store, err := redisstore.New(redisstore.Config{
			Options: &redis.UniversalOptions{Addrs: []string{server.Addr()}}, Prefix: prefix,
		})
		require.NoError(t, err)

		reply, err := store.Call(t.Context(), key, fleet.Ask{Starting: 100, Want: 2})

		require.NoError(t, err)
		require.Equal(t, 2, reply.Slots)
		server.CheckGet(t, want, reply.State)
		require.Equal(t, 10*time.Minute, server.TTL(want))
		server.Del(want)
		_, err = server.Push(want, "mine")
		require.NoError(t, err)
		_, err = store.Call(t.Context(), key, fleet.Ask{Bad: 1, Epoch: 1})
		require.ErrorIs(t, err, fleet.ErrRejected)
		list, err := server.List(want)
		require.NoError(t, err)
		require.Equal(t, []string{"mine"}, list, "another type is left alone")
		require.NoError(t, store.Close())
	}
}

func TestStoreAsksASentinelForTheMaster(t *testing.T) {
	t.Parallel()
	for _, clusterMode := range []bool{false, true} {
		master := startFake(t, func([]string) string { return run })
		store := storeOf(t, redis.UniversalOptions{
			Addrs: []string{master.addr, master.addr}, MasterName: "cache", IsClusterMode: clusterMode,
		})

		_, err := store.Call(t.Context(), key, fleet.Ask{Want: 2})

		require.NoError(t, err)
		require.Contains(t, master.seen(), "SENTINEL")
		require.Contains(t, master.seen(), "EVALSHA")
		require.NotContains(t, master.seen(), "COMMAND", "go-redis asks for it where it looks for replicas to read from")
	}
}

func TestStoreSendsTheScriptOnceWhereItIsMissing(t *testing.T) {
	t.Parallel()
	known := false
	server := startFake(t, func(command []string) string {
		if known = known || command[0] == "EVAL"; known {
			return run
		}
		return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
	})
	store := newStore(t, server.addr)

	for range 3 {
		reply, err := store.Call(t.Context(), key, fleet.Ask{Want: 2})
		require.NoError(t, err)
		require.Equal(t, fleet.Reply{
			Epoch: 3, Rate: 100, Slots: 2, Start: 250 * time.Millisecond, Gap: 10 * time.Millisecond, State: "state",
		}, reply)
	}

	require.Equal(t, traffic{opened: 1, open: 1, evalsha: 3, eval: 1}, server.counts())
}

func TestStoreNeverRepeatsACall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer   string
		rejected bool
	}{
		"no permission":           {"-NOPERM this user has no permissions to run the 'evalsha' command\r\n", true},
		"no user":                 {"-NOAUTH Authentication required.\r\n", true},
		"a number":                {":7\r\n", true},
		"a text":                  {"+OK\r\n", true},
		"numbers":                 {"*2\r\n:1\r\n:2\r\n", true},
		"too few":                 {list("3", "100"), true},
		"no numbers":              {list("3", "x", "0", "2", "0", "0.1", "state"), true},
		"a replica":               {"-READONLY You can't write against a read only replica.\r\n", false},
		"loading":                 {"-LOADING Redis is loading the dataset in memory\r\n", false},
		"a cluster that is down":  {"-CLUSTERDOWN The cluster is down\r\n", false},
		"the script is gone soon": {"-NOSCRIPT No matching script.\r\n", false},
		"a closed connection":     {"", false},
		"half an answer":          {"*7\r\n$1\r\n3\r\n$100\r\n1", false},
		"no answer":               {"*7\r\n", false},
		"no protocol":             {"hello\r\n", false},
	} {
		for _, mode := range []string{"one server", "cluster"} {
			t.Run(name+", "+mode, func(t *testing.T) {
				t.Parallel()
				server := startFake(t, func([]string) string { return tt.answer })
				store := storeOf(t, redis.UniversalOptions{
					Addrs: []string{server.addr}, Password: "secret", IsClusterMode: mode == "cluster",
				})
				patience := 10 * time.Second
				if strings.HasPrefix(tt.answer, "*7\r\n") && !strings.HasSuffix(tt.answer, "state\r\n") {
					patience = 200 * time.Millisecond // the rest does not come
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()

				_, err := store.Call(ctx, key, fleet.Ask{Want: 2})

				require.ErrorContains(t, err, "redisstore: ")
				require.NotContains(t, err.Error(), "secret")
				require.Equal(t, tt.rejected, errors.Is(err, fleet.ErrRejected), err)
				most := 1
				if name == "a replica" && mode == "cluster" {
					most = 4 // go-redis asks for the master, and a replica has done nothing
				}
				require.LessOrEqual(t, server.counts().evalsha, most)
				require.LessOrEqual(t, server.counts().eval, 1)
			})
		}
	}
}

func TestStoreFollowsAClusterToTheNodeOfTheKey(t *testing.T) {
	t.Parallel()
	for _, redirection := range []string{"MOVED", "ASK"} {
		target := startFake(t, func([]string) string { return run })
		node := startFake(t, func([]string) string { return "-" + redirection + " 3999 " + target.addr + "\r\n" })
		store := storeOf(t, redis.UniversalOptions{Addrs: []string{node.addr}, IsClusterMode: true})

		reply, err := store.Call(t.Context(), key, fleet.Ask{Want: 2})

		require.NoError(t, err, redirection)
		require.Equal(t, 2, reply.Slots)
		for _, server := range []*fakeServer{node, target} {
			require.Equal(t, 1, server.counts().evalsha, redirection)
			require.Zero(t, server.counts().eval)
		}
	}
}

func TestStoreReturnsAtTheDeadline(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, -1, -2, time.Minute} { // -2 means that go-redis sets no deadline
		t.Run(timeout.String(), func(t *testing.T) {
			t.Parallel()
			server := startFake(t, func([]string) string { return "*7\r\n" })
			store := storeOf(t, redis.UniversalOptions{Addrs: []string{server.addr}, ReadTimeout: timeout, WriteTimeout: timeout})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			began := time.Now()

			_, err := store.Call(ctx, key, fleet.Ask{Want: 2})

			require.Error(t, err)
			require.Less(t, time.Since(began), 30*time.Second, "the call goes on")
		})
	}
}

func TestStoreSendsNothingForACallThatIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, store := startFar(t, 0, func([]string) string { return run })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()

		_, err := store.Call(ctx, key, fleet.Ask{Want: 2})

		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		require.Zero(t, server.counts())
	})
}

func TestStoreSurvivesAPanicInTheOptions(t *testing.T) {
	t.Parallel()
	store := storeOf(t, redis.UniversalOptions{
		Addrs:               []string{startFake(t, func([]string) string { return run }).addr},
		CredentialsProvider: func() (user, password string) { panic("no token") },
	})

	_, err := store.Call(t.Context(), key, fleet.Ask{Want: 2})

	require.EqualError(t, err, "redisstore: panic: no token")
}
