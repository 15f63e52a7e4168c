// Package servers tests fleets and their store against a real redis-server. Without the build
// tag servers it has only the short tests.
package servers

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet/internal/redistest"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

const prefix = "awsretry:"

func TestScriptDoesWhatStepDoes(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	do := func(args ...any) string {
		text, err := server.Client.Do(t.Context(), args...).Text()
		if err != nil {
			require.ErrorIs(t, err, redis.Nil)
		}
		return text
	}
	w := redistest.World{
		Store: newStore(t, server.Addr),
		Get:   func(key string) string { return do("GET", prefix+key) },
		Set: func(key, state string) {
			if state == "" {
				require.NoError(t, server.Client.Del(t.Context(), prefix+key).Err())
			} else {
				do("SET", prefix+key, state)
			}
		},
		Now: func() time.Time { return server.Client.Time(t.Context()).Val() },
	}
	w.Move = func(key string, d time.Duration) {
		if state := w.Get(key); state != "" {
			w.Set(key, redistest.Shift(state, d))
		}
	}

	redistest.Differ(t, w, calls(), 2)

	stats := server.Client.InfoMap(t.Context(), "commandstats").Val()["Commandstats"]["cmdstat_evalsha"]
	_, text, _ := strings.Cut(stats, "usec_per_call=")
	text, _, _ = strings.Cut(text, ",")
	perCall, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err, stats)
	t.Logf("server time of a call: %.1f µs", perCall)
	require.LessOrEqual(t, perCall, mostMicroseconds())
}

func newStore(t *testing.T, addr string) *redisstore.Store {
	t.Helper()
	store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: []string{addr}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}
