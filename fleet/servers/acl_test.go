//go:build race || servers

package servers

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/internal/redistest"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

// Servers word it in another way for a command within a script, and each version has its own.
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
		require.NotContains(t, err.Error(), password)
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

// The page says that this command is enough, and how to limit a user to some namespaces.
func TestUserOfThePageMayDoWhatAFleetDoesAndNoMore(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "fleet.md"))
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^ACL SETUSER .*$`).FindString(string(page))
	narrow := regexp.MustCompile("`(~awsretry:f2-[*]:[^`]* ~awsretry:check)`").FindStringSubmatch(string(page))
	require.Len(t, narrow, 2)
	for _, c := range []struct{ keys, forbidden string }{{"~awsretry:*", ""}, {narrow[1], "test/1:orders"}} {
		server := redistest.Start(t)
		var words []any
		for word := range strings.FieldsSeq(strings.ReplaceAll(command, "~awsretry:*", c.keys)) {
			words = append(words, word)
		}
		require.NoError(t, server.Client.Do(t.Context(), words...).Err())
		store, err := redisstore.New(redisstore.Config{
			Options: &redis.UniversalOptions{Addrs: []string{server.Addr}, Username: "awsretry", Password: "secret"},
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })

		require.NoError(t, store.Check(t.Context()))
		const key = "f2-00000000:prod/1:orders"
		for range 2 { // first by EVAL, then by EVALSHA
			reply, err := store.Call(t.Context(), key, fleet.Ask{Bad: 1})
			require.NoError(t, err)
			require.Equal(t, uint64(1), reply.Epoch)
		}
		// The scope has been without a throttle for long, so that the call deletes the key.
		require.NoError(t, server.Client.Set(t.Context(), "awsretry:"+key, "1 5 10 10 0 0 0 0 0 0 0 0 100 601", 0).Err())
		reply, err := store.Call(t.Context(), key, fleet.Ask{Epoch: 5})
		require.NoError(t, err)
		require.Zero(t, reply)
		require.Zero(t, server.Client.Exists(t.Context(), "awsretry:"+key).Val())
		if c.forbidden != "" {
			_, err = store.Call(t.Context(), "f2-00000000:"+c.forbidden, fleet.Ask{Bad: 1})
			require.ErrorContains(t, err, "NOPERM")
			require.ErrorIs(t, err, fleet.ErrRejected)
		}
	}
}
