//go:build race || servers

package servers

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet/internal/redistest"
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

	redistest.Differ(t, w, 20_000, 2)
}
