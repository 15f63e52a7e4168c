package retry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

type statusError int

func (statusError) Error() string         { return "status" }
func (e statusError) HTTPStatusCode() int { return int(e) }

const (
	errServer = statusError(500)
	errClient = statusError(404)
)

// modes returns one strategy of each mode on the clock, without jitter and with
// delays of 1 s, 2 s, ... whatever the failure.
func modes(t *testing.T, clk clock.Clock, change func(c *standard.Config)) map[string]retry.Strategy {
	t.Helper()
	config := standard.Config{Clock: clk, Base: time.Second, Random: func() float64 { return 1 }}
	if change != nil {
		change(&config)
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	a, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	return map[string]retry.Strategy{"standard": s, "adaptive": a}
}

func acquire(t *testing.T, s retry.Strategy) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	return token
}

// verbs are the calls that use a token up.
func verbs(s retry.Strategy) map[string]func(t *testing.T, token retry.Token) error {
	return map[string]func(t *testing.T, token retry.Token) error{
		"refresh": func(t *testing.T, token retry.Token) error {
			t.Helper()
			_, err := s.RefreshRetryToken(t.Context(), token, errServer)
			return err
		},
		"success": func(t *testing.T, token retry.Token) error { t.Helper(); return s.RecordSuccess(token) },
		"failure": func(t *testing.T, token retry.Token) error { t.Helper(); return s.RecordFailure(token, errServer) },
	}
}

func TestTokenOfAnotherStrategyIsRefused(t *testing.T) {
	t.Parallel()
	others := modes(t, &clock.Fake{}, nil)
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		for verb, call := range verbs(s) {
			t.Run(mode+"/"+verb, func(t *testing.T) {
				t.Parallel()
				for _, other := range others {
					require.Equal(t, retry.ErrForeignToken, call(t, acquire(t, other)))
				}
				require.Equal(t, retry.ErrForeignToken, call(t, retry.Token{}))
			})
		}
	}
	require.Equal(t, retry.ErrForeignToken, retry.Token{}.Wait(t.Context()))
}

func TestTokenIsGoodForOneCall(t *testing.T) {
	t.Parallel()
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		for first, use := range verbs(s) {
			for second, again := range verbs(s) {
				t.Run(mode+"/"+first+" then "+second, func(t *testing.T) {
					t.Parallel()
					token := acquire(t, s)
					require.NoError(t, use(t, token))
					require.Equal(t, retry.ErrTokenUsed, again(t, token))
					require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()))
					// The state may be another operation's by now, and stays that one's.
					other := acquire(t, s)
					require.Equal(t, retry.ErrTokenUsed, again(t, token))
					require.NoError(t, s.RecordSuccess(other))
				})
			}
		}
	}
}

func TestRefusedTokenAcceptsOneRecordFailureOnly(t *testing.T) {
	t.Parallel()
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			for _, useReturned := range []bool{false, true} {
				token := acquire(t, s)
				returned, err := s.RefreshRetryToken(t.Context(), token, errClient)
				require.ErrorIs(t, err, retry.ErrNotRetryable)
				if useReturned {
					token, returned = returned, token
				}
				require.Equal(t, retry.ErrTokenUsed, s.RecordSuccess(token))
				_, err = s.RefreshRetryToken(t.Context(), token, errServer)
				require.Equal(t, retry.ErrTokenUsed, err)
				require.NoError(t, s.RecordFailure(token, errClient))
				require.Equal(t, retry.ErrTokenUsed, s.RecordFailure(token, errClient))
				require.Equal(t, retry.ErrTokenUsed, s.RecordFailure(returned, errClient))
			}
		})
	}
}

func TestTokenSaysWhichAttemptItIsForHoweverOld(t *testing.T) {
	t.Parallel()
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			first := acquire(t, s)
			second, err := s.RefreshRetryToken(t.Context(), first, errServer)
			require.NoError(t, err)
			require.NoError(t, s.RecordSuccess(second))
			require.Equal(t, []int{1, 2}, []int{first.Attempt(), second.Attempt()})
			require.Equal(t, []time.Duration{0, time.Second}, []time.Duration{first.Delay(), second.Delay()})
			require.Zero(t, retry.Token{}.Attempt())
		})
	}
}

// The state of an operation that has ended is that of the next one, which is inside of another loop here.
func TestContextOfAUsedTokenKnowsNothingOfTheNextOperation(t *testing.T) {
	t.Parallel()
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			inner := acquire(t, s).Context(t.Context())
			used := acquire(t, s)
			require.NoError(t, s.RecordSuccess(used))
			var wg sync.WaitGroup
			wg.Go(func() {
				for range 1000 {
					token, err := s.AcquireInitialToken(inner, retry.Operation{})
					require.NoError(t, err)
					got, _ := retry.AttemptFrom(token.Context(inner))
					require.Equal(t, retry.Attempt{Number: 1, Loops: 2, MaxAttempts: 9}, got)
					require.NoError(t, s.RecordSuccess(token))
				}
			})
			seen := map[retry.Attempt]int{}
			for range 1000 {
				got, _ := retry.AttemptFrom(used.Context(t.Context()))
				seen[got]++
			}
			wg.Wait()
			require.Equal(t, map[retry.Attempt]int{{Number: 1, Loops: 1, MaxAttempts: 1}: 1000}, seen, "as of a token of no strategy")
		})
	}
}

func TestWaitSleepsTheDelayOnce(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := modes(t, clk, nil)["standard"]
	token, err := s.RefreshRetryToken(t.Context(), acquire(t, s), errServer)
	require.NoError(t, err)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, token.Wait(gone), context.Canceled)
	require.ErrorIs(t, token.Wait(gone), errServer, "a wait that failed may be tried again")
	require.NoError(t, token.WithoutDelay().Wait(t.Context()), "the caller has slept itself")
	require.Empty(t, clk.Waits())
	require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()), "it has been waited for")
	require.NoError(t, s.RecordSuccess(token))
}

func TestTokenCannotBeUsedDuringItsWait(t *testing.T) {
	t.Parallel()
	for mode := range modes(t, &clock.Fake{}, nil) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := modes(t, clk, nil)[mode]
			token, err := s.RefreshRetryToken(t.Context(), acquire(t, s), errServer)
			require.NoError(t, err)
			waited := make(chan error)
			go func() { waited <- token.Wait(t.Context()) }()
			require.NoError(t, clk.BlockUntil(t.Context(), 1))
			for _, call := range verbs(s) {
				require.Equal(t, retry.ErrTokenUsed, call(t, token))
			}
			require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()))
			clk.AdvanceToNext()
			require.NoError(t, <-waited)
			require.NoError(t, s.RecordSuccess(token))
		})
	}
}

// TestTokensConcurrentSafe lets goroutines fight for the same tokens: each
// operation ends in one way, and the quota is the sum of the successes.
func TestTokensConcurrentSafe(t *testing.T) {
	t.Parallel()
	const operations = 400
	type snapshotter interface{ Snapshot() retry.Snapshot }
	change := func(c *standard.Config) { c.QuotaCapacity, c.QuotaInitial, c.MaxAttempts = new(operations), new(0), 1 }
	for mode, s := range modes(t, clock.System{}, change) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			ends := make([]ending, operations)
			var wg sync.WaitGroup
			for i := range ends {
				token := acquire(t, s)
				wg.Go(func() { ends[i].waited = token.Wait(t.Context()) })
				wg.Go(func() { ends[i].success = s.RecordSuccess(token) })
				wg.Go(func() { ends[i].failure = s.RecordFailure(token, errServer) })
				wg.Go(func() { _, ends[i].refresh = s.RefreshRetryToken(t.Context(), token, errServer) })
			}
			wg.Wait()
			successes := 0
			for _, e := range ends {
				if e.success == nil {
					successes++
					require.Equal(t, retry.ErrTokenUsed, e.failure)
					require.Equal(t, retry.ErrTokenUsed, e.refresh)
				}
				if !errors.Is(e.refresh, retry.ErrAttemptsExhausted) {
					require.Equal(t, retry.ErrTokenUsed, e.refresh)
				}
				for _, err := range []error{e.waited, e.success, e.failure} {
					if err != nil {
						require.Equal(t, retry.ErrTokenUsed, err)
					}
				}
			}
			require.Equal(t, successes, s.(snapshotter).Snapshot().Scopes[0].Quota)
		})
	}
}

// ending is what the four calls for one token said.
type ending struct{ waited, success, failure, refresh error }
