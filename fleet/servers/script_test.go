//go:build race || servers

package servers

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
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

	redistest.Differ(t, w, 20_000, 2)
}

// Servers word it in another way for a command within a script, and each version has its own.
func TestMissingPermissionIsFinal(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	allowed := []any{"+get", "+set", "+time", "+evalsha", "+eval"}
	for i := range allowed {
		user, without := fmt.Sprintf("user%d", i), slices.Delete(slices.Clone(allowed), i, i+1)
		words := append([]any{"ACL", "SETUSER", user, "on", ">" + password, "~*"}, without...)
		require.NoError(t, server.Client.Do(t.Context(), words...).Err())
		for _, with := range []string{password, "a wrong one"} {
			require.NoError(t, server.Client.ScriptFlush(t.Context()).Err()) // so that EVAL is needed
			store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{
				Addrs: []string{server.Addr}, Username: user, Password: with,
			}})
			require.NoError(t, err)

			_, err = store.Call(t.Context(), "f2-00000000:test:orders", fleet.Ask{Bad: 1})

			require.ErrorIs(t, err, fleet.ErrRejected, "without %v", allowed[i])
			require.NotContains(t, err.Error(), with)
			require.NoError(t, store.Close())
		}
	}
}

func TestCheckFindsEachMissingPermission(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	check := func(user, pass string) error {
		t.Helper()
		store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{
			Addrs: []string{server.Addr}, Username: user, Password: pass,
		}})
		require.NoError(t, err)
		defer func() { require.NoError(t, store.Close()) }()
		return store.Check(t.Context())
	}
	permit := func(user, keys string, commands ...string) {
		t.Helper()
		words := []any{"ACL", "SETUSER", user, "on", ">" + password, keys}
		for _, command := range commands {
			words = append(words, "+"+command)
		}
		require.NoError(t, server.Client.Do(t.Context(), words...).Err())
	}
	all := []string{"get", "set", "del", "time", "evalsha", "eval"}
	permit("all", "~awsretry:*", all...)
	require.NoError(t, check("all", password))
	require.Zero(t, server.Client.DBSize(t.Context()).Val())
	permit("other", "~other:*", all...)
	require.ErrorContains(t, check("other", password), "; allow the user")
	for i, command := range all { // the server knows the script by now
		permit(command, "~awsretry:*", slices.Delete(slices.Clone(all), i, i+1)...)
		err := check(command, password)
		require.ErrorIs(t, err, fleet.ErrRejected, "without %s", command)
		require.ErrorContains(t, err, "; allow the user", "without %s", command)
	}
	wrong := check("all", "a wrong one")
	require.ErrorIs(t, wrong, fleet.ErrRejected)
	require.ErrorContains(t, wrong, "; user name or password is wrong")
	require.NoError(t, server.Client.ConfigSet(t.Context(), "requirepass", password).Err())
	none := check("", "")
	require.ErrorIs(t, none, fleet.ErrRejected)
	require.ErrorContains(t, none, "unauthenticated")
	require.ErrorContains(t, none, "; the server wants a log-in")
}

func newStore(t *testing.T, addr string) *redisstore.Store {
	t.Helper()
	store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: []string{addr}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}
