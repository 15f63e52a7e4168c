package proptest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// phase is what the contract says that a token is good for.
type phase string

const (
	fresh   phase = "fresh"   // for everything
	waited  phase = "waited"  // for everything but another wait
	refused phase = "refused" // for RecordFailure, and for a last sleep
	used    phase = "used"    // for nothing
)

// held is a token that was kept.
type held struct {
	token   retry.Token
	issuer  int    // its strategy
	phase   *phase // shared by the two tokens of a refused refresh
	attempt int
	delay   time.Duration
}

// tokenRun is several strategies and all tokens that they have ever issued.
type tokenRun struct {
	strategies []observable
	held       []*held
}

func TestTokensAreGoodForWhatTheContractSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clk := clock.NewFake(start())
		config := standard.Config{
			Clock: clk, Classifier: fickle{},
			QuotaCapacity: new(60), BackoffWhenEmpty: drawBool(t, "backoff when empty"),
		}
		plain, err := standard.New(config)
		require.NoError(t, err)
		other, err := standard.New(config)
		require.NoError(t, err)
		limited, err := adaptive.New(adaptive.Config{Standard: config})
		require.NoError(t, err)
		run := &tokenRun{strategies: []observable{plain, other, limited}}
		run.held = append(run.held, &held{issuer: -1, phase: new(used)}) // the zero token
		actions := map[string]func(*rapid.T){
			"":        run.check,
			"acquire": run.acquire,
			"wait":    run.wait,
			"refresh": run.refresh,
			"panic":   run.panicIn,
			"succeed": run.succeed,
			"fail":    run.fail,
		}
		clk.Run(func() { t.Repeat(actions) })
	})
}

// check sees that a token says the same for ever.
func (r *tokenRun) check(t *rapid.T) {
	for _, h := range r.held {
		require.Equal(t, h.attempt, h.token.Attempt())
		require.Equal(t, h.attempt, h.token.Attempt())
		require.Equal(t, h.delay, h.token.Delay())
	}
}

func (r *tokenRun) keep(token retry.Token, issuer int, p *phase) {
	r.held = append(r.held, &held{token, issuer, p, token.Attempt(), token.Delay()})
}

// draw draws a token, one of the latest half of the time, and mostly its own
// strategy.
func (r *tokenRun) draw(t *rapid.T) (h *held, strategy int) {
	first := 0
	if drawBool(t, "late") {
		first = max(len(r.held)-4, 0)
	}
	h = r.held[drawInt(t, first, len(r.held)-1, "token")]
	strategy = max(h.issuer, 0)
	if drawInt(t, 0, 3, "strategy as well") == 0 {
		strategy = drawInt(t, 0, len(r.strategies)-1, "strategy")
	}
	return h, strategy
}

// misused is the error for a token that is in none of the phases, or nil.
func (h *held) misused(strategy int, good ...phase) error {
	if h.issuer != strategy {
		return retry.ErrForeignToken
	}
	if slices.Contains(good, *h.phase) {
		return nil
	}
	return retry.ErrTokenUsed
}

// against makes a call that the contract forbids, if it does, and sees that it
// gives its error and changes nothing.
func (r *tokenRun) against(t *rapid.T, forbidden error, call func() error) bool {
	if forbidden == nil {
		return false
	}
	before := r.snapshots()
	require.ErrorIs(t, call(), forbidden)
	require.Equal(t, before, r.snapshots())
	return true
}

func (r *tokenRun) snapshots() []retry.Snapshot {
	var all []retry.Snapshot
	for _, s := range r.strategies {
		all = append(all, s.Snapshot())
	}
	return all
}

func (r *tokenRun) acquire(t *rapid.T) {
	issuer := drawInt(t, 0, len(r.strategies)-1, "strategy")
	token, err := r.strategies[issuer].AcquireInitialToken(t.Context(), drawOperation(t))
	require.NoError(t, err)
	r.keep(token, issuer, new(fresh))
}

func (r *tokenRun) wait(t *rapid.T) {
	h, _ := r.draw(t)
	forbidden := h.misused(h.issuer, fresh, refused)
	if h.issuer < 0 {
		forbidden = retry.ErrForeignToken
	}
	if r.against(t, forbidden, func() error { return h.token.Wait(t.Context()) }) {
		return
	}
	if drawBool(t, "canceled") { // the token is as good as before
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, h.token.Wait(ctx), retry.ErrCanceled)
		return
	}
	require.NoError(t, h.token.Wait(t.Context()))
	if *h.phase == fresh {
		*h.phase = waited
	}
}

func (r *tokenRun) refresh(t *rapid.T) {
	h, strategy := r.draw(t)
	failed := drawFrom(t, "failure", errAgain, errAgain, errAgain, errNever)
	var next retry.Token
	call := func() (err error) {
		next, err = r.strategies[strategy].RefreshRetryToken(t.Context(), h.token, failed)
		return err
	}
	if r.against(t, h.misused(strategy, fresh, waited), call) {
		require.Zero(t, next)
		return
	}
	if err := call(); err != nil {
		require.ErrorIs(t, err, failed)
		*h.phase = refused
		r.keep(next, strategy, h.phase)
		return
	}
	require.Equal(t, h.attempt+1, next.Attempt())
	*h.phase = used
	r.keep(next, strategy, new(fresh))
}

// panicIn lets the classifier panic: the token is as good as before.
func (r *tokenRun) panicIn(t *rapid.T) {
	h, strategy := r.draw(t)
	call := func() error {
		_, err := r.strategies[strategy].RefreshRetryToken(t.Context(), h.token, errPanic)
		return err
	}
	if !r.against(t, h.misused(strategy, fresh, waited), call) {
		require.PanicsWithValue(t, errPanic, func() { _ = call() })
	}
}

func (r *tokenRun) succeed(t *rapid.T) {
	h, strategy := r.draw(t)
	call := func() error { return r.strategies[strategy].RecordSuccess(h.token, retry.Result{}) }
	if !r.against(t, h.misused(strategy, fresh, waited), call) {
		require.NoError(t, call())
		*h.phase = used
	}
}

func (r *tokenRun) fail(t *rapid.T) {
	h, strategy := r.draw(t)
	call := func() error { return r.strategies[strategy].RecordFailure(h.token, errNever) }
	if !r.against(t, h.misused(strategy, fresh, waited, refused), call) {
		require.NoError(t, call())
		*h.phase = used
	}
}
