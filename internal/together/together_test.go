package together_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/together"
	"github.com/awsretry/awsretry/retry"
)

// throttles is a run of throttles, each in a scope, at the same distance from each other. The
// last one tells of the scopes in want, or of none.
type throttles struct {
	from, every time.Duration
	scopes      string
	want        string
}

// keysOf returns a key for each name.
func keysOf(names string) []retry.ScopeKey {
	var keys []retry.ScopeKey
	for name := range strings.FieldsSeq(names) {
		keys = append(keys, retry.ScopeKey{Service: "dynamodb", Resource: name})
	}
	return keys
}

// play plays throttles of one service.
func (run throttles) play(t *testing.T, machine *together.Watch, service retry.ScopeKey) {
	t.Helper()
	keys := keysOf(run.scopes)
	for i, key := range keys {
		var want []retry.ScopeKey
		if i == len(keys)-1 {
			want = keysOf(run.want)
		}
		after := run.from + time.Duration(i)*run.every
		require.Equal(t, want, machine.Throttle(time.Time{}.Add(after), service, key), "%s after %v", key, after)
	}
}

func TestThreeScopesThatAreThrottledWithinASecondAreToldOnceAMinute(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	for name, runs := range map[string][]throttles{
		"three at the same time":              {{scopes: "a b c", want: "a b c"}},
		"three in a second":                   {{every: time.Second / 2, scopes: "a b c", want: "a b c"}},
		"three in more than a second":         {{every: time.Second/2 + 1, scopes: "a b c"}},
		"two again and again":                 {{scopes: "a b a b a b a b b a"}},
		"one again and again":                 {{scopes: "a a a a a"}},
		"the last throttle of a scope counts": {{every: time.Second / 2, scopes: "a b a c", want: "b a c"}},
		"the first throttle of a scope does not": {
			{every: time.Second / 2, scopes: "a b b c"},
		},
		"the third of many": {{every: time.Second * 2, scopes: "a b c d e f g"}, {from: 12 * time.Second, scopes: "f e", want: "g f e"}},
		"no second time in the minute": {
			{scopes: "a b c", want: "a b c"},
			{scopes: "a b c d e f"},
			{from: time.Minute - 1, scopes: "a b c d e f"},
		},
		"a second time after a minute": {
			{scopes: "a b c", want: "a b c"}, {from: time.Minute, scopes: "a b c", want: "a b c"},
		},
		"at the end of the minute with all that came in it": {
			{scopes: "a b c", want: "a b c"},
			{from: time.Minute - time.Second, every: time.Second / 3, scopes: "a b c"},
			{from: time.Minute, scopes: "c", want: "a b c"},
		},
		"once a minute while it lasts": {
			{scopes: "a b c", want: "a b c"},
			{every: time.Second / 10, scopes: strings.Repeat("a b c d ", 150)},
			{from: time.Minute, scopes: "e", want: "c d e"},
		},
		"instants that come late": {
			{from: hour, scopes: "a"}, {from: hour - time.Second, scopes: "b"}, {from: hour - 1, scopes: "c", want: "a b c"},
		},
		"an instant that comes too late": {
			{from: hour, scopes: "a b"}, {from: hour - time.Second - 1, scopes: "c"},
		},
		"two that are near the third but not each other": {
			{from: hour, scopes: "a"}, {from: hour + 2*time.Second, scopes: "b"}, {from: hour + time.Second, scopes: "c"},
		},
		"a clock that jumps forward": {
			{scopes: "a b"},
			{from: hour, scopes: "c"},
			{from: hour, scopes: "d e", want: "c d e"},
			{from: 2 * hour, scopes: "a"},
			{from: 2 * hour, scopes: "b c", want: "a b c"},
		},
		"a clock that jumps back": {
			{from: hour, scopes: "a b"}, {scopes: "c"}, {scopes: "a b", want: "c a b"},
		},
		"a clock that jumps back after an event": {
			{from: hour, scopes: "a b c", want: "a b c"},
			{scopes: "a b"},
			{scopes: "c", want: "a b c"},
			{from: time.Minute - 1, scopes: "a b c"},
		},
		"a clock that jumps as far as it can": {
			{from: 1<<63 - 1, scopes: "a b"}, {from: -1 << 63, scopes: "c"}, {from: -1 << 63, scopes: "d e", want: "c d e"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var machine together.Watch
			for _, run := range runs {
				run.play(t, &machine, retry.ScopeKey{Service: "dynamodb"})
			}
		})
	}
}

func TestScopesOfDifferentServicesAreNotThrottledTogether(t *testing.T) {
	t.Parallel()
	var machine together.Watch
	for _, key := range keysOf("a b c") {
		for _, service := range []retry.ScopeKey{
			{Service: "dynamodb"},
			{Service: "s3"},
			{Service: "dynamodb", Region: "eu-west-1"},
			{Service: "dynamodb", Account: "111122223333"},
		} {
			got := machine.Throttle(time.Time{}, service, key)
			require.Equal(t, key.Resource == "c", got != nil, "%s of %s", key, service)
		}
	}
}

// numbered is one of many services.
func numbered(i int) retry.ScopeKey { return retry.ScopeKey{Service: strconv.Itoa(i)} }

func TestOnlySoManyServicesAreWatched(t *testing.T) {
	t.Parallel()
	const most = 256
	var machine together.Watch
	three := throttles{scopes: "a b c", want: "a b c"}
	for i := range most {
		three.play(t, &machine, numbered(i))
	}
	throttles{scopes: "a b c"}.play(t, &machine, numbered(most))
	throttles{from: time.Minute - 1, scopes: "a b c"}.play(t, &machine, numbered(most))
	require.Equal(t, most, machine.Watched(), "each of them is quiet")

	// Of one that was told of, and of one that was throttled just now, something is to be known.
	throttles{from: time.Minute - 1, scopes: "d d"}.play(t, &machine, numbered(0))
	throttles{from: time.Minute, scopes: "a b c", want: "a b c"}.play(t, &machine, numbered(1))
	throttles{from: time.Minute, scopes: "a b c", want: "a b c"}.play(t, &machine, numbered(most))
	require.Equal(t, 3, machine.Watched())
	throttles{from: time.Minute, scopes: "e f", want: "d e f"}.play(t, &machine, numbered(0))
	for i := range 10 * most {
		throttles{from: time.Hour + time.Duration(i)*time.Minute, scopes: "a b c", want: "a b c"}.play(t, &machine, numbered(i))
		require.LessOrEqual(t, machine.Watched(), most)
	}
}

func TestThrottleOfAKnownScopeAllocatesNothing(t *testing.T) {
	var machine together.Watch
	service, keys := numbered(0), keysOf("a b c d")
	throttles{scopes: "a b c", want: "a b c"}.play(t, &machine, service)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, key := range keys {
			machine.Throttle(time.Time{}, service, key)
		}
	}))
}
