package redisstore_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet/internal/redistest"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

func TestScriptDoesWhatStepDoes(t *testing.T) {
	t.Parallel()
	differ(t, 2_000)
}

// differ compares calls of the script on miniredis with Step.
func differ(t *testing.T, calls int) {
	t.Helper()
	server := miniredis.RunT(t)
	now := time.Unix(1_700_000_000, 0)
	server.SetTime(now)
	w := redistest.World{
		Store: newStore(t, server.Addr()),
		Get: func(key string) string {
			state, _ := server.Get("awsretry:" + key) // none is an empty one
			return state
		},
		Set: func(key, state string) {
			server.Del("awsretry:" + key)
			if state != "" {
				require.NoError(t, server.Set("awsretry:"+key, state))
			}
		},
		Move: func(_ string, d time.Duration) {
			now = now.Add(d)
			server.SetTime(now)
			server.FastForward(max(d, 0))
		},
		Now: func() time.Time { return now },
		// Its Lua takes 1.0e5 for a number, and 1e5 for none.
		Misread: regexp.MustCompile(`(^| )[^. ]*e`).MatchString,
	}

	redistest.Differ(t, w, calls, 1)
}

func newStore(t *testing.T, addr string) *redisstore.Store {
	t.Helper()
	store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: []string{addr}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}
