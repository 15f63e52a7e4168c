package standard_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// waitingModes returns a strategy of each mode that waits a minute for quota, after a backoff of
// a second.
func waitingModes(t *testing.T, quota int, refill ratelimit.Rate) map[string]strategy {
	t.Helper()
	config := standard.Config{
		QuotaInitial: &quota, QuotaRefill: refill, MaxQuotaWait: time.Minute, Base: time.Second, Random: func() float64 { return 1 },
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	a, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	return map[string]strategy{"standard": s, "adaptive": a}
}

func TestRetryWaitsForQuota(t *testing.T) {
	t.Parallel()
	gaveUp := errors.New("enough")
	for name, c := range map[string]struct {
		quota   int
		refill  ratelimit.Rate
		timeout time.Duration
		want    []error
		text    string
		took    time.Duration // a second of it backoff
		left    int
	}{
		"until time brings it": {refill: 1, timeout: time.Hour, took: 14 * time.Second, left: 14}, // what it cost came back
		"in vain": {
			4, 0, time.Hour, []error{retry.ErrQuotaExhausted, errServer}, "1 attempt, 1m1s, 4 of 14 quota tokens", 61 * time.Second, 4,
		},
		"until the caller gives up": {timeout: 10 * time.Second, want: []error{retry.ErrCanceled, gaveUp, errServer}, took: 10 * time.Second},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s, start := waitingModes(t, c.quota, c.refill)[mode], time.Now()
					ctx, cancel := context.WithTimeoutCause(t.Context(), c.timeout, gaveUp)
					defer cancel()
					_, err := retry.Do(ctx, s, retry.Operation{}, play.Answers(errServer))
					require.Equal(t, c.want == nil, err == nil)
					for _, want := range c.want {
						require.ErrorIs(t, err, want)
						require.ErrorContains(t, err, c.text)
					}
					require.Equal(t, c.took, time.Since(start))
					require.Equal(t, c.left, s.Snapshot().Scopes[0].Quota)
				})
			})
		}
	}
}

// Operations that fail once and then succeed, are refused or give up: each token is in a quota or in
// the pool at the end.
func TestTokensOfScopesAndPoolConcurrentSafe(t *testing.T) {
	t.Parallel()
	const capacity, pooled, goroutines, rounds = 40, 28, 60, 200
	config := standard.Config{QuotaCapacity: new(capacity), Base: 1, Clock: clock.System{}}
	s, err := standard.New(config)
	require.NoError(t, err)
	a, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	for name, s := range map[string]strategy{"standard": s, "adaptive": a} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range pooled {
				_, err := retry.Do(t.Context(), s, retry.Operation{Scope: "a"}, play.Answers())
				require.NoError(t, err)
			}
			require.Equal(t, pooled, s.Snapshot().Pool)
			var refused, ended atomic.Int64
			var group sync.WaitGroup
			for i := range goroutines {
				group.Go(func() {
					random := rand.New(rand.NewPCG(uint64(i), 7))
					op := retry.Operation{Scope: [...]string{"a", "b", "c"}[i%3]}
					for range rounds {
						ctx, cancel := context.WithCancel(t.Context())
						n, gone := 0, random.IntN(3) == 0
						_, err := retry.Do(ctx, s, op, func(context.Context) (int, error) {
							if n++; n > 1 {
								return n, nil
							}
							if gone {
								go cancel()
							}
							return 0, errServer
						})
						cancel()
						if err == nil {
							ended.Add(1)
						} else {
							refused.Add(1)
						}
					}
				})
			}
			group.Wait()
			require.Positive(t, ended.Load())
			require.EqualValues(t, goroutines*rounds, ended.Load()+refused.Load())
			for scope, quota := range scopes(s) {
				require.Equal(t, capacity, quota, "quota of %q", scope)
			}
			require.Equal(t, pooled, s.Snapshot().Pool)
		})
	}
}
