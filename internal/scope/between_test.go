package scope_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/scope"
)

// What follows happens while a Get or a sweep is on its way: its functions do what
// another goroutine could have done at that moment.

func TestEntryThatSomebodyElseHasMadeInTheMeantimeIsTheOne(t *testing.T) {
	t.Parallel()
	c := config(0)
	var r *registry
	var other *scope.Entry[string, string]
	calls := 0
	c.Create = func(key string) string {
		if calls++; calls == 2 { // the first is the zero key's
			other, _ = r.Get(key)
		}
		return key
	}
	r = scope.New(c)
	e, news := r.Get("a")
	require.Same(t, other, e)
	require.False(t, news.Created)
	require.Equal(t, 3, calls)
	require.ElementsMatch(t, []string{"", "a"}, keys(r))
}

func TestRoomThatSomebodyElseHasTakenInTheMeantimeIsGone(t *testing.T) {
	t.Parallel()
	c := config(1)
	var r *registry
	c.Create = func(key string) string {
		if key == "a" {
			r.Get("b")
		}
		return key
	}
	r = scope.New(c)
	e, news := r.Get("a")
	require.Equal(t, "overflow", e.Value)
	require.True(t, news.Created)
	require.Equal(t, uint64(1), r.Overflowed())
	require.ElementsMatch(t, []string{"", "b", "overflow"}, keys(r))
}

func TestThereIsOneSweepAtATime(t *testing.T) {
	t.Parallel()
	var r *registry
	c, now, asked := config(0), time.Time{}, 0
	c.Idle = time.Minute
	c.Now = func() time.Time { return now }
	c.Keep = func(*scope.Entry[string, string], time.Time) bool {
		asked++
		now = now.Add(time.Hour)
		require.Empty(t, get(r, "x", "y"), "a sweep is on its way")
		return false
	}
	r = scope.New(c)
	get(r, "a")
	now = now.Add(time.Minute)
	get(r, "b")
	now = now.Add(time.Minute)
	require.Equal(t, []string{"a"}, get(r, "b", "c"))
	require.Equal(t, 1, asked)
	require.Equal(t, uint64(1), r.Evicted())
}

// A user counts as in flight and then looks whether the entry is leaving, so the
// sweep has to mark it before it looks who is in flight.
func TestEntriesAreLeavingBeforeTheUsersAreCounted(t *testing.T) {
	t.Parallel()
	r, w := (*registry)(nil), &world{}
	var a *scope.Entry[string, string]
	counted := 0
	c := config(0)
	c.Idle = time.Minute
	c.Now = func() time.Time { return w.now }
	c.InFlight = func() map[string]int {
		counted++
		require.True(t, a.Leaving())
		return nil
	}
	r = scope.New(c)
	a, _ = r.Get("a")
	w.pass(time.Minute)
	get(r, "b")
	require.Zero(t, counted, "there is nothing to drop yet")
	w.pass(time.Minute)
	require.Equal(t, []string{"a"}, get(r, "c"))
	require.Equal(t, 1, counted)
}

// Whoever is done touches the entry and then ceases to be in flight, so the sweep
// has to look for that last.
func TestEntryThatIsTouchedWhileTheUsersAreCountedStays(t *testing.T) {
	t.Parallel()
	r, w := (*registry)(nil), &world{}
	var a *scope.Entry[string, string]
	c := config(0)
	c.Idle = time.Minute
	c.Now = func() time.Time { return w.now }
	c.InFlight = func() map[string]int {
		a.Touch()
		return nil
	}
	r = scope.New(c)
	a, _ = r.Get("a")
	w.pass(time.Minute)
	get(r, "b")
	w.pass(time.Minute)
	require.Empty(t, get(r, "c"))
	require.False(t, a.Leaving())
	require.Contains(t, keys(r), "a")
}
