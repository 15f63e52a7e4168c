package awsretry_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func newFactory(t *testing.T, opts ...awsretry.BuildOption) *awsretry.Factory {
	t.Helper()
	f, err := awsretry.NewFactory(resolved(t, nil, "[default]\nretry_mode = adaptive\n"), opts...)
	require.NoError(t, err)
	return f
}

func TestSameKeyGivesTheSameStrategy(t *testing.T) {
	t.Parallel()
	f := newFactory(t, noDelay(adaptive.Config{}))
	first, err := f.Strategy("dynamodb/eu-west-1")
	require.NoError(t, err)
	again, err := f.Strategy("dynamodb/eu-west-1")
	require.NoError(t, err)
	require.Same(t, first, again)
	other, err := f.Strategy("s3/eu-west-1")
	require.NoError(t, err)
	require.NotSame(t, first, other)

	require.Equal(t, 3, attemptsOf(t, first, retry.Operation{Scope: "orders"}))
	require.Equal(t, "dynamodb/eu-west-1", again.Snapshot().SharedAs)
	quota := map[string]int{}
	for _, snapshot := range f.Snapshots() {
		for _, scope := range snapshot.Scopes {
			quota[snapshot.SharedAs+" "+scope.Scope] = scope.Quota
		}
	}
	require.Equal(t, map[string]int{"dynamodb/eu-west-1 ": 500, "dynamodb/eu-west-1 orders": 472, "s3/eu-west-1 ": 500}, quota)
	require.Equal(t, "dynamodb/eu-west-1", f.Snapshots()[0].SharedAs, "sorted by key")
}

func TestSnapshotsOfAFactoryAreSortedByKey(t *testing.T) {
	t.Parallel()
	f, want := newFactory(t), []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, i := range []int{3, 1, 4, 0, 5, 7, 2, 6} {
		_, err := f.Strategy(want[i])
		require.NoError(t, err)
	}
	var got []string
	for _, snapshot := range f.Snapshots() {
		got = append(got, snapshot.SharedAs)
	}
	require.Equal(t, want, got)
}

func TestFactoryHasOptionsOfItsOwn(t *testing.T) {
	t.Parallel()
	settings := resolved(t, nil, "")
	opts := []awsretry.BuildOption{noDelay(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(7)}})}
	f, err := awsretry.NewFactory(settings, opts...)
	require.NoError(t, err)
	opts[0] = nil
	s, err := f.Strategy("a")
	require.NoError(t, err)
	require.Equal(t, 7, s.Snapshot().Scopes[0].Quota)
}

func TestStrategyOfLoadHasNoKey(t *testing.T) {
	t.Parallel()
	s, err := awsretry.Load(t.Context(), with(nil, "")...)
	require.NoError(t, err)
	require.Empty(t, s.Snapshot().SharedAs)
}

func TestNewFactoryReturnsTheErrorsOfNew(t *testing.T) {
	t.Parallel()
	_, err := awsretry.NewFactory(nil)
	require.EqualError(t, err, "awsretry: no settings")
	f, err := awsretry.NewFactory(resolved(t, nil, ""), awsretry.WithConfig(adaptive.Config{Standard: standard.Config{RetryCost: -1}}))
	require.EqualError(t, err, "standard: RetryCost -1: must not be negative")
	require.Nil(t, f)
	_, err = newFactory(t).Strategy("")
	require.EqualError(t, err, "awsretry: the key of a shared strategy must not be empty")
}

func TestStrategyThatCannotBeBuiltLaterIsAnErrorOfStrategy(t *testing.T) {
	t.Parallel()
	calls := 0
	f := newFactory(t, awsretry.WithConfig(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit {
		calls++
		if calls == 2 {
			return adaptive.SendLimit{Ceiling: -1}
		}
		return adaptive.SendLimit{}
	}}))
	_, err := f.Strategy("a")
	require.ErrorContains(t, err, "ceiling -1")
	require.Empty(t, f.Snapshots())
	s, err := f.Strategy("a")
	require.NoError(t, err)
	require.NotNil(t, s)
}

func TestStrategyMayBeCalledWhileTheFactoryBuilds(t *testing.T) {
	t.Parallel()
	var f *awsretry.Factory
	var nested retry.Strategy
	f = newFactory(t, awsretry.WithConfig(adaptive.Config{
		NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter {
			if f != nil && nested == nil {
				nested, _ = standard.New(standard.Config{}) // The next call does not enter here.
				nested, _ = f.Strategy("a")
			}
			return nil
		},
	}))
	s, err := f.Strategy("a")
	require.NoError(t, err)
	require.Same(t, nested, s, "the strategy that was built first")
}

// TestFactoryConcurrentSafe checks the quota of a shared strategy. It would have more tokens if
// two goroutines had got different strategies.
func TestFactoryConcurrentSafe(t *testing.T) {
	t.Parallel()
	const goroutines, quota, cost = 50, 10_000, 14
	f := newFactory(t, noDelay(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(quota)}}))
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			s, err := f.Strategy("shared")
			if err != nil {
				panic(err)
			}
			_, _ = retry.Do(context.Background(), s, retry.Operation{}, func(context.Context) (int, error) {
				return 0, unavailable{}
			})
			_ = f.Snapshots()
		})
	}
	wg.Wait()
	require.Len(t, f.Snapshots(), 1)
	require.Equal(t, quota-cost*2*goroutines, f.Snapshots()[0].Scopes[0].Quota)
}
