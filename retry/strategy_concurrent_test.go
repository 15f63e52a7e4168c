package retry_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// storm is what goroutines did to the tokens of one strategy.
type storm struct {
	strategy retry.Strategy
	opened   atomic.Int64
	granted  atomic.Int64
	mu       sync.Mutex
	held     []*heldToken // guarded by mu
}

// heldToken is a token and what became of it.
type heldToken struct {
	retry.Token
	granted                         bool // it is for a retry that was granted
	waited, refused, failed, passed atomic.Bool
}

func (s *storm) hold(token retry.Token, granted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, &heldToken{Token: token, granted: granted})
}

func (s *storm) any() *heldToken {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 {
		return &heldToken{}
	}
	return s.held[rand.IntN(len(s.held))]
}

// step makes one call, chosen at random, for a token chosen at random.
func (s *storm) step(t *testing.T) {
	t.Helper()
	h := s.any()
	switch rand.IntN(6) {
	case 0:
		s.opened.Add(1)
		s.hold(acquire(t, s.strategy), false)
	case 1:
		if h.Wait(t.Context()) == nil {
			h.waited.Store(true)
		}
	case 2:
		if h.WithoutDelay().Wait(t.Context()) == nil {
			h.waited.Store(true)
		}
	case 3:
		if s.strategy.RecordSuccess(h.Token, retry.Result{}) == nil {
			h.passed.Store(true)
		}
	case 4:
		if s.strategy.RecordFailure(h.Token, errServer) == nil {
			h.failed.Store(true)
		}
	case 5:
		next, err := s.strategy.RefreshRetryToken(t.Context(), h.Token, errServer)
		switch {
		case err == nil:
			s.granted.Add(1)
			s.hold(next, true)
		case errors.Is(err, retry.ErrAttemptsExhausted):
			h.refused.Store(true)
			s.hold(next, false)
		}
	}
}

// retryCost is what a retry after a failure of these tests takes from the quota.
const retryCost = 14

// ledger returns how many operations ended and what they gave back.
func (s *storm) ledger() (ended, back int64) {
	const firstTry = 1
	for _, h := range s.held {
		switch {
		case h.passed.Load() && h.Attempt() == 1:
			back += firstTry
		case h.passed.Load():
			back += retryCost
		case h.failed.Load() && h.granted && !h.waited.Load() && !h.refused.Load():
			back += retryCost // never made
		}
		if h.passed.Load() || h.failed.Load() {
			ended++
		}
	}
	return ended, back
}

// TestTokenStormConcurrentSafe lets goroutines make any call for any token, live
// or stale: every operation ends once, and the quota is what the grants and the
// ends say.
func TestTokenStormConcurrentSafe(t *testing.T) {
	t.Parallel()
	const quota = 1 << 29
	for mode, strategy := range modes(t, &clock.Fake{}, func(c *standard.Config) {
		c.QuotaCapacity, c.QuotaInitial, c.MaxAttempts = new(2*quota), new(quota), 4
		c.Random = func() float64 { return 0 }
	}) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := &storm{strategy: strategy}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 500 {
						s.step(t)
					}
				})
			}
			wg.Wait()
			for _, h := range s.held {
				if strategy.RecordFailure(h.Token, errServer) == nil {
					h.failed.Store(true)
				}
			}
			ended, back := s.ledger()
			require.Equal(t, s.opened.Load(), ended)
			left := strategy.Snapshot().Scopes[0].Quota
			require.Equal(t, quota-retryCost*s.granted.Load()+back, int64(left))
		})
	}
}
