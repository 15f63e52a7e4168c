package retry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// verbs are the calls that use a token up.
func (w world) verbs() map[string]func(token retry.Token) error {
	return map[string]func(token retry.Token) error{
		"refresh": func(token retry.Token) error {
			_, err := w.RefreshRetryToken(w.Context(), token, errServer)
			return err
		},
		"success": func(token retry.Token) error { return w.RecordSuccess(token, retry.Result{}) },
		"failure": func(token retry.Token) error { return w.RecordFailure(token, errServer) },
	}
}

// requireUsed requires that nothing can be done with a token.
func (w world) requireUsed(token retry.Token) {
	w.Helper()
	require.Equal(w, retry.ErrTokenUsed, token.Wait(w.Context()))
	for verb, use := range w.verbs() {
		require.Equal(w, retry.ErrTokenUsed, use(token), verb)
	}
}

func TestTokenIsGoodForOneCall(t *testing.T) {
	t.Parallel()
	inBoth(t, "", nil, func(t world) {
		for verb, use := range t.verbs() {
			token := acquire(t.T, t)
			require.NoError(t, use(token), verb)
			t.requireUsed(token)
			other := acquire(t.T, t) // which may have the state of the first by now
			t.requireUsed(token)
			require.NoError(t, t.RecordSuccess(other, retry.Result{}))
			require.Equal(t, retry.ErrForeignToken, use(retry.Token{}), verb)
		}
		require.Equal(t, retry.ErrForeignToken, retry.Token{}.Wait(t.Context()))
		require.Zero(t, retry.Token{}.Attempt())
	})
}

// The state of an operation that has ended is that of the next one, which is inside of another loop here.
func TestContextOfAUsedTokenKnowsNothingOfTheNextOperation(t *testing.T) {
	t.Parallel()
	inBoth(t, "", nil, func(t world) {
		inner := acquire(t.T, t).Context(t.Context())
		used := acquire(t.T, t)
		require.NoError(t, t.RecordSuccess(used, retry.Result{}))
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 1000 {
				token, err := t.AcquireInitialToken(inner, retry.Operation{})
				require.NoError(t, err)
				got, _ := retry.AttemptFrom(token.Context(inner))
				require.Equal(t, retry.Attempt{Number: 1, Loops: 2, MaxAttempts: 9}, got)
				require.NoError(t, t.RecordSuccess(token, retry.Result{}))
			}
		})
		for range 1000 {
			got, _ := retry.AttemptFrom(used.Context(t.Context()))
			require.Equal(t, retry.Attempt{Number: 1, Loops: 1, MaxAttempts: 1}, got, "as of a token of no strategy")
		}
		wg.Wait()
	})
}

// Long polling that the quota refuses sleeps once more before it ends.
func TestTokenCannotBeUsedDuringItsWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quota int
		good  string // what the token is good for after its wait
	}{"granted": {500, "success"}, "refused": {0, "failure"}} {
		inBoth(t, name, func(config *standard.Config) { config.QuotaInitial = &c.quota }, func(t world) {
			token := sent(t.Context(), t.T, t, retry.Operation{LongPolling: true})
			next, err := t.RefreshRetryToken(t.Context(), token, errServer)
			require.Equal(t, c.quota == 0, errors.Is(err, retry.ErrQuotaExhausted))
			require.Equal(t, time.Second, next.Delay())
			require.Equal(t, 1, play.Refusal(t, next.Wait(gone(t.T))).Attempts)
			require.ErrorIs(t, next.Wait(gone(t.T)), context.Canceled)
			require.ErrorIs(t, next.Wait(gone(t.T)), errServer, "a wait that failed may be tried again")

			waited := make(chan error)
			go func() { waited <- next.Wait(t.Context()) }()
			require.NoError(t, t.clk.BlockUntil(t.Context(), 1))
			t.requireUsed(next)
			t.clk.AdvanceToNext()
			require.NoError(t, <-waited)
			if c.quota == 0 {
				require.Equal(t, retry.ErrTokenUsed, t.RecordSuccess(next, retry.Result{}), "it is for no attempt")
			}
			require.NoError(t, t.verbs()[c.good](next))
			t.requireUsed(next)
			t.requireUsed(token)
		})
	}
	w := newWorld(t, "standard", nil)
	token := w.grant(acquire(t, w))
	require.NoError(t, token.WithoutDelay().Wait(t.Context()), "the caller has slept itself")
	require.Empty(t, w.clk.Waits())
	require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()), "it has been waited for")
}

func TestStrategyThatIsNilIsRefusedAndNothingIsCalled(t *testing.T) {
	t.Parallel()
	const ours = "use what standard.New, adaptive.New or awsretry.Load returns"
	for want, s := range map[string]retry.Strategy{
		"retry: no strategy: " + ours: nil,
		"retry: no strategy: a nil *retry_test.denying: use what its constructor returns, such as standard.New": (*denying)(nil),
	} {
		value, err := retry.Do(t.Context(), s, retry.Operation{}, func(context.Context) (int, error) { panic("called") })
		require.Zero(t, value)
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, retry.ErrNoStrategy)
		require.ErrorIs(t, retry.CheckStrategy(s), retry.ErrNoStrategy)
	}
	err := retry.CheckStrategy(foreign{})
	require.ErrorIs(t, err, retry.ErrNoStrategy)
	require.EqualError(t, err, "retry: no strategy: a retry_test.foreign around nil: "+ours)
	for _, s := range modes(t, nil, nil) {
		for _, given := range []retry.Strategy{s, denying{}, &denying{}, &counting{Strategy: s}} {
			require.NoError(t, retry.CheckStrategy(given))
		}
	}
}

func TestStrategyJudgesWithoutAnOperation(t *testing.T) {
	t.Parallel()
	inBoth(t, "", nil, func(t world) {
		before := t.Snapshot()
		require.Equal(t, classify.RetryAs(classify.Transient), t.Judge(retry.Operation{}, errServer))
		require.Equal(t, classify.RetryAs(classify.Throttling), t.Judge(ordersTable(), errThrottled))
		require.False(t, t.Judge(retry.Operation{}, errClient).Retryable())
		require.False(t, t.Judge(retry.Operation{}, context.Canceled).Retryable())
		require.True(t, t.Judge(retry.Operation{}, retry.Permanent(errServer)).Forbids())
		own := retry.Operation{Classifier: saying(classify.RetryAs(classify.Client))}
		require.Equal(t, classify.RetryAs(classify.Client), t.Judge(own, errClient))
		require.Empty(t, t.Events)
		require.Equal(t, before, t.Snapshot())
	})
}

func TestFailureThatIsNotRetriedIsJudgedForTheSendRateAndTheObserver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode     string
		observer retry.Observer
		op       retry.Operation
		want     int
	}{
		"standard mode":                          {mode: "standard", op: ordersTable()},
		"standard mode and an observer":          {mode: "standard", observer: &play.Recorder{}, op: ordersTable(), want: 1},
		"standard mode, observer and no service": {mode: "standard", observer: &play.Recorder{}, want: 1},
		"adaptive mode":                          {mode: "adaptive", op: ordersTable(), want: 1},
	} {
		calls := 0
		w := newWorld(t, c.mode, func(config *standard.Config) {
			config.Observer, config.Classifier = c.observer, judge(func(classify.Outcome) classify.Verdict {
				calls++
				return classify.RetryAs(classify.Throttling)
			})
		})
		require.NoError(t, w.RecordFailure(sent(t.Context(), t, w, c.op), errThrottled))
		require.Equal(t, c.want, calls, name)
	}
}

func TestTokenIsWhatItWasAfterAPanicOfTheClassifier(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]bool{"new": false, "waited for": true} {
		inBoth(t, name, func(c *standard.Config) {
			asked := 0
			c.Classifier = judge(func(classify.Outcome) classify.Verdict {
				if asked++; asked%4 > 0 {
					panic("classifier")
				}
				return classify.RetryAs(classify.Transient)
			})
		}, func(t world) {
			for range 2 { // operations
				token := acquire(t.T, t)
				if waits {
					require.NoError(t, token.Wait(t.Context()))
				}
				for range 3 {
					require.PanicsWithValue(t, "classifier", func() { _ = t.verbs()["refresh"](token) })
					require.Equal(t, 500, t.quota())
				}
				require.Equal(t, waits, token.Wait(t.Context()) == retry.ErrTokenUsed) //nolint:errorlint // the same value
				next := t.grant(token)
				require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()))
				require.NoError(t, next.WithoutDelay().Wait(t.Context()))
				require.NoError(t, t.RecordSuccess(next, retry.Result{}))
			}
		})
	}
}
