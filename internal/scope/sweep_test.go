package scope_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/scope"
)

// world is what a registry looks at.
type world struct {
	now      time.Time
	inFlight map[string]int
	kept     map[string]bool
	asked    []string
}

// sweeping returns a registry with an idle time of a minute.
func sweeping(limit int) (*registry, *world) {
	w := &world{}
	c := config(limit)
	c.Idle = time.Minute
	c.Now = func() time.Time { return w.now }
	c.InFlight = func() map[string]int { return w.inFlight }
	c.Keep = func(e *scope.Entry[string, string], now time.Time) bool {
		w.asked = append(w.asked, e.Key)
		return w.kept[e.Key] && now.Equal(w.now)
	}
	return scope.New(c), w
}

// get gets all keys, one after the other, and returns what was evicted.
func get(r *registry, keys ...string) []string {
	var evicted []string
	for _, key := range keys {
		if _, news := r.Get(key); news != nil {
			evicted = append(evicted, news.Evicted...)
		}
	}
	return evicted
}

func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

func TestEntriesThatNobodyUsesAreEvictedWhenAnotherOneIsCreated(t *testing.T) {
	t.Parallel()
	r, w := sweeping(0)
	require.Empty(t, get(r, "a", "b"))
	w.pass(time.Minute)
	require.Empty(t, get(r, "c"), "both have been used since the registry was made")
	w.pass(time.Minute - 1)
	require.Empty(t, get(r, "b", "d"), "it is not time yet")
	w.pass(1)
	require.Empty(t, get(r, "b", "c"), "nothing is created")
	require.Equal(t, []string{"a"}, get(r, "e"))
	require.Equal(t, uint64(1), r.Evicted())
	require.ElementsMatch(t, []string{"", "b", "c", "d", "e"}, keys(r))

	again, news := r.Get("a")
	require.True(t, news.Created)
	require.Equal(t, "a", again.Value)
}

func TestEntriesInUseAreNotEvicted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		use  func(r *registry, w *world)
		stay bool
	}{
		"nobody":                {use: func(*registry, *world) {}},
		"in flight":             {use: func(_ *registry, w *world) { w.inFlight = map[string]int{"a": 1} }, stay: true},
		"another one in flight": {use: func(_ *registry, w *world) { w.inFlight = map[string]int{"b": 1} }},
		"kept":                  {use: func(_ *registry, w *world) { w.kept = map[string]bool{"a": true} }, stay: true},
		"another one kept":      {use: func(_ *registry, w *world) { w.kept = map[string]bool{"b": true} }},
		"used since":            {use: func(r *registry, _ *world) { r.Get("a") }, stay: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := sweeping(0)
			before, _ := r.Get("a")
			w.pass(time.Minute)
			require.Empty(t, get(r, "first"))
			tt.use(r, w)
			w.pass(time.Minute)
			evicted := get(r, "second")
			after, _ := r.Get("a")
			require.Equal(t, !tt.stay, before.Leaving())
			if tt.stay {
				require.Empty(t, evicted)
				require.Same(t, before, after)
			} else {
				require.Equal(t, []string{"a"}, evicted)
				require.NotSame(t, before, after)
			}
		})
	}
}

func TestTouchAtTheEndCountsAsUse(t *testing.T) {
	t.Parallel()
	r, w := sweeping(0)
	before, _ := r.Get("a")
	w.inFlight = map[string]int{"a": 1}
	for i := range 3 {
		w.pass(time.Minute)
		require.Empty(t, get(r, strconv.Itoa(i), "0", "1", "2"))
	}
	before.Touch()
	w.inFlight = nil
	w.pass(time.Minute)
	require.NotContains(t, get(r, "next"), "a")
	after, _ := r.Get("a")
	require.Same(t, before, after)
}

func TestTheWholeStaysAndTheOverflowGoes(t *testing.T) {
	t.Parallel()
	r, w := sweeping(1)
	get(r, "", "a", "b")
	require.ElementsMatch(t, []string{"", "a", "overflow"}, keys(r))
	w.pass(time.Minute)
	get(r, "b")
	w.pass(time.Minute)
	require.Equal(t, []string{"a"}, get(r, "c"), "the overflow has been used")
	require.ElementsMatch(t, []string{"", "c", "overflow"}, keys(r))
	w.pass(time.Minute)
	get(r, "d")
	w.pass(time.Minute)
	require.Equal(t, []string{"c"}, get(r, "d"))
	require.ElementsMatch(t, []string{"", "d", "overflow"}, keys(r))
	w.pass(time.Minute)
	require.Equal(t, []string{"overflow"}, get(r, "d", "e"))
	require.ElementsMatch(t, []string{"", "d", "overflow"}, keys(r), "e found no room and made another overflow")
}

func TestRoomOfTheEvictedIsGivenAway(t *testing.T) {
	t.Parallel()
	r, w := sweeping(3)
	get(r, "a", "b", "c", "d")
	require.Equal(t, uint64(1), r.Overflowed())
	w.pass(time.Minute)
	get(r, "d")
	require.Equal(t, uint64(2), r.Overflowed())
	w.pass(time.Minute)
	require.ElementsMatch(t, []string{"a", "b", "c"}, get(r, "d"))
	require.Equal(t, uint64(2), r.Overflowed())
	get(r, "e", "f", "g")
	require.Equal(t, uint64(3), r.Overflowed(), "there is room for three")
}

func TestSweepGoesOnAfterAPanicOfTheUser(t *testing.T) {
	t.Parallel()
	c := config(0)
	now := time.Time{}
	c.Now, c.Idle = func() time.Time { return now }, 1
	failing := true
	c.Keep = func(*scope.Entry[string, string], time.Time) bool {
		if failing {
			panic("keep")
		}
		return false
	}
	r := scope.New(c)
	get(r, "a")
	now = now.Add(1)
	get(r, "b")
	now = now.Add(1)
	require.PanicsWithValue(t, "keep", func() { get(r, "c") })
	failing = false
	now = now.Add(1)
	require.Contains(t, get(r, "d"), "a")
}

// TestSweepConcurrentSafe uses entries as strategies do, while others drive them
// out, and counts in the values. If one were dropped while it is in use, the next
// user would find another, and the sum would be short.
func TestSweepConcurrentSafe(t *testing.T) {
	t.Parallel()
	const goroutines, rounds, hot = 16, 300, 4
	var now, lost, evicted atomic.Int64
	var users [goroutines]atomic.Pointer[string]
	r := scope.New(scope.Config[string, *atomic.Int64]{
		Limit: 1000, Idle: 1, OverflowKey: "overflow",
		Now:    func() time.Time { return time.Unix(0, now.Load()) },
		Create: func(string) *atomic.Int64 { return &atomic.Int64{} },
		InFlight: func() map[string]int {
			counts := map[string]int{}
			for i := range users {
				if key := users[i].Load(); key != nil {
					counts[*key]++
				}
			}
			return counts
		},
	})
	enter := func(g int, key string) *scope.Entry[string, *atomic.Int64] {
		for {
			e, news := r.Get(key)
			users[g].Store(&e.Key)
			if news != nil {
				evicted.Add(int64(len(news.Evicted)))
			}
			if !e.Leaving() {
				return e
			}
		}
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				e := enter(g, "hot"+strconv.Itoa(i%hot))
				now.Add(1)
				if _, news := r.Get(strconv.Itoa(g) + "/" + strconv.Itoa(i)); news != nil {
					evicted.Add(int64(len(news.Evicted)))
				}
				if found, _ := r.Get(e.Key); found != e {
					lost.Add(1)
				}
				e.Touch()
				users[g].Store(nil)
			}
		})
	}
	wg.Wait()
	require.Zero(t, lost.Load(), "an entry was dropped while it was in use")
	require.Positive(t, evicted.Load())
	require.Equal(t, uint64(evicted.Load()), r.Evicted())
}

// A registry that was made outside of a testing/synctest bubble is years ahead of it.
func TestIdleTimeBeginsAnewOnAnotherClock(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		back time.Duration
		want []string
	}{
		"a clock that fell back by a year is late":    {year, nil},
		"one that fell back by more is another clock": {year + 1, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := sweeping(0)
			require.Empty(t, get(r, "a"))
			w.pass(-c.back)
			require.Empty(t, get(r, "b"))
			w.pass(time.Minute)
			require.Empty(t, get(r, "c"), "all have been used")
			w.pass(time.Minute)
			evicted := get(r, "b", "c", "d")
			require.Equal(t, c.want, evicted)
		})
	}
}
