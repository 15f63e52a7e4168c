package proptest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestForgettingScopesLosesNothingThatMatters(t *testing.T) {
	t.Parallel()
	for name, limited := range map[string]bool{"standard": false, "adaptive": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				rapid.SyncTest(t, func(t *rapid.T) { playForgetful(t, limited) })
			})
		})
	}
}

func playForgetful(t *rapid.T, limited bool) {
	run := newForgetfulRun(t, limited)
	defer run.cancelAll()
	actions := map[string]func(*rapid.T){
		"":        run.check,
		"begin":   run.begin,
		"other":   run.begin, // so that scopes are created
		"another": run.begin,
		"crowd":   run.crowd,
		"wait":    run.wait,
		"waits":   run.wait,
		"cancel":  run.cancel,
		"refresh": run.refresh,
		"again":   run.refresh,
		"succeed": run.succeed,
		"fail":    run.fail,
		"abandon": run.abandon,
		"pass":    run.pass,
		"jump":    run.jump,
	}
	for range 3 { // one is too short for scopes that come, go and come again
		t.Repeat(actions)
	}
}

// The quota of each scope of these runs, and what a retry costs.
const (
	forgetfulQuota = 20
	serverCost     = 3
	againCost      = 5
	forgetfulPool  = 2 * serverCost
)

// crowded is how many scopes make the table grow.
const crowded = 20

// forgetfulRun is operations of one strategy with few and short-lived scopes, and the
// books of all lives of these. It runs in a bubble, so that whatever can move has moved
// after each step.
type forgetfulRun struct {
	strategy observable
	config   standard.Config
	clock    *clock.Fake
	open     []*visit

	pool     int // tokens beside the quotas of all scopes but the whole
	whole    *scopeLife
	overflow *scopeLife                    // nil until it is needed
	table    map[retry.ScopeKey]*scopeLife // all others that there are
	gone     []*scopeLife                  // with operations that go on
	swept    time.Time
	full     time.Time // until when all scopes have to stay

	created, evicted, overflowed uint64

	mu     sync.Mutex // for the tokens of lives and what visits owe
	names  []string   // of scopes and of operations
	panics string     // which function of the user panics
	noisy  bool       // the observer panics, always
	made   []*bookedLimiter
	news   []retry.Event // about scopes, since the last step
	ended  []retry.Event // about attempts, since the last step

	before, scheduled retry.Event // the last ones of an attempt that ended, and of the retry after it
}

// exact reports whether the books know how many tokens there are. Where operations wait for quota, those
// whose backoffs end together come in any order, and the pool may pay for any of them.
func (r *forgetfulRun) exact() bool { return r.config.MaxQuotaWait == 0 }

// visit is an operation in the scope that it began in.
type visit struct {
	token      retry.Token
	life       *scopeLife
	cancel     context.CancelFunc // of the wait that is under way, if one is
	due        time.Time          // when the backoff of that wait is over
	sleeps     bool               // it may not be over
	err        error              // of the last wait
	sent       bool
	paid, owed int
	pooled     bool // the pool has paid
	panics     bool // its limiter does, when it is asked
}

// bookedLimiter is a limiter that knows what it has granted.
type bookedLimiter struct {
	adaptive.Limiter
	key retry.ScopeKey
	run *forgetfulRun

	mu        sync.Mutex
	granted   map[time.Time]int // guarded by mu: attempts under way by when they were sent
	abandoned int
	wrong     string // guarded by mu
}

type visitKey struct{}

func (l *bookedLimiter) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	v, ok := ctx.Value(visitKey{}).(*visit)
	if !ok || v.life.limiter != l {
		l.note("an attempt of an operation of another scope")
		return time.Time{}, errPanic
	}
	l.run.settled(v)
	if v.panics {
		panic(errPanic)
	}
	sent, err := l.Limiter.Acquire(ctx, r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.granted[sent]++
	}
	return sent, err
}

func (l *bookedLimiter) Report(r ratelimit.Response) ratelimit.Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.granted[r.Sent]--; l.granted[r.Sent] < 0 {
		l.wrong = "a report of an attempt that this limiter has not granted, or a second one"
	}
	return l.Limiter.Report(r)
}

func (l *bookedLimiter) State() retry.ScopeSnapshot {
	if l.run.panics == inState {
		panic(errPanic)
	}
	return l.Limiter.State()
}

func (l *bookedLimiter) note(wrong string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = wrong
}

// books says how many attempts are under way, and what was wrong.
func (l *bookedLimiter) books() (underWay int, wrong string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, attempts := range l.granted {
		underWay += attempts
	}
	return underWay - l.abandoned, l.wrong
}

// Functions of the user that may panic.
const (
	inKey     = "key"
	inLimiter = "new limiter"
	inState   = "state"
	inRandom  = "random"
)

var errServer = errors.New("server")

// moody is fickle, with a fourth mood.
type moody struct{ fickle }

func (m moody) Classify(o classify.Outcome) classify.Verdict {
	if errors.Is(o.Err, errServer) {
		return classify.RetryAs(classify.Transient)
	}
	return m.fickle.Classify(o)
}

func newForgetfulRun(t *rapid.T, limited bool) *forgetfulRun {
	jitter := drawFrom(t, "jitter", 0, 1.0)
	r := &forgetfulRun{
		clock: clock.NewFake(start()), table: map[retry.ScopeKey]*scopeLife{}, swept: start(),
		noisy: drawBool(t, "observer panics"),
		names: drawFrom(t, "names",
			[]string{"a"}, // so that operations meet
			[]string{"", "a", "b"},
			[]string{"", "a", "b", "c", "d", "e", "f", "g", "scan"},
		),
	}
	r.config = standard.Config{
		Clock: r.clock, Observer: retry.ObserverFunc(r.observe), Classifier: moody{},
		Random: func() float64 {
			if r.panics == inRandom {
				panic(errPanic)
			}
			return jitter
		},
		RetryCost: serverCost, ThrottlingCost: againCost, MaxAttempts: 4, QuotaCapacity: new(forgetfulQuota),
		QuotaInitial: new(drawFrom(t, "initial quota", 0, 2, 4, 9, forgetfulQuota)),
		MaxQuotaWait: drawFrom(t, "max quota wait", 0, 0, 10*time.Second, 30*time.Minute),
		MaxScopes:    drawFrom(t, "max scopes", 1, 2, 3, 4, 5, 6, 2*crowded),
		ScopeIdle:    drawFrom(t, "idle", 1, time.Second, time.Minute, 15*time.Minute),
		Scope:        r.drawKeys(t),
	}
	r.config.TimeoutCost = *r.config.QuotaInitial // so that a scope that has paid for a retry stays until it is full again
	var err error
	if limited {
		r.strategy, err = adaptive.New(r.adaptive(t))
	} else {
		r.strategy, err = standard.New(r.config)
	}
	require.NoError(t, err)
	r.whole = r.born(retry.ScopeKey{})
	r.created = 0
	return r
}

// adaptive draws the rest of the config of adaptive mode.
func (r *forgetfulRun) adaptive(t *rapid.T) adaptive.Config {
	known := sendrate.Config{Ceiling: drawFrom[ratelimit.Rate](t, "ceiling", 0, 0, 0.5, 4)}
	return adaptive.Config{
		Standard: r.config,
		SendCost: drawFrom(t, "send cost", 0, 0, 3.5),
		NewLimiter: func(key retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			if r.panics == inLimiter {
				panic(errPanic)
			}
			limiter := &bookedLimiter{
				Limiter: sendrate.NewLimiter(known, clk), key: key, run: r, granted: map[time.Time]int{},
			}
			r.made = append(r.made, limiter)
			return limiter
		},
	}
}

// drawKeys draws a function for keys, or none.
func (r *forgetfulRun) drawKeys(t *rapid.T) func(op retry.Operation) retry.ScopeKey {
	function := drawFrom(t, "keys",
		retry.Operation.Key,
		func(op retry.Operation) retry.ScopeKey { return retry.ScopeKey{Name: op.Name} },
		func(op retry.Operation) retry.ScopeKey {
			if op.Name == "scan" {
				return retry.OverflowKey()
			}
			return op.Key()
		},
	)
	if drawBool(t, "no function for keys") {
		return nil
	}
	return func(op retry.Operation) retry.ScopeKey {
		if r.panics == inKey {
			panic(errPanic)
		}
		return function(op)
	}
}

func (r *forgetfulRun) key(op retry.Operation) retry.ScopeKey {
	if r.config.Scope == nil {
		return op.Key()
	}
	return r.config.Scope(op)
}

func (r *forgetfulRun) observe(_ context.Context, e retry.Event) {
	switch e.Kind {
	case retry.ScopeCreated, retry.ScopeEvicted:
		r.news = append(r.news, e)
	case retry.AttemptEnded:
		r.ended = append(r.ended, e)
	case retry.RetryScheduled:
		r.scheduled = e
	default:
	}
	if r.noisy {
		panic(errPanic)
	}
}

func (r *forgetfulRun) check(t *rapid.T) {
	synctest.Wait()
	require.Empty(t, r.news, "told, but not by what begins")
	require.Empty(t, r.ended)
	require.Empty(t, r.made, "a limiter was made without a scope")
	require.LessOrEqual(t, len(r.table), r.config.MaxScopes)
	require.Equal(t, r.created-r.evicted, uint64(len(r.present()))-1, "without the whole")
	sent := map[*scopeLife]int{}
	for _, v := range r.open {
		if v.sent {
			sent[v.life]++
		}
	}
	for _, life := range append(r.present(), r.gone...) {
		if life.limiter != nil {
			underWay, wrong := life.limiter.books()
			require.Empty(t, wrong)
			require.Equal(t, sent[life], underWay, "attempts under way in %q", life.key)
		}
	}
	r.checkSnapshot(t)
}

func (r *forgetfulRun) checkSnapshot(t *rapid.T) {
	snapshot := r.strategy.Snapshot()
	require.Equal(t, r.evicted, snapshot.Evicted)
	require.Equal(t, r.overflowed, snapshot.Overflowed)
	if r.exact() {
		require.Equal(t, r.pool, snapshot.Pool)
	}
	require.LessOrEqual(t, snapshot.Pool, forgetfulPool)
	require.Equal(t, forgetfulPool, snapshot.PoolCapacity)
	got := map[retry.ScopeKey]retry.ScopeSnapshot{}
	for _, scope := range snapshot.Scopes {
		require.NotContains(t, got, scope.Key)
		got[scope.Key] = scope
	}
	present := r.present()
	for _, life := range present {
		require.Contains(t, got, life.key)
		scope := got[life.key]
		if r.exact() {
			require.Equal(t, life.tokens, scope.Quota, "quota of %q", life.key)
		}
		require.LessOrEqual(t, scope.Quota, forgetfulQuota)
		require.GreaterOrEqual(t, scope.Quota, 0)
		if life.limiter != nil {
			state := life.limiter.State()
			waiting := state.Waiting
			require.Equal(t, waiting, scope.Waiting)
			require.Equal(t, state.LastThrottle, scope.LastThrottle)
			require.InDelta(t, state.FillRate, scope.FillRate, 0)
		}
	}
	require.Len(t, got, len(present))
}
