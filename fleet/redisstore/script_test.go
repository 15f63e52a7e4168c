package redisstore_test

import (
	"context"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/internal/redistest"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

func TestFromScriptPassesTheAskOn(t *testing.T) {
	t.Parallel()
	var got []string
	store := redisstore.FromScript(func(_ context.Context, sha, source, key string, args []string) ([]string, error) {
		require.Len(t, sha, 40)
		require.Contains(t, source, "redis.call('TIME')")
		got = append([]string{key}, args...)
		return nil, nil
	})

	reply, err := store.Call(t.Context(), "key", fleet.Ask{
		Seed: "1 2 3", Epoch: math.MaxUint64, OK: 0.1, Bad: math.NaN(), Want: math.Inf(1), Starting: 5, Ceiling: 1e300,
	})

	require.NoError(t, err)
	require.Zero(t, reply)
	require.Equal(t, []string{
		"key", "1 2 3", "18446744073709551615", "1.0000000000000001e-01", "NaN", "+Inf", "5.0000000000000000e+00",
		"1.0000000000000001e+300",
	}, got)
}

// Each version of the servers words an error in its own way, and that of a command within a script again.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	const login, wrong = "; the server wants a log-in: set user name and password", "; user name or password is wrong"
	const allow = "; allow the user GET, SET, DEL, TIME, EVALSHA and EVAL on the keys with the prefix"
	const command = "; the server must know GET, SET, DEL, TIME, EVALSHA and EVAL"
	const taken = "; another program has a key with this name: delete it, or choose another prefix"
	for text, want := range map[string]struct {
		advice   string
		rejected bool
	}{
		"NOAUTH Authentication required.":                                                  {login, true},
		"ERR Protocol error: unauthenticated multibulk length":                             {login, true},
		"WRONGPASS invalid username-password pair or user is disabled.":                    {wrong, true},
		"ERR invalid password":                                                             {wrong, true},
		"ERR Client sent AUTH, but no password is set":                                     {"; the server has no password: leave it out", true},
		"NOPERM this user has no permissions to run the 'eval' command":                    {allow, true},
		"ERR The user executing the script can't run this command or subcommand script: a": {allow, true},
		"ERR Error running script: @user_script:53: -NOPERM The user executing the script": {allow, true},
		"ERR ACL failure in script: User app has no permissions to run the 'get' command":  {allow, true},
		"ERR unknown command 'EVALSHA'":                                                    {command, true},
		"ERR Unknown Redis command called from script script: a":                           {command, true},
		"ERR This Redis command is not allowed from script script: a":                      {command, true},
		"redis: all sentinels specified are unreachable: ERR unknown command 'sentinel'":   {"; MasterName is for the addresses of Sentinels", true},
		"ERR unknown command `sentinel`":                                                   {"; MasterName is for the addresses of Sentinels", true},
		"WRONGTYPE Operation against a key holding the wrong kind of value":                {taken, true},
		"ERR Error running script (call to f_a): @user_script:1: WRONGTYPE Operation":      {taken, true},
		"MOVED 3999 127.0.0.1:1":                                                           {"; the server is a cluster: set IsClusterMode", true},
		"ERR This instance has cluster support disabled":                                   {"; the server is no cluster: leave IsClusterMode out, and give one address", true},
		"READONLY You can't write against a read only replica.":                            {"; this is a replica: give the address of the master", false},
		"OOM command not allowed when used memory > 'maxmemory'.":                          {"; the memory of the server is full: give it more, or a maxmemory-policy that evicts keys", false},
		"ERR DB index is out of range":                                                     {"; the server has no such database: leave DB out", false},
		"LOADING Redis is loading the dataset in memory":                                   {"", false},
		"CLUSTERDOWN The cluster is down":                                                  {"", false},
		"BUSY Redis is busy running a script.":                                             {"", false},
	} {
		for _, arguments := range []string{"", ", with args beginning with: 'app' 'secret' "} {
			cause := errors.New(text + arguments)
			store := redisstore.FromScript(func(context.Context, string, string, string, []string) ([]string, error) { return nil, cause })

			_, err := store.Call(t.Context(), "key", fleet.Ask{})

			said := "redisstore: "
			if want.rejected {
				said += "fleet: the store rejects the call: "
			}
			require.EqualError(t, err, said+text+want.advice)
			require.Equal(t, want.rejected, errors.Is(err, fleet.ErrRejected))
			require.Equal(t, arguments == "", errors.Is(err, cause))
		}
	}
}

// parse returns what a member that wants so many slots gets for these fields.
func parse(t *testing.T, fields []string, want float64) (fleet.Reply, error) {
	t.Helper()
	store := redisstore.FromScript(func(context.Context, string, string, string, []string) ([]string, error) {
		return fields, nil
	})
	return store.Call(t.Context(), "key", fleet.Ask{Want: want})
}

func TestParseReply(t *testing.T) {
	t.Parallel()
	good := []string{"3", "99.5", "1.25", "2", "0.5", "2e-2", "state"}
	tests := map[string]struct {
		change map[int]string
		want   string // empty: no error
	}{
		"good":               {},
		"nothing but a rate": {map[int]string{2: "0", 3: "0", 4: "0", 5: "0"}, ""},
		"learning":           {map[int]string{1: "0"}, ""},
		"epoch zero":         {map[int]string{0: "0"}, "epoch"},
		"a part of an epoch": {map[int]string{0: "1.5"}, "epoch"},
		"epoch too great":    {map[int]string{0: "1e16"}, "epoch"},
		"a negative rate":    {map[int]string{1: "-1"}, "rate"},
		"rate too great":     {map[int]string{1: "2e9"}, "rate"},
		"no number":          {map[int]string{1: "nan"}, "rate"},
		"infinite":           {map[int]string{2: "inf"}, "again"},
		"empty":              {map[int]string{2: ""}, "again"},
		"too late":           {map[int]string{4: "61"}, "start"},
		"gap too great":      {map[int]string{5: "1e300"}, "gap"},
		"more than wanted":   {map[int]string{3: "3"}, "slots"},
		"half a slot":        {map[int]string{3: "0.5"}, "slots"},
		"no state":           {map[int]string{6: ""}, "state"},
		"a huge state":       {map[int]string{6: strings.Repeat("1", 2000)}, "state"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := append([]string(nil), good...)
			for i, field := range tt.change {
				fields[i] = field
			}

			_, err := parse(t, fields, 2.5)

			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, fleet.ErrRejected)
			require.EqualError(t, err,
				"redisstore: fleet: the store rejects the call: the reply is not one of the script: "+tt.want)
		})
	}
	reply, err := parse(t, good, 2.5)
	require.NoError(t, err)
	require.Equal(t, fleet.Reply{
		Epoch: 3, Rate: 99.5, Again: 1250 * time.Millisecond, Slots: 2, Start: 500 * time.Millisecond,
		Gap: 20 * time.Millisecond, State: "state",
	}, reply)
	_, err = parse(t, good[:6], 2)
	require.ErrorContains(t, err, "6 fields")
}

func FuzzParseReply(f *testing.F) {
	f.Add("3\n99.5\n1.25\n2\n0.5\n2e-2\nstate", 2.0)
	f.Add("1\n0\n0.5\n0\n0\n0\n1762345678 1 0 0 0 0 0 0 0 0", 1.0)
	f.Add("1\nNaN\nInf\n1e999\n-0\n0x1p4\n", math.NaN())
	f.Add("9007199254740993\n1e9\n60\n1e9\n60\n60\n ", math.Inf(1))
	f.Add("", 0.0)
	f.Fuzz(func(t *testing.T, text string, want float64) {
		reply, err := parse(t, strings.Split(text, "\n"), want)
		if err != nil {
			require.ErrorIs(t, err, fleet.ErrRejected)
			require.Zero(t, reply)
			return
		}
		require.True(t, reply.Epoch >= 1 && reply.Epoch <= 1<<52)
		require.True(t, reply.Rate >= 0 && reply.Rate <= 1e9)
		require.True(t, reply.Slots >= 0 && (reply.Slots == 0 || float64(reply.Slots) <= want))
		for _, d := range []time.Duration{reply.Again, reply.Start, reply.Gap} {
			require.True(t, d >= 0 && d <= time.Minute)
		}
		require.NotEmpty(t, reply.State)
	})
}

// Package servers makes ten times as many calls of a real server.
func TestScriptDoesWhatStepDoes(t *testing.T) {
	t.Parallel()
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

	redistest.Differ(t, w, 2_000, 1)
}
