// Package servers tests fleets and their store against a real redis-server. Without the build
// tag servers it has only the short tests.
package servers

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet/internal/redistest"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

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

	calls := 20_000
	if testing.Short() {
		calls = 5_000
	}
	redistest.Differ(t, w, calls, 2)
}

func newStore(t *testing.T, addr string) *redisstore.Store {
	t.Helper()
	store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: []string{addr}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}
