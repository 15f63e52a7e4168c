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

// registry is a registry of texts that are their keys.
type registry = scope.Registry[string, string]

// config returns a configuration in which no time passes and nobody is in flight.
func config(limit int) scope.Config[string, string] {
	return scope.Config[string, string]{
		Limit:       limit,
		OverflowKey: "overflow",
		Now:         func() time.Time { return time.Time{} },
		Create:      func(key string) string { return key },
		InFlight:    func() map[string]int { return nil },
	}
}

// keys returns all keys of a registry.
func keys(r *registry) []string {
	var found []string
	r.Each(func(e *scope.Entry[string, string]) { found = append(found, e.Key) })
	return found
}

func TestSameKeyGivesTheSameEntry(t *testing.T) {
	t.Parallel()
	r := scope.New(config(0))
	first, news := r.Get("a")
	require.Equal(t, &scope.News[string]{Created: true}, news)
	second, news := r.Get("a")
	require.Nil(t, news)
	require.Same(t, first, second)
	whole, news := r.Get("")
	require.Nil(t, news, "the whole is there from the start")
	require.Same(t, r.Whole(), whole)
	require.Empty(t, whole.Value)
}

func TestKeysPastTheLimitShareOneEntry(t *testing.T) {
	t.Parallel()
	r := scope.New(config(2))
	got := []string{}
	created := 0
	for _, key := range []string{"a", "b", "c", "d", "a", ""} {
		e, news := r.Get(key)
		got = append(got, e.Value)
		if news != nil && news.Created {
			created++
		}
	}
	require.Equal(t, []string{"a", "b", "overflow", "overflow", "a", ""}, got)
	require.Equal(t, 3, created)
	require.Equal(t, uint64(2), r.Overflowed())
	require.ElementsMatch(t, []string{"", "a", "b", "overflow"}, keys(r))
	require.Empty(t, keys(r)[0], "the zero key comes first")
}

func TestLimitIsTheDefaultUnlessOneIsGiven(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, -1} {
		r := scope.New(config(limit))
		for key := range 10_000 {
			_, news := r.Get(strconv.Itoa(key))
			require.True(t, news.Created)
		}
		require.Zero(t, r.Overflowed())
		e, _ := r.Get("one too many")
		require.Equal(t, "overflow", e.Value)
		require.Equal(t, uint64(1), r.Overflowed())
	}
	require.Equal(t, 10_000, scope.DefaultLimit, "as documented")
	require.Equal(t, 5*time.Minute, scope.DefaultIdle, "as documented")
}

// TestRegistryConcurrentSafe counts in the values that goroutines find: if two of
// them were given different values for one key, the sum would be short.
func TestRegistryConcurrentSafe(t *testing.T) {
	t.Parallel()
	const goroutines, keys, limit = 200, 40, 30
	r := scope.New(scope.Config[string, *atomic.Int64]{
		Limit:       limit,
		OverflowKey: "overflow",
		Now:         func() time.Time { return time.Time{} },
		Create:      func(string) *atomic.Int64 { return &atomic.Int64{} },
		InFlight:    func() map[string]int { return nil },
	})
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for key := range keys {
				e, _ := r.Get(strconv.Itoa(key))
				e.Value.Add(1)
			}
		})
	}
	wg.Wait()
	sum, values := int64(0), 0
	r.Each(func(e *scope.Entry[string, *atomic.Int64]) {
		sum += e.Value.Load()
		values++
	})
	require.Equal(t, int64(goroutines*keys), sum)
	require.Equal(t, 1+limit+1, values)
}
