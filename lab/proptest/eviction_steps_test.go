package proptest_test

import (
	"context"
	"slices"
	"strconv"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/retry"
)

// recovered calls a function and reports whether it has panicked, which only a function
// of the user does.
func recovered(t *rapid.T, call func()) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			panicked = true
			require.Equal(t, errPanic, p)
		}
	}()
	call()
	return false
}

func (r *forgetfulRun) begin(t *rapid.T) {
	r.enter(t, retry.Operation{
		Account: drawFrom(t, "account", "", "", "one"), // which counts without a scope
		Scope:   drawFrom(t, "scope", r.names...),
		Name:    drawFrom(t, "name", r.names...),
	}, drawFrom(t, "panics", "", "", "", "", "", inKey, inLimiter, inState))
}

// crowd begins and ends operations in many scopes, and again in each of them, if there is
// room for all.
func (r *forgetfulRun) crowd(t *rapid.T) {
	if r.config.MaxScopes < crowded {
		return
	}
	for i := range 2 * crowded {
		name := "crowd " + strconv.Itoa(i%crowded)
		r.enter(t, retry.Operation{Scope: name, Name: name}, "")
		r.success(t, r.open[len(r.open)-1])
	}
}

// awake notes which backoffs are over.
func (r *forgetfulRun) awake() {
	synctest.Wait()
	for _, v := range r.open {
		if v.sleeps && (v.cancel == nil || !r.clock.Now().Before(v.due)) {
			v.sleeps = false
			r.touch(v.life)
		}
	}
}

// enter begins an operation, or tries to.
func (r *forgetfulRun) enter(t *rapid.T, op retry.Operation, panics string) {
	r.awake()
	key := r.key(op)
	life, c := r.table[key], r.creation()
	r.panics = panics
	var token retry.Token
	var err error
	panicked := recovered(t, func() { token, err = r.strategy.AcquireInitialToken(t.Context(), op) })
	news := r.news
	r.news, r.panics = nil, ""
	switch {
	case panicked:
		r.panicked(t, panics, key, c, news)
		return
	case key == (retry.ScopeKey{}):
		require.Empty(t, news)
		life = r.whole
	case life != nil:
		require.Empty(t, news, "%q was there", key)
		r.touch(life)
	case key == retry.OverflowKey():
		created := map[retry.ScopeKey]bool{}
		for _, e := range news {
			require.Equal(t, retry.ScopeCreated, e.Kind)
			created[e.Scope] = true
		}
		life = r.overflows(t, created)
	default:
		life = c.happened(t, key, news)
	}
	require.NoError(t, err)
	r.open = append(r.open, &visit{token: token, life: life})
}

// panicked checks that an operation that could not begin has changed nothing, but that
// the table was looked through, and swept if it was time for that.
func (r *forgetfulRun) panicked(t *rapid.T, why string, key retry.ScopeKey, c creation, news []retry.Event) {
	evicted := map[retry.ScopeKey]bool{}
	for _, e := range news {
		require.Equal(t, retry.ScopeEvicted, e.Kind)
		require.Empty(t, c.stays[e.Scope])
		evicted[e.Scope] = true
	}
	r.made = nil
	switch {
	case why == inKey:
		require.NotNil(t, r.config.Scope)
	case key == retry.OverflowKey():
		require.Equal(t, inLimiter, why)
		require.Nil(t, r.overflow)
	default:
		require.NotContains(t, r.table, key)
		require.NotEmpty(t, why)
		if why == inLimiter {
			c.evicted(t, evicted)
			c.placed(t, len(evicted), c.full && len(evicted) == 0) // the panic may be that of the overflow
		}
		c.after(evicted, why == inState)
		r.forget(evicted)
	}
}

// pick draws an operation for which a wait is under way, or one for which none is.
func (r *forgetfulRun) pick(t *rapid.T, waiting bool) *visit {
	r.awake()
	var some []*visit
	for _, v := range r.open {
		if (v.cancel != nil) == waiting {
			some = append(some, v)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[drawInt(t, 0, len(some)-1, "operation")]
}

// end closes the books of an operation, which has ended in the scope that it began in.
func (r *forgetfulRun) end(v *visit) {
	r.open = slices.DeleteFunc(r.open, func(o *visit) bool { return o == v })
	v.sent = false
}

// told checks the event about the attempt that a verb has ended.
func (r *forgetfulRun) told(t *rapid.T, v *visit, quota, pool int, waited bool) {
	require.Len(t, r.ended, 1)
	require.Equal(t, v.life.key, r.ended[0].Scope)
	if v.life == r.whole {
		pool = 0
	}
	if r.exact() {
		require.False(t, waited)
		require.Equal(t, quota, r.ended[0].Quota, "quota of %q", v.life.key)
		require.Equal(t, pool, r.ended[0].Pool)
	}
	r.before, r.ended = r.ended[0], nil
}

// settled books the tokens that an operation has waited for.
func (r *forgetfulRun) settled(v *visit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v.pooled {
		r.pool -= v.owed
	} else {
		v.life.tokens -= v.owed
	}
	v.owed = 0
}

// give books what is given back. It comes before the verb, because that lets operations
// that wait take it.
func (r *forgetfulRun) give(v *visit, tokens int) (quota, pool int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	beyond := tokens
	if !v.pooled {
		beyond -= min(tokens, forgetfulQuota-v.life.tokens)
		v.life.tokens += tokens - beyond
	}
	if v.life != r.whole {
		r.pool = min(r.pool+beyond, forgetfulPool)
	}
	return v.life.tokens, r.pool
}

// wait begins a wait and does not wait for its end.
func (r *forgetfulRun) wait(t *rapid.T) {
	if v := r.pick(t, false); v != nil && !v.sent {
		r.waitFor(t, v)
	}
}

// waitFor begins a wait. One of a first attempt that is instant does not count as use, and any
// other does when its backoff is over: the observer hears of the waits of all retries.
func (r *forgetfulRun) waitFor(t *rapid.T, v *visit) {
	v.sleeps = v.life.limiter != nil || v.owed > 0 || v.token.Delay() > 0 || v.token.Attempt() > 1
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), visitKey{}, v))
	v.cancel, v.due = cancel, r.clock.Now().Add(v.token.Delay())
	v.panics = drawInt(t, 0, 9, "limiter panics") == 0
	go func() {
		v.err = errPanic
		defer func() {
			_ = recover()
			cancel()
			if v.sent = v.err == nil; v.sent {
				r.settled(v)
			}
			v.cancel = nil
		}()
		v.err = v.token.Wait(ctx)
	}()
	synctest.Wait()
}

func (r *forgetfulRun) cancel(t *rapid.T) {
	if v := r.pick(t, true); v != nil {
		v.cancel()
		synctest.Wait()
		if !v.panics { // else its limiter may have
			require.ErrorIs(t, v.err, retry.ErrCanceled)
		}
	}
}

// refresh ends an attempt, which may have been made or not.
func (r *forgetfulRun) refresh(t *rapid.T) {
	v, failure := r.pick(t, false), drawFrom(t, "failure", errAgain, errAgain, errServer, errServer, errServer, errNever, errPanic)
	if v == nil {
		return
	}
	r.touch(v.life)
	cost := map[error]int{errAgain: againCost, errServer: serverCost}[failure]
	waited := r.waitsForQuota(v.life)
	granted, pooled := v.life.tokens >= cost && !waited, false
	if !granted && v.life != r.whole {
		pooled = r.pool >= cost
		granted = pooled
	}
	before, pool := v.life.tokens, r.pool
	r.panics = drawFrom(t, "panics", "", "", "", "", "", inRandom)
	var next retry.Token
	var err error
	panicked := recovered(t, func() { next, err = r.strategy.RefreshRetryToken(t.Context(), v.token, failure) })
	r.panics = ""
	if panicked && failure == errPanic { //nolint:errorlint // it is
		return // the token is as good as before
	}
	r.told(t, v, before, pool, waited)
	v.sent = false
	switch {
	case panicked:
		require.NotZero(t, cost)
		require.NoError(t, r.strategy.RecordFailure(v.token, failure))
		r.end(v)
		return
	case failure == errNever: //nolint:errorlint // it is
		require.ErrorIs(t, err, retry.ErrNotRetryable)
	case v.token.Attempt() == r.config.MaxAttempts:
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	case !granted && r.config.MaxQuotaWait == 0:
		require.ErrorIs(t, err, retry.ErrQuotaExhausted)
	default:
		require.NoError(t, err)
		if !r.exact() {
			granted = r.scheduled.Quota+r.scheduled.Pool == r.before.Quota+r.before.Pool-cost
		}
		if v.paid, v.owed, v.pooled = cost, cost, pooled; granted {
			r.settled(v)
		}
		if v.token = next; drawBool(t, "wait at once") {
			r.waitFor(t, v)
		}
		return
	}
	require.NoError(t, r.strategy.RecordFailure(next, failure))
	r.end(v)
}

func (r *forgetfulRun) succeed(t *rapid.T) {
	if v := r.pick(t, false); v != nil {
		r.success(t, v)
	}
}

func (r *forgetfulRun) success(t *rapid.T, v *visit) {
	r.touch(v.life)
	back := v.paid - v.owed
	if v.token.Attempt() == 1 {
		back = 1
	}
	waited := r.waitsForQuota(v.life)
	quota, pool := r.give(v, back)
	require.NoError(t, r.strategy.RecordSuccess(v.token, retry.Result{}))
	r.told(t, v, quota, pool, waited)
	r.end(v)
}

func (r *forgetfulRun) fail(t *rapid.T) {
	v, failure := r.pick(t, false), drawFrom(t, "failure", errAgain, errServer, errNever, errPanic)
	if v == nil {
		return
	}
	r.touch(v.life)
	quota, pool, waited := v.life.tokens, r.pool, r.waitsForQuota(v.life)
	if !v.sent { // a retry that was granted and not made
		r.give(v, v.paid-v.owed)
	}
	panicked := recovered(t, func() { require.NoError(t, r.strategy.RecordFailure(v.token, failure)) })
	require.Equal(t, v.sent && failure == errPanic, panicked) //nolint:errorlint // it is
	if v.sent {
		r.told(t, v, quota, pool, waited)
	}
	r.end(v)
}

// abandon leaves an operation without an end, which loses what it has paid.
func (r *forgetfulRun) abandon(t *rapid.T) {
	v := r.pick(t, false)
	if v == nil {
		return
	}
	if v.sent && v.life.limiter != nil {
		v.life.limiter.abandoned++
	}
	r.end(v)
}

func (r *forgetfulRun) pass(t *rapid.T) {
	pause := drawFrom(t, "pause", 1, 100*time.Millisecond, time.Second, 59*time.Second, time.Minute, 4*time.Minute, 20*time.Minute)
	r.clock.Advance(pause)
	synctest.Wait()
}

// jump goes to the instant at which the next one that waits is due.
func (r *forgetfulRun) jump(*rapid.T) {
	r.clock.AdvanceToNext()
	synctest.Wait()
}

// cancelAll ends all waits, so that a run ends.
func (r *forgetfulRun) cancelAll() {
	for _, v := range r.open {
		if v.cancel != nil {
			v.cancel()
		}
	}
	synctest.Wait()
}
