package promises

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// row is a promise. Its function sets what the promise is about, begins with p.begin, and checks the promise during or
// after the run.
type row struct {
	promise string
	play    func(p *play)
	// not says of features why the promise makes no sense with them.
	not map[string]string
}

// many callers come to a service that is too slow for them.
const many = 40

var untimed = map[string]string{"batches": "`SendAll` takes no timeout"}

func rows() []row {
	return []row{
		{promise: "first come, first served", play: firstComeFirstServed},
		{promise: "`MaxSendWait` is a bound", play: maxSendWait},
		{promise: "`MaxSendQueue` is a bound", play: maxSendQueue},
		{promise: "`MaxElapsed` is a bound", play: maxElapsed},
		{promise: "what the deadline leaves no time for is refused at once", play: deadlineAtOnce, not: map[string]string{
			"fleet": "how long a wait is, the store says later",
		}},
		{promise: "`Ceiling` is a bound", play: ceilingBounds, not: untimed},
		{promise: "no scope with a waiter is evicted", play: waitersStay},
		{promise: "the quota bounds retries, whatever the number of keys", play: quotaBounds},
		{promise: "one lost connection fails no call, whatever was in flight", play: lostTogether},
		{promise: "a healthy key has a scope of its own, whatever others owe", play: ownScope, not: map[string]string{
			"quota waits": "calls wait in all places", "overflow": "no other scope can go",
			"lost connections": "a new scope has no tokens while others owe more than it could have",
		}},
		{promise: "`Ceiling` with `Burst` holds across evictions", play: burstOnce, not: map[string]string{
			"user's limiter": "the strategy does not know the limit", "fleet": "the store keeps the limit",
		}},
		{promise: "snapshots show who waits", play: snapshotsShow},
		{promise: "snapshots count each call that lacked quota once", play: lackedCounts},
		{promise: "tokens are conserved", play: conserved},
		{promise: "no call fails that only needed more time", play: moreTime, not: untimed},
		{promise: "a canceled wait gives its token back", play: canceledGivesBack},
		{promise: "nothing pins a caller's text", play: pinsNothing},
		{promise: "never worse than the plain SDK", play: neverWorse, not: map[string]string{
			"batches": "the SDK has none", "nested loops": "the loop around is another's", "httpretry": "the SDK has another door",
			"debt limit": "it grants fewer retries on purpose",
		}},
	}
}

// throttledCallers is what most rows about waits play: a service that allows rate attempts a second, and many callers who
// come faster.
func (p *play) throttledCallers(rate float64) {
	p.config.Standard.MaxAttempts = 30
	p.config.Standard.QuotaCapacity = new(1_000_000)
	p.latency = time.Millisecond
	p.service = p.bucket(rate)
	p.rate = rate
}

// knownLimit is what the others play: a limit that the strategy knows, and a service that answers.
func (p *play) knownLimit(rate ratelimit.Rate) {
	p.config.Standard.MaxAttempts = 30
	p.config.Standard.QuotaCapacity = new(1_000_000)
	p.config.SendLimit = func(retry.ScopeKey) adaptive.SendLimit {
		return adaptive.SendLimit{Starting: rate, Ceiling: rate}
	}
	p.latency = time.Millisecond
	p.service = func(int, int) error { return nil }
}

func firstComeFirstServed(p *play) {
	p.throttledCallers(5)
	p.begin()
	require.Zero(p, failures(unlimited(p.callers(many, 7*time.Millisecond, func(i int) error { return p.call(p.Context(), i) }))))
	before := map[bool]attempt{}
	for _, a := range p.inOrder() {
		// Retries after throttles of one key wait for more than first attempts do, so these need not wait for them.
		lane := p.narrow && a.number > 1 && (a.number > 2 || !p.lost(a.caller, 1))
		if last := before[lane]; last.ready.Before(a.ready) {
			require.False(p, a.begin.Before(last.begin), "%v was before %v", last, a)
		}
		before[lane] = a
	}
}

func maxSendWait(p *play) {
	p.throttledCallers(2)
	p.config.MaxSendWait = 3 * time.Second
	p.begin()
	errs := p.callers(5*many, 50*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })
	require.NotZero(p, failures(errs), "the bound matters")
	for _, err := range unlimited(errs) {
		if err != nil {
			require.ErrorIs(p, err, retry.ErrSendRateLimited)
		}
	}
	for _, w := range p.waits {
		require.LessOrEqual(p, w.to.Sub(w.from), 3*time.Second)
	}
}

func maxSendQueue(p *play) {
	p.throttledCallers(2)
	p.config.MaxSendQueue = 10
	p.begin()
	errs := p.callers(5*many, 50*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })
	require.NotZero(p, failures(errs), "the bound matters")
	longest := 0
	for _, w := range p.waits {
		waiting := p.waitingAt(w.from.Add(1))
		longest = max(longest, waiting)
		// First attempts do not wait behind the retries of a hot key.
		require.True(p, waiting <= 10 || p.narrow && waiting <= 20, waiting)
	}
	require.GreaterOrEqual(p, longest, 10)
}

func maxElapsed(p *play) {
	p.throttledCallers(2)
	p.config.Standard.MaxElapsed = 3 * time.Second
	p.begin()
	came := map[int]time.Time{}
	var mu sync.Mutex
	errs := p.callers(many, 7*time.Millisecond, func(i int) error {
		mu.Lock()
		came[i] = time.Now()
		mu.Unlock()
		return p.call(p.Context(), i)
	})
	require.NotZero(p, failures(errs), "the bound matters")
	for _, a := range p.attempts {
		require.LessOrEqual(p, a.begin.Sub(came[a.caller]), 3*time.Second)
	}
}

func deadlineAtOnce(p *play) {
	p.knownLimit(2)
	p.service = func(caller, number int) error {
		if p.narrow && caller%2 == 0 && number == 1 {
			return p.throttle()
		}
		return nil
	}
	p.begin()
	errs := p.callers(many, 7*time.Millisecond, func(i int) error {
		ctx, cancel := context.WithTimeout(p.Context(), 3*time.Second)
		defer cancel()
		return p.call(ctx, i)
	})
	require.NotZero(p, failures(errs), "the deadline matters")
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(p, err, context.DeadlineExceeded)
		}
	}
	for _, w := range p.refused() {
		// Only a throttle makes a wait longer that has begun.
		require.True(p, w.to.Equal(w.from) || p.throttledIn(w), "refused after %v", w.to.Sub(w.from))
	}
}

func ceilingBounds(p *play) {
	p.timeout = p.learned()
	p.config.Standard.QuotaInitial = new(30)
	p.latency = 10 * time.Millisecond
	p.service = func(int, int) error { return nil }
	p.begin()
	require.Zero(p, failures(p.callers(30, 100*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })))
	p.latency = time.Hour
	errs := p.callers(20, 20*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })
	require.Equal(p, 20, failures(errs))
	for _, a := range p.attempts {
		require.LessOrEqual(p, a.end.Sub(a.begin), ceiling)
	}
}

// waitersStay has waiters without a throttle, after which a scope stays anyway.
func waitersStay(p *play) {
	p.knownLimit(1)
	p.config.Standard.MaxScopes = 3
	p.config.Standard.ScopeIdle = 100 * time.Millisecond
	p.begin()
	var gone []time.Time
	others := 0
	stop := p.sample(53*time.Millisecond, func(at time.Time, s retry.Snapshot) {
		others++
		p.other(fmt.Sprint("some ", others))
		if !slices.ContainsFunc(s.Scopes, func(scope retry.ScopeSnapshot) bool { return scope.Key == p.callersKey(s) }) {
			gone = append(gone, at)
		}
	})
	errs := p.callers(10, 7*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })
	stop()
	require.Zero(p, failures(errs))
	for _, at := range gone {
		require.Zero(p, p.waitingAt(at), "evicted at %v", at)
	}
}

func quotaBounds(p *play) {
	const scopes, keys, each, quota = 20, 60, 10, 100
	p.config.Standard.MaxScopes, p.config.Standard.QuotaCapacity = scopes, new(quota)
	p.latency = time.Millisecond
	p.service = func(int, int) error { return errOutage }
	p.begin()
	p.callers(keys*each, time.Millisecond, func(i int) error {
		op := p.op
		op.Resource, op.Scope = fmt.Sprint("key ", i%keys), ""
		return p.callAs(p.Context(), op, i)
	})
	retries := len(p.attempts) - keys*each
	most := scopes*quota/14 + (quota+int(p.others.Load()))/14 // others fill the pool
	if rate := float64(p.config.Standard.QuotaRefill); rate > 0 {
		most += int(float64(scopes+1) * rate * 4 / 14 * 2)
	}
	most += most / 3 // calls under way go on with a scope that was evicted before their first failure
	require.LessOrEqual(p, retries, most)
	require.NotZero(p, retries)
}

// lostTogether has more attempts in flight on one connection than the quota covers.
func lostTogether(p *play) {
	const quota, inFlight = 100, 60
	p.config.Standard.QuotaCapacity = new(quota)
	p.latency = 10 * time.Millisecond
	p.service = func(_, number int) error {
		if number == 1 {
			return errLost
		}
		return nil
	}
	p.begin()
	require.Zero(p, failures(p.callers(inFlight, 0, func(i int) error { return p.call(p.Context(), i) })))
	require.Len(p, p.attempts, 2*inFlight)
}

// ownScope has many more keys than places, of which all but one are dead.
func ownScope(p *play) {
	const scopes, keys = 20, 60
	p.config.Standard.MaxScopes = scopes
	p.latency = time.Millisecond
	p.service = func(caller, _ int) error {
		if caller < 10*keys {
			return errOutage
		}
		return nil
	}
	p.begin()
	before := p.strategy.Snapshot().Overflowed
	call := func(i int) error {
		op := p.op
		op.Resource, op.Scope = fmt.Sprint("key ", i%keys), ""
		return p.callAs(p.Context(), op, i)
	}
	require.NotZero(p, failures(p.callers(10*keys, 5*time.Millisecond, call)))
	require.Zero(p, failures(p.callers(keys, 5*time.Millisecond, func(i int) error { return call(10*keys + i) })))
	require.Equal(p, before, p.strategy.Snapshot().Overflowed)
}

// burstOnce has more keys than places, and each leaves a part of its burst, which comes back slowly.
func burstOnce(p *play) {
	const keys, calls, burst, rate = 6, 360, 5, 0.1
	p.config.Standard.MaxScopes, p.config.Standard.ScopeIdle = 3, 100*time.Millisecond
	p.config.SendLimit = func(retry.ScopeKey) adaptive.SendLimit {
		return adaptive.SendLimit{Starting: rate, Ceiling: rate, Burst: burst}
	}
	p.config.NoSendWait = true
	p.latency = time.Millisecond
	p.service = func(int, int) error { return nil }
	p.begin()
	began := time.Now()
	p.callers(calls, 50*time.Millisecond, func(i int) error {
		op := p.op
		op.Resource, op.Scope = fmt.Sprint("key ", i/3%keys), ""
		return p.callAs(p.Context(), op, i)
	})
	sent := len(p.attempts)
	places := p.config.Standard.MaxScopes + 1 // with the overflow
	require.LessOrEqual(p, float64(sent), float64(places)*(burst+rate*time.Since(began).Seconds()))
	require.Greater(p, sent, burst)
}

func snapshotsShow(p *play) {
	p.throttledCallers(2)
	p.begin()
	type seen struct {
		at      time.Time
		waiting int
	}
	var samples []seen
	stop := p.sample(53*time.Millisecond+1, func(at time.Time, s retry.Snapshot) {
		n := 0
		for _, scope := range s.Scopes {
			if scope.Key == p.callersKey(s) {
				n = scope.Waiting
			}
		}
		samples = append(samples, seen{at, n})
	})
	errs := p.callers(many, 7*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })
	stop()
	require.Zero(p, failures(unlimited(errs)))
	most := 0
	for _, s := range samples {
		require.Equal(p, p.waitingAt(s.at), s.waiting, "at %v", s.at)
		most = max(most, s.waiting)
	}
	require.Greater(p, most, 5, "some wait")
}

// lackedCounts has attempts that a learned timeout would end, if there were quota, beside calls that fail for lack of it.
func lackedCounts(p *play) {
	p.config.Standard.QuotaCapacity = new(100)
	p.latency = 10 * time.Millisecond
	p.service = func(int, int) error { return nil }
	p.begin()
	require.Zero(p, failures(p.callers(30, 20*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })))
	p.service = func(caller, _ int) error {
		if caller%2 == 0 {
			return errOutage
		}
		return nil
	}
	errs := p.callers(many, 7*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })
	p.latency = time.Second
	errs = append(errs, p.callers(many, 7*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })...)
	snapshot := p.strategy.Snapshot()
	lacked, refused, strained := 0, snapshot.EvictedRefusedCalls, snapshot.EvictedStrainedCalls
	for _, err := range errs {
		if errors.Is(err, retry.ErrQuotaExhausted) {
			lacked++
		}
	}
	for _, scope := range snapshot.Scopes {
		refused += scope.RefusedCalls
		strained += scope.StrainedCalls
	}
	require.NotZero(p, lacked, "the quota matters")
	require.EqualValues(p, lacked, refused)
	require.LessOrEqual(p, refused, strained)
	require.LessOrEqual(p, strained, uint64(len(errs))+uint64(p.others.Load())) //nolint:gosec // not negative
}

func conserved(p *play) {
	const rate = 10
	p.knownLimit(rate)
	p.service = func(caller, number int) error {
		if caller%3 == 0 && number < 3 {
			return errOutage
		}
		return nil
	}
	p.begin()
	already := len(p.ended)
	began := time.Now()
	errs := p.callers(3*many, 5*time.Millisecond, func(i int) error {
		ctx, cancel := context.WithCancel(p.Context())
		defer cancel()
		if i%4 == 1 {
			clk.AfterFunc(time.Duration(i)*11*time.Millisecond, cancel)
		}
		return p.call(ctx, i)
	})
	took := time.Since(began)
	require.NotZero(p, failures(errs))
	made := len(p.attempts)
	require.LessOrEqual(p, float64(made), rate*took.Seconds()+rate+1, "no token is used twice")
	require.GreaterOrEqual(p, float64(made), rate*took.Seconds()-2, "no token is lost")
	synced := p.strategy.Snapshot()
	for _, scope := range synced.Scopes {
		require.Zero(p, scope.Waiting)
		require.LessOrEqual(p, scope.Quota, scope.QuotaCapacity)
	}
	require.GreaterOrEqual(p, len(p.ended)-already, len(errs))
	for id, n := range p.ended {
		require.Equal(p, 1, n, "operation %d", id)
	}
}

func moreTime(p *play) {
	p.timeout = p.learned()
	p.config.Standard.QuotaCapacity = new(20) // for one retry
	p.latency = 10 * time.Millisecond
	p.service = func(int, int) error { return nil }
	p.begin()
	require.Zero(p, failures(p.callers(300, 20*time.Millisecond, func(i int) error { return p.call(p.Context(), i) })))
	p.latency = time.Second
	errs := p.callers(many, 3*time.Millisecond, func(i int) error {
		ctx, cancel := context.WithTimeout(p.Context(), 4*time.Second)
		defer cancel()
		return p.call(ctx, i)
	})
	require.NoError(p, errors.Join(errs...))
}

func canceledGivesBack(p *play) {
	p.knownLimit(1)
	p.begin()
	began := time.Now()
	errs := p.callers(10, time.Millisecond, func(i int) error {
		ctx, cancel := context.WithCancel(p.Context())
		defer cancel()
		if i > 0 && i < 9 {
			clk.AfterFunc(300*time.Millisecond, cancel)
		}
		return p.call(ctx, i)
	})
	require.NoError(p, errs[0])
	require.NoError(p, errs[9])
	require.Less(p, time.Since(began), 2100*time.Millisecond)
}

func pinsNothing(p *play) {
	const keys, large = 100, 1 << 18
	p.latency = time.Millisecond
	p.service = func(int, int) error { return nil }
	p.begin()
	before := heap()
	p.callers(keys, 2*time.Millisecond, func(i int) error {
		document := strings.Repeat("x", large) + fmt.Sprint("key ", i)
		op := p.op
		op.Scope, op.Resource, op.Name = "", document[large:], document[large-3:]
		return p.callAs(p.Context(), op, i)
	})
	p.attempts, p.waits = nil, nil
	require.Less(p, heap()-before, int64(keys*large/4))
	runtime.KeepAlive(p.strategy)
	runtime.KeepAlive(p.timeout)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // it is less
}

// neverWorse makes calls of which the SDK saves some: caller i fails i%4 times.
func neverWorse(p *play) {
	p.latency = time.Millisecond
	script := func(caller, number int) error {
		if number <= caller%4 {
			return errOutage
		}
		return nil
	}
	p.service = script
	run := func(through door) int {
		p.through = through
		return failures(p.callers(80, 1300*time.Millisecond, func(i int) error { return p.call(p.Context(), i) }))
	}
	p.begin()
	ours := run(throughSDK)
	require.LessOrEqual(p, ours, run(throughPlainSDK))
}

// refused returns the last waits of callers who got an error, which are those after an attempt or without one.
func (p *play) refused() (last []interval) {
	began := map[time.Time]bool{}
	for _, a := range p.attempts {
		began[a.begin] = true
	}
	for _, w := range p.waits {
		if !began[w.to] {
			last = append(last, w)
		}
	}
	return last
}

// throttledIn reports whether a throttle came while a caller waited.
func (p *play) throttledIn(w interval) bool {
	for _, a := range p.attempts {
		if a.throttled && !a.end.Before(w.from) && !a.end.After(w.to) {
			return true
		}
	}
	return false
}

// callersKey returns the scope of the callers: theirs, or the overflow if there is no room for it.
func (p *play) callersKey(s retry.Snapshot) retry.ScopeKey {
	for _, scope := range s.Scopes {
		if scope.Key == p.op.Key() {
			return scope.Key
		}
	}
	return retry.OverflowKey()
}

// sample looks at the snapshot every so often until stop is called.
func (p *play) sample(every time.Duration, look func(at time.Time, s retry.Snapshot)) (stop func()) {
	var wg sync.WaitGroup
	var done atomic.Bool
	wg.Go(func() {
		for !done.Load() {
			_ = clk.Sleep(p.Context(), every)
			look(time.Now(), p.strategy.Snapshot())
		}
	})
	return func() { done.Store(true); wg.Wait() }
}
