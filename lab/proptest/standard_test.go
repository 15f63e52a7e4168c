package proptest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestStandardModeIsAsItsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		playStandard(t, true, func(c standard.Config) (observable, error) { return standard.New(c) })
	})
}

// Without its waits, adaptive mode is standard mode (A15).
func TestAdaptiveModeKeepsTheRulesOfStandardMode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		playStandard(t, false, func(c standard.Config) (observable, error) {
			return adaptive.New(adaptive.Config{Standard: c})
		})
	})
}

func playStandard(t *rapid.T, waits bool, build func(c standard.Config) (observable, error)) {
	config, jitter := drawConfig(t)
	config.MaxElapsed = drawFrom(t, "max elapsed of all", 0, 0, 0, time.Nanosecond, 5*time.Second)
	clk := clock.NewFake(start())
	config.Clock = clk
	strategy, err := build(config)
	require.NoError(t, err)
	run := &standardRun{
		strategy: strategy,
		clock:    clk,
		waits:    waits,
		model:    newStandardModel(config, jitter),
	}
	t.Repeat(map[string]func(*rapid.T){
		"":        run.check,
		"acquire": run.acquire,
		"refresh": run.refresh,
		"again":   run.refresh, // as likely as two others, so that operations get far
		"succeed": run.succeed,
		"fail":    run.fail,
		"abandon": func(t *rapid.T) { run.take(t) },
		"pass":    run.pass,
	})
	for len(run.open) > 0 {
		drawFrom(t, "last", run.succeed, run.fail, func(t *rapid.T) { run.take(t) })(t)
	}
	run.check(t)
	run.balance(t)
}

// standardRun is operations of one strategy, under way at the same time.
type standardRun struct {
	strategy observable
	clock    *clock.Fake
	waits    bool // tokens are waited for
	model    *standardModel
	open     []*openOperation
}

type openOperation struct {
	operationModel
	token retry.Token
}

func (r *standardRun) acquire(t *rapid.T) {
	op := drawOperation(t)
	op.MaxElapsed = drawFrom(t, "max elapsed", 0, 0, 0, -time.Second, time.Nanosecond, 4*time.Second)
	token, err := r.strategy.AcquireInitialToken(t.Context(), op)
	require.NoError(t, err)
	require.Equal(t, 1, token.Attempt())
	require.Zero(t, token.Delay())
	r.model.scope(op)
	o := &openOperation{operationModel{op: op, attempt: 1}, token}
	for _, limit := range []time.Duration{op.MaxElapsed, r.model.config.MaxElapsed} {
		if end := r.clock.Now().Add(limit); limit > 0 && (o.until.IsZero() || end.Before(o.until)) {
			o.until = end
		}
	}
	r.open = append(r.open, o)
}

// take takes an operation off those that are open.
func (r *standardRun) take(t *rapid.T) *openOperation {
	if len(r.open) == 0 {
		r.acquire(t)
	}
	i := drawInt(t, 0, len(r.open)-1, "operation")
	o := r.open[i]
	r.open = append(r.open[:i:i], r.open[i+1:]...)
	if r.waits && !o.made && drawBool(t, "wait") {
		err := o.token.WithoutDelay().Wait(t.Context())
		o.made = o.mayBegin(r.clock.Now())
		if o.made {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, retry.ErrMaxElapsed)
		}
	}
	return o
}

func (r *standardRun) refresh(t *rapid.T) {
	o, f := r.take(t), drawFailure(t)
	ctx, allowed := r.drawContext(t)
	allowed.now = r.clock.Now()
	want, wantDelay := r.model.fail(&o.operationModel, f, allowed)
	next, err := r.strategy.RefreshRetryToken(ctx, o.token, f.err())
	require.Equal(t, want, outcomeOf(err), "%v", err)
	require.Equal(t, wantDelay, next.Delay())
	require.Equal(t, o.attempt, next.Attempt())
	if err == nil {
		require.Equal(t, o.attempt-1, next.Attempt()-1)
		o.token = next
		r.open = append(r.open, o)
		return
	}
	require.ErrorIs(t, err, f)
	require.NoError(t, r.strategy.RecordFailure(drawFrom(t, "token", o.token, next), f))
}

// drawContext draws what the caller allows: mostly everything.
func (r *standardRun) drawContext(t *rapid.T) (context.Context, limits) {
	switch drawInt(t, 0, 9, "context") {
	case 8:
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx, limits{canceled: true}
	case 9:
		room := drawDuration(t, 1, 20*time.Second, "room")
		ctx, cancel := r.clock.WithTimeout(t.Context(), room)
		t.Cleanup(cancel)
		return ctx, limits{room: room}
	default:
		return t.Context(), limits{}
	}
}

func (r *standardRun) succeed(t *rapid.T) {
	o := r.take(t)
	r.model.succeed(&o.operationModel)
	require.NoError(t, r.strategy.RecordSuccess(o.token, retry.Result{}))
}

func (r *standardRun) fail(t *rapid.T) {
	o := r.take(t)
	r.model.end(&o.operationModel)
	require.NoError(t, r.strategy.RecordFailure(o.token, drawFailure(t).err()))
}

func (r *standardRun) pass(t *rapid.T) {
	ticks := drawInt(t, 1, 3000, "ticks")
	r.clock.Advance(time.Duration(ticks) * tick)
	r.model.pass(ticks)
}

// check compares the quotas.
func (r *standardRun) check(t *rapid.T) {
	used := 0
	for _, scope := range r.strategy.Snapshot().Scopes {
		want := r.model.initial()
		if m := r.model.scopes[scope.Scope]; m != nil {
			want = m.parts / tokenParts
			used++
		} else {
			require.Empty(t, scope.Scope, "a scope that no operation has used")
			want = min(want+r.model.ticks*int(r.model.config.QuotaRefill*8)/tokenParts, r.model.capacity())
		}
		require.Equal(t, want, scope.Quota, "quota of %q", scope.Scope)
		require.GreaterOrEqual(t, scope.Quota, 0)
		require.LessOrEqual(t, scope.Quota, scope.QuotaCapacity)
		require.Equal(t, r.model.capacity(), scope.QuotaCapacity)
	}
	require.Len(t, r.model.scopes, used)
	require.Equal(t, r.model.pool, r.strategy.Snapshot().Pool)
	require.Equal(t, r.model.poolCapacity(), r.strategy.Snapshot().PoolCapacity)
}

// balance closes the books: no token is made or lost.
func (r *standardRun) balance(t *rapid.T) {
	for _, scope := range r.strategy.Snapshot().Scopes {
		if m := r.model.scopes[scope.Scope]; m != nil {
			left := r.model.initial()*tokenParts - m.paid + m.back + m.brought
			require.Equal(t, left/tokenParts, scope.Quota, "the books of %q: %+v", scope.Scope, m)
		}
	}
}

// outcomeOf names the outcome of a refresh.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return retried
	case errors.Is(err, retry.ErrNotRetryable):
		return notRetryable
	case errors.Is(err, retry.ErrAttemptsExhausted):
		return tooManyAttempts
	case errors.Is(err, retry.ErrQuotaExhausted):
		return noQuota
	case errors.Is(err, retry.ErrCanceled):
		return canceled
	case errors.Is(err, retry.ErrDeadline):
		return beyondDeadline
	case errors.Is(err, retry.ErrMaxElapsed):
		return tooLate
	default:
		return err.Error()
	}
}

func TestEveryDelayIsBetweenTheShortestAndTheLongestOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		config, _ := drawConfig(t)
		if config.Backoff == nil {
			config.Jitter = drawFrom(t, "any kind of jitter",
				standard.Full, standard.NoJitter, standard.Equal, standard.Decorrelated, standard.FullThenCap)
		}
		config.Random = func() float64 { return drawFloat(t, 1, "random") }
		config.MaxAttempts, config.QuotaCapacity, config.QuotaInitial = 40, nil, nil
		strategy, err := standard.New(config)
		require.NoError(t, err)

		token, err := strategy.AcquireInitialToken(t.Context(), retry.Operation{})
		require.NoError(t, err)
		plan, slept := strategy.Plan(retry.Operation{}), time.Duration(0)
		for {
			verdict := classify.RetryAs(drawFrom(t, "kind", classify.Transient, classify.Throttling))
			longest, hinted := plan.MaxBackoff, drawBool(t, "hinted")
			if hinted {
				hint := drawAnyDuration(t, "hint")
				verdict, longest = verdict.WithHint(hint), longestWith(config, plan, hint)
			}
			token, err = strategy.RefreshRetryToken(t.Context(), token, &classify.JudgedError{Verdict: verdict})
			if err != nil {
				break
			}
			require.GreaterOrEqual(t, token.Delay(), config.MinDelay)
			require.LessOrEqual(t, token.Delay(), longest)
			if !hinted { // hints come on top of the worst case
				slept += token.Delay()
			}
		}
		require.Contains(t, []string{noQuota, tooManyAttempts}, outcomeOf(err))
		if config.Jitter != standard.Decorrelated {
			plan.MaxAttempts = token.Attempt()
			require.LessOrEqual(t, slept.Seconds(), forecast.WorstCaseDelay(plan)+1e-6)
		}
	})
}

// longestWith is the longest delay after a failure with a hint.
func longestWith(config standard.Config, plan retry.Plan, hint time.Duration) time.Duration {
	switch {
	case config.MaxHint > 0:
		return max(plan.MaxBackoff, min(hint, config.MaxHint))
	case config.Behavior == retry.V20:
		return plan.MaxBackoff
	default:
		return plan.MaxBackoff + 5*time.Second
	}
}
