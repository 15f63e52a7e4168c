package proptest_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestForgettingScopesLosesNothingThatMatters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { rapid.SyncTest(t, playForgetful) })
}

func playForgetful(t *rapid.T) {
	run := newForgetfulRun(t)
	defer run.cancelAll()
	t.Repeat(map[string]func(*rapid.T){
		"":        run.check,
		"begin":   run.begin,
		"other":   run.begin, // so that scopes are created
		"wait":    run.wait,
		"waits":   run.wait,
		"cancel":  run.cancel,
		"refresh": run.refresh,
		"succeed": run.succeed,
		"fail":    run.fail,
		"pass":    run.pass,
		"jump":    run.jump,
	})
}

// forgetfulRun is operations of one strategy with few and short-lived scopes, and
// the books of all lives of these. It runs in a bubble, so that everybody who can
// move has moved after each step.
type forgetfulRun struct {
	strategy *adaptive.Strategy
	config   adaptive.Config
	clock    *clock.Fake
	open     []*visit
	failed   string // what an event has shown to be wrong

	quotas   map[retry.ScopeKey]*quotaLife
	limiters map[retry.ScopeKey]*limiterLife
	made     *limiterLife // the last one, until its event
	evicted  uint64
}

// visit is an operation in its scopes.
type visit struct {
	op      retry.Operation
	token   retry.Token
	quota   *quotaLife
	limiter *limiterLife
	cancel  context.CancelFunc // of the wait that is under way, if one is
	err     error              // of the last wait
	sent    bool
	paid    int
}

// quotaLife is a quota from its creation to its eviction.
type quotaLife struct {
	key      retry.ScopeKey
	tokens   int
	lastUsed time.Time
}

// limiterLife is a limiter that knows what it has granted.
type limiterLife struct {
	adaptive.Limiter
	key      retry.ScopeKey
	lastUsed time.Time

	mu      sync.Mutex
	granted map[time.Time]int // guarded by mu: attempts under way by when they were sent
	wrong   string            // guarded by mu
}

func (l *limiterLife) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	sent, err := l.Limiter.Acquire(ctx, r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.granted[sent]++
	}
	return sent, err
}

func (l *limiterLife) Report(r ratelimit.Response) ratelimit.Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.granted[r.Sent]--; l.granted[r.Sent] < 0 {
		l.wrong = "a report of an attempt that this limiter has not granted, or another one"
	}
	return l.Limiter.Report(r)
}

// books says how many attempts are under way, and what was wrong.
func (l *limiterLife) books() (underWay int, wrong string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, attempts := range l.granted {
		underWay += attempts
	}
	return underWay, l.wrong
}

func newForgetfulRun(t *rapid.T) *forgetfulRun {
	jitter := drawFrom(t, "jitter", 0, 1.0)
	r := &forgetfulRun{
		clock: clock.NewFake(start()), quotas: map[retry.ScopeKey]*quotaLife{}, limiters: map[retry.ScopeKey]*limiterLife{},
	}
	r.config = adaptive.Config{
		Standard: standard.Config{
			Clock: r.clock, Observer: retry.ObserverFunc(r.observe), Classifier: fickle{}, Random: func() float64 { return jitter },
			MaxAttempts: 4, QuotaCapacity: new(20), QuotaInitial: new(drawInt(t, 0, 20, "initial quota")),
			MaxScopes:  drawInt(t, 1, 4, "max scopes"),
			ScopeIdle:  drawFrom(t, "idle", 1, time.Second, time.Minute, 15*time.Minute),
			QuotaScope: drawKeys(t, "quota"),
		},
		SendScope: drawKeys(t, "send rate"),
		SendCost:  drawFrom(t, "send cost", 0, 0, 3.5),
	}
	known := ratelimit.SendRateConfig{Ceiling: drawFrom[ratelimit.Rate](t, "ceiling", 0, 0.5, 4)}
	r.config.NewLimiter = func(key retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
		r.made = &limiterLife{
			Limiter: ratelimit.NewLimiter(known, clk), key: key, granted: map[time.Time]int{}, lastUsed: clk.Now(),
		}
		return r.made
	}
	var err error
	r.strategy, err = adaptive.New(r.config)
	require.NoError(t, err)
	r.quotas[retry.ScopeKey{}] = r.newQuota(retry.ScopeKey{})
	r.limiters[retry.ScopeKey{}], r.made = r.made, nil
	return r
}

// drawKeys draws a function for keys, or none.
func drawKeys(t *rapid.T, what string) func(op retry.Operation) retry.ScopeKey {
	return drawFrom(t, "keys of the "+what,
		nil,
		func(retry.Operation) retry.ScopeKey { return retry.ScopeKey{} },
		func(op retry.Operation) retry.ScopeKey { return retry.ScopeKey{Operation: op.Name} },
	)
}

func keyOf(function func(op retry.Operation) retry.ScopeKey, op retry.Operation) retry.ScopeKey {
	if function == nil {
		return op.Key()
	}
	return function(op)
}

func (r *forgetfulRun) newQuota(key retry.ScopeKey) *quotaLife {
	return &quotaLife{key: key, tokens: *r.config.Standard.QuotaInitial, lastUsed: r.clock.Now()}
}

// observe keeps the lives. Scopes must be created once and evicted only when they
// matter to nobody.
func (r *forgetfulRun) observe(_ context.Context, e retry.Event) {
	if e.Kind != retry.ScopeCreated && e.Kind != retry.ScopeEvicted {
		return
	}
	what := e.Kind.String() + " " + e.Part.String() + " " + e.Scope.String()
	quota, limiter := r.quotas[e.Scope], r.limiters[e.Scope]
	isQuota := e.Part == retry.QuotaPart
	switch {
	case e.Kind == retry.ScopeCreated && isQuota && quota == nil:
		r.quotas[e.Scope] = r.newQuota(e.Scope)
	case e.Kind == retry.ScopeCreated && !isQuota && limiter == nil && r.made != nil && r.made.key == e.Scope:
		r.limiters[e.Scope], r.made = r.made, nil
	case e.Kind == retry.ScopeEvicted && isQuota && quota != nil:
		r.evicted++
		delete(r.quotas, e.Scope)
		if why := r.quotaInUse(quota); why != "" {
			r.failed = what + ": " + why
		}
	case e.Kind == retry.ScopeEvicted && !isQuota && limiter != nil:
		r.evicted++
		delete(r.limiters, e.Scope)
		if why := r.limiterInUse(limiter); why != "" {
			r.failed = what + ": " + why
		}
	default:
		r.failed = what + ": not its turn"
	}
}

func (r *forgetfulRun) quotaInUse(q *quotaLife) string {
	for _, v := range r.open {
		if v.quota == q {
			return "an operation is under way"
		}
	}
	return r.tooSoon(q.key, q.lastUsed)
}

func (r *forgetfulRun) limiterInUse(l *limiterLife) string {
	for _, v := range r.open {
		if v.limiter == l {
			return "an operation is under way"
		}
	}
	state, waiting := l.State()
	underWay, _ := l.books()
	switch {
	case waiting > 0:
		return "somebody waits"
	case !state.LastThrottle.IsZero() && r.clock.Now().Sub(state.LastThrottle) < 10*time.Minute:
		return "it has been throttled"
	case l.Expected(1) > 0:
		return "it has no send token"
	case underWay > 0:
		return "an attempt is under way"
	}
	return r.tooSoon(l.key, l.lastUsed)
}

// tooSoon says what is wrong with an eviction of a scope that was last used then.
func (r *forgetfulRun) tooSoon(key retry.ScopeKey, lastUsed time.Time) string {
	switch {
	case key.IsZero():
		return "it is the strategy's"
	case r.clock.Now().Sub(lastUsed) < r.config.Standard.ScopeIdle:
		return "it has not been idle for long"
	}
	return ""
}

func (r *forgetfulRun) check(t *rapid.T) {
	synctest.Wait()
	require.Empty(t, r.failed)
	require.Nil(t, r.made, "a limiter was made and nobody told")
	quotaUsers, limiterUsers := map[*quotaLife]int{}, map[*limiterLife]int{}
	sent := map[*limiterLife]int{}
	for _, v := range r.open {
		quotaUsers[v.quota]++
		limiterUsers[v.limiter]++
		require.Same(t, r.limiters[v.limiter.key], v.limiter, "dropped while it was in use")
		require.Same(t, r.quotas[v.quota.key], v.quota, "dropped while it was in use")
		if v.sent {
			sent[v.limiter]++
		}
	}
	for _, l := range r.limiters {
		underWay, wrong := l.books()
		require.Empty(t, wrong)
		require.Equal(t, sent[l], underWay)
	}
	require.LessOrEqual(t, len(r.limiters), r.config.Standard.MaxScopes+2)
	require.LessOrEqual(t, len(r.quotas), r.config.Standard.MaxScopes+2)
	r.checkSnapshot(t, quotaUsers, limiterUsers)
}

func (r *forgetfulRun) checkSnapshot(t *rapid.T, quotaUsers map[*quotaLife]int, limiterUsers map[*limiterLife]int) {
	snapshot := r.strategy.Snapshot()
	require.Equal(t, r.evicted, snapshot.Evicted)
	quotas, limiters := 0, 0
	for _, scope := range snapshot.Scopes {
		inFlight := 0
		if scope.HasQuota {
			quotas++
			quota := r.quotas[scope.Key]
			require.NotNil(t, quota, scope.Scope)
			require.Equal(t, quota.tokens, scope.Quota, scope.Scope)
			inFlight = quotaUsers[quota]
		}
		if scope.HasSendRate {
			limiters++
			limiter := r.limiters[scope.Key]
			require.NotNil(t, limiter, scope.Scope)
			_, waiting := limiter.State()
			require.Equal(t, waiting, scope.Waiting)
			inFlight = max(inFlight, limiterUsers[limiter])
		}
		if !scope.Key.IsZero() { // which counts from the first wait on only
			require.Equal(t, inFlight, scope.InFlight, scope.Scope)
		}
	}
	require.Equal(t, len(r.quotas), quotas)
	require.Equal(t, len(r.limiters), limiters)
}
