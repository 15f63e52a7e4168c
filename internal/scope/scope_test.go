package scope_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/scope"
)

func TestSameKeyGivesTheSameValue(t *testing.T) {
	t.Parallel()
	r := scope.New(0, "overflow", func(key string) *string { return &key })
	first, created := r.Get("a")
	require.True(t, created)
	second, created := r.Get("a")
	require.False(t, created)
	require.Same(t, first, second)
	whole, created := r.Get("")
	require.False(t, created, "the whole is there from the start")
	require.Empty(t, *whole)
}

func TestKeysPastTheLimitShareOneValue(t *testing.T) {
	t.Parallel()
	r := scope.New(2, "overflow", func(key string) *string { return &key })
	got := []string{}
	for _, key := range []string{"a", "b", "c", "d", "a", ""} {
		value, _ := r.Get(key)
		got = append(got, *value)
	}
	require.Equal(t, []string{"a", "b", "overflow", "overflow", "a", ""}, got)
	require.Equal(t, uint64(2), r.Overflowed())
	keys := map[string]string{}
	r.Each(func(key string, value *string) { keys[key] = *value })
	require.Equal(t, map[string]string{"": "", "a": "a", "b": "b", "overflow": "overflow"}, keys)
}

func TestLimitIsTheDefaultUnlessOneIsGiven(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, -1} {
		r := scope.New(limit, "overflow", func(key string) *string { return &key })
		for key := range 10_000 {
			_, created := r.Get(strconv.Itoa(key))
			require.True(t, created)
		}
		require.Zero(t, r.Overflowed())
		value, _ := r.Get("one too many")
		require.Equal(t, "overflow", *value)
		require.Equal(t, uint64(1), r.Overflowed())
	}
	require.Equal(t, 10_000, scope.DefaultLimit, "as documented")
}

// TestRegistryConcurrentSafe counts in the values that goroutines find: if two of
// them were given different values for one key, the sum would be short.
func TestRegistryConcurrentSafe(t *testing.T) {
	t.Parallel()
	const goroutines, keys, limit = 200, 40, 30
	r := scope.New(limit, "overflow", func(string) *atomic.Int64 { return &atomic.Int64{} })
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for key := range keys {
				value, _ := r.Get(strconv.Itoa(key))
				value.Add(1)
			}
		})
	}
	wg.Wait()
	sum, values := int64(0), 0
	r.Each(func(_ string, value *atomic.Int64) {
		sum += value.Load()
		values++
	})
	require.Equal(t, int64(goroutines*keys), sum)
	require.Equal(t, 1+limit+1, values)
}
