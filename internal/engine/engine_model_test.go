package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/model"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// A quota is counted in parts of a token, so that a refill of eighths of a token a second and ticks are whole numbers.
const (
	tick        = time.Second / 512
	tokenParts  = 8 * 512
	jitterParts = 1024
)

// rules is standard mode as its rules S01 to S25 say it, one after the other, for one goroutine.
type rules struct {
	config standard.Config // what the strategy was given, defaults not filled in
	jitter int             // what the random source returns, in parts of jitterParts
	ticks  int             // since the strategy was built
	parts  map[string]int  // of tokens, by scope
	pool   int             // in tokens
	debts  map[string]int  // of tokens, by scope
	loans  map[string]int  // that began a debt, by scope
	raised map[string]int  // the limit on what a quota may lack, beyond one retry, by scope
	top    map[string]int  // the most tokens that a retry has found, by scope
	free   map[string]int  // ticks until which that limit does not count, by scope
}

// operation is one that is open.
type operation struct {
	op      retry.Operation
	token   retry.Token
	attempt int
	paid    int       // what the last granted retry cost
	pooled  bool      // the pool has paid that
	made    bool      // the token of the attempt has been waited for
	loans   int       // of its scope when it was sent
	until   time.Time // no attempt begins later; zero if there is no such limit
	story   []retry.EventKind
}

func (o *operation) mayBegin(now time.Time) bool { return o.until.IsZero() || !now.After(o.until) }

// failure is how an attempt ends without success, in a form that the default classifiers have to judge.
type failure struct {
	kind   classify.Kind // 0 if it is final
	status int
	code   string
	hint   time.Duration
	hinted bool
}

// lost reports whether the connection was lost.
func (f *failure) lost() bool { return f.kind == classify.Transient && f.status == 0 }

func (f *failure) Error() string                     { return fmt.Sprintf("%+v", *f) }
func (f *failure) ErrorCode() string                 { return f.code }
func (f *failure) HTTPStatusCode() int               { return f.status }
func (f *failure) Timeout() bool                     { return f.kind == classify.Timeout }
func (f *failure) RetryAfter() (time.Duration, bool) { return f.hint, f.hinted }

// err is the failure as it is, or with its verdict where only that can say so.
func (f *failure) err() error {
	switch {
	case f.kind == classify.ClockSkew:
		return &classify.JudgedError{Verdict: classify.RetryAs(classify.ClockSkew), Err: fmt.Errorf("%w: %w", f, io.ErrUnexpectedEOF)}
	case f.lost():
		return fmt.Errorf("%w: %w", f, io.ErrUnexpectedEOF)
	default:
		return f
	}
}

func drawFailure(p *model.Player) *failure {
	f := &failure{kind: model.From(p, 0, classify.Transient, classify.Transient, classify.Transient, classify.Timeout, classify.Throttling, classify.ClockSkew), hinted: p.Once(2)}
	switch f.kind {
	case 0:
		f.status, f.code = 400, "ValidationException"
	case classify.Transient:
		f.status = model.From(p, 500, 502, 503, 504, 0, 0, 0, 0)
	case classify.Throttling:
		f.status, f.code = model.From(p, 429, 400, 503), model.From(p, "ThrottlingException", "SlowDown")
	default:
	}
	f.hint = model.From(p, -1, 0, time.Duration(p.Int64N(30e9)), math.MinInt64, time.Hour, math.MaxInt64)
	return f
}

// fail returns what becomes of an operation whose attempt failed, and the delay. room is the time until the deadline, or 0.
func (m *rules) fail(o *operation, f *failure, now time.Time, room time.Duration, canceled bool) (delay time.Duration, why error) {
	if f.kind != 0 && o.attempt > 1 {
		m.raise(m.scope(o.op), -6)
	}
	switch {
	case f.kind == 0: // S07, S19, and S14: a hint makes nothing retryable
		return 0, retry.ErrNotRetryable
	case o.attempt >= m.attempts(o.op): // S08, S22
		return 0, retry.ErrAttemptsExhausted
	case canceled:
		return 0, retry.ErrCanceled
	}
	scope, cost, shared := m.scope(o.op), m.cost(f.kind), o.op.Key() != retry.ScopeKey{}
	bare, delay := m.delays(o, f)
	noRoom := func() error {
		switch {
		case !o.mayBegin(now.Add(delay)) && (room == 0 || delay < room || !o.mayBegin(now.Add(room))): // the earlier end
			return retry.ErrMaxElapsed
		case room > 0 && delay >= room:
			return retry.ErrDeadline
		}
		return nil
	}
	if noRoom() != nil {
		delay = bare // S14: a hint fails no call
	}
	limited := m.limits(scope, cost)
	covered := !limited && m.parts[scope]/tokenParts >= cost
	pooled := !limited && !covered && shared && m.pool >= cost // S23
	lent := !covered && !pooled && f.lost() && noRoom() == nil && cost <= m.capacity() && (m.debts[scope] == 0 || o.loans < m.loans[scope])
	if lent { // S24
		if m.debts[scope] == 0 {
			m.loans[scope]++
		}
		m.debts[scope] += 14
		cost = 0
	}
	if !covered && !pooled && !lent { // S09
		why = retry.ErrQuotaExhausted
		if limited && (m.parts[scope]/tokenParts >= cost || shared && m.pool >= cost) { // S25
			why = retry.ErrDebtLimit
		}
		if m.config.BackoffWhenEmpty || o.op.LongPolling && m.v21() { // S15, S20
			return delay, why
		}
		return 0, why
	}
	if why = noRoom(); why != nil {
		return 0, why
	}
	if tokens := m.parts[scope] / tokenParts; tokens >= m.top[scope] && !limited {
		m.top[scope], m.free[scope] = tokens, m.ticks+int(time.Second/tick)
	}
	if pooled {
		m.pool -= cost
	} else {
		m.parts[scope] -= cost * tokenParts
	}
	o.paid, o.pooled, o.made, o.loans = cost, pooled, false, m.loans[scope]
	o.attempt++
	return delay, nil
}

// step is what the dearest retry costs.
func (m *rules) step() int {
	return max(m.cost(classify.Transient), m.cost(classify.Timeout), m.cost(classify.Throttling))
}

// limits reports whether a quota lacks too many tokens for a retry, S25.
func (m *rules) limits(scope string, cost int) bool {
	return m.config.DebtLimit && m.ticks >= m.free[scope] && m.top[scope]-m.parts[scope]/tokenParts+cost > m.step()+m.raised[scope]
}

// raise raises that limit by so many retries.
func (m *rules) raise(scope string, retries int) {
	m.raised[scope] = min(max(m.raised[scope]+retries*m.step(), 0), m.capacity())
}

// giveBack gives tokens to the quota, or to the pool if that has paid, and what is beyond the capacity to the pool: S01, S05, S06, S23.
func (m *rules) giveBack(o *operation, tokens int) {
	if !o.pooled {
		scope := m.scope(o.op)
		fits := min(tokens, m.capacity()-m.parts[scope]/tokenParts)
		m.parts[scope] = min(m.parts[scope]+tokens*tokenParts, m.capacity()*tokenParts)
		tokens -= fits
		m.debts[scope] = max(m.debts[scope]-tokens, 0)
	}
	if o.op.Key() != (retry.ScopeKey{}) {
		m.pool = min(m.pool+tokens, m.poolCapacity())
	}
}

func (m *rules) refill(scope string, ticks int) {
	m.parts[scope] = min(m.parts[scope]+ticks*int(m.config.QuotaRefill*8), m.capacity()*tokenParts)
}

// scope names the quota that all operations of a key share, S18. It begins when the strategy does.
func (m *rules) scope(op retry.Operation) string {
	key := op.Key().String()
	if _, ok := m.parts[key]; !ok {
		m.parts[key], m.top[key] = m.initial()*tokenParts, m.initial()
		m.refill(key, m.ticks)
	}
	return key
}

func (m *rules) v21() bool { return m.config.Behavior != retry.V20 }

// dynamoDB reports whether the defaults of S17 hold, which S17b leaves out of v2.0.
func (m *rules) dynamoDB(op retry.Operation) bool {
	return m.v21() && slices.Contains([]string{"dynamodb", "DynamoDB Streams"}, cmp.Or(op.Service, m.config.Service))
}

func (m *rules) attempts(op retry.Operation) int {
	byDefault := 3
	if m.dynamoDB(op) {
		byDefault = 4
	}
	return max(cmp.Or(op.MaxAttempts, max(m.config.MaxAttempts, 0), byDefault), 1)
}

func (m *rules) capacity() int {
	if m.config.QuotaCapacity == nil {
		return 500
	}
	return *m.config.QuotaCapacity
}

// poolCapacity is that of S23.
func (m *rules) poolCapacity() int {
	return min(m.capacity(), max(m.capacity()/5, 2*m.cost(classify.Transient)))
}

func (m *rules) initial() int {
	if m.config.QuotaInitial == nil {
		return m.capacity()
	}
	return min(*m.config.QuotaInitial, m.capacity())
}

// cost is that of S02, S03, S04 and S21.
func (m *rules) cost(kind classify.Kind) int {
	v20 := map[classify.Kind]int{classify.Throttling: 5, classify.Timeout: 10}
	v21 := map[classify.Kind]int{classify.Throttling: 5, classify.Timeout: 14}
	set := map[classify.Kind]int{classify.Throttling: m.config.ThrottlingCost, classify.Timeout: m.config.TimeoutCost}
	switch {
	case m.config.NoQuota:
		return 0
	case kind != classify.Throttling && kind != classify.Timeout:
		return cmp.Or(m.config.RetryCost, map[bool]int{false: 5, true: 14}[m.v21()])
	case m.v21():
		return cmp.Or(set[kind], v21[kind])
	default:
		return cmp.Or(set[kind], v20[kind])
	}
}

// base follows the failure at hand, S12.
func (m *rules) base(op retry.Operation, kind classify.Kind) time.Duration {
	switch {
	case kind == classify.Throttling:
		return cmp.Or(m.config.ThrottlingBase, time.Second)
	case m.dynamoDB(op):
		return cmp.Or(m.config.Base, 25*time.Millisecond)
	case m.v21():
		return cmp.Or(m.config.Base, 50*time.Millisecond)
	default:
		return cmp.Or(m.config.Base, time.Second)
	}
}

// delays are the backoff of S10 to S13, and the delay of S14 and S14b with the hint of the server.
func (m *rules) delays(o *operation, f *failure) (bare, delay time.Duration) {
	longest := cmp.Or(m.config.MaxBackoff, 20*time.Second)
	bare = min(m.base(o.op, f.kind), longest)
	for range o.attempt - 1 {
		bare = min(2*bare, longest)
	}
	if m.config.Jitter == standard.Full { // to the nearest nanosecond
		bare = (2*bare*time.Duration(m.jitter) + jitterParts) / (2 * jitterParts)
	}
	if m.config.Backoff != nil {
		bare = min(m.config.Backoff(o.attempt, f.err()), longest)
	}
	bare = max(bare, m.config.MinDelay)
	switch {
	case !f.hinted || f.hint < 0:
		return bare, bare
	case m.config.MaxHint > 0:
		return bare, max(bare, min(f.hint, m.config.MaxHint))
	case m.v21():
		return bare, min(max(f.hint, bare), bare+5*time.Second)
	default:
		return bare, max(bare, min(f.hint, longest))
	}
}

// drawRules draws a configuration, many fields of it left to their defaults.
func drawRules(p *model.Player) *rules {
	m := &rules{jitter: p.IntN(jitterParts + 1), parts: map[string]int{}, debts: map[string]int{}, loans: map[string]int{}}
	m.raised, m.top, m.free = map[string]int{}, map[string]int{}, map[string]int{}
	c := &m.config
	*c = standard.Config{
		Behavior:         model.From(p, "", retry.V20, retry.V21),
		Service:          model.From(p, "", "s3", "dynamodb"),
		MaxAttempts:      p.IntN(8) - 1,
		BackoffWhenEmpty: p.Once(2),
		DebtLimit:        p.Once(2),
		RetryCost:        model.From(p, 0, 1, 7),
		TimeoutCost:      model.From(p, 0, 2, 9),
		ThrottlingCost:   model.From(p, 0, 1, 8),
		Base:             model.From(p, 0, time.Nanosecond, 30*time.Millisecond, 7*time.Second),
		ThrottlingBase:   model.From(p, 0, 333*time.Millisecond, time.Minute),
		MaxBackoff:       model.From(p, 0, time.Millisecond, 3*time.Second, 5*time.Minute),
		MaxHint:          model.From(p, 0, 0, time.Millisecond, 4*time.Second, 2*time.Hour),
		MaxElapsed:       model.From(p, 0, 0, 0, time.Nanosecond, 5*time.Second),
		Jitter:           model.From(p, standard.Full, standard.NoJitter),
		Random:           func() float64 { return float64(m.jitter) / jitterParts },
		ScopeIdle:        math.MaxInt64, // the model forgets nothing
	}
	if p.Once(2) {
		longest := cmp.Or(c.MaxBackoff, 20*time.Second)
		c.MinDelay = model.From(p, time.Nanosecond, longest/3, longest)
	}
	if p.Once(4) { // beyond all limits, in both directions
		c.Base, c.ThrottlingBase, c.Jitter, c.Backoff = 0, 0, standard.Full, func(attempt int, err error) time.Duration {
			return [...]time.Duration{math.MinInt64, 20 * time.Millisecond, 4 * time.Second, math.MaxInt64}[(attempt+len(err.Error()))%4]
		}
	}
	if p.Once(4) {
		c.RetryCost, c.TimeoutCost, c.ThrottlingCost, c.BackoffWhenEmpty, c.DebtLimit, c.NoQuota = 0, 0, 0, false, false, true
		m.pool = m.poolCapacity()
		return m
	}
	if p.Once(2) {
		c.QuotaCapacity = new(p.IntN(41))
	}
	if p.Once(2) {
		c.QuotaInitial = new(p.IntN(41))
	}
	if p.Once(2) {
		c.QuotaRefill = ratelimit.Rate(p.IntN(41)) / 8
	}
	return m
}

// game is operations of one strategy, under way at the same time.
type game struct {
	*model.Player
	*rules
	strategy, other retry.Strategy
	clock           *clock.Fake
	waits           bool // tokens are waited for
	open            []*operation
	begun           int
	spent           []retry.Token
	told            map[string][]retry.EventKind // by name of the operation
	about           map[string]retry.Operation   // of its events
	lacked          map[string]uint64            // operations that ended for lack of quota, by scope
}

func FuzzStandardMode(f *testing.F) {
	model.Play(f, 400, func(p *model.Player) {
		playRules(p, true, func(c standard.Config) (retry.Strategy, error) { return standard.New(c) })
	})
}

// Without its waits, adaptive mode is standard mode (A15).
func FuzzAdaptiveModeWithoutWaits(f *testing.F) {
	model.Play(f, 100, func(p *model.Player) {
		playRules(p, false, func(c standard.Config) (retry.Strategy, error) { return adaptive.New(adaptive.Config{Standard: c}) })
	})
}

func playRules(p *model.Player, waits bool, build func(c standard.Config) (retry.Strategy, error)) {
	g := &game{Player: p, rules: drawRules(p), clock: &clock.Fake{}, waits: waits, told: map[string][]retry.EventKind{}, lacked: map[string]uint64{}}
	g.about = map[string]retry.Operation{}
	config := g.config
	config.Clock = g.clock
	var err error
	g.other, err = build(config)
	require.NoError(p, err)
	if p.Once(2) {
		config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind != retry.ScopeCreated && e.Kind != retry.SendRateChanged {
				g.told[e.Operation.Name] = append(g.told[e.Operation.Name], e.Kind)
				e.Operation.NotAfter = time.Time{} // may come from MaxElapsed
				g.about[e.Operation.Name] = e.Operation
				require.Equal(g, e.Operation.Key(), e.Scope)
			}
		})
	}
	p.Step("%+v", config)
	g.strategy, err = build(config)
	require.NoError(p, err)
	for range 60 {
		switch model.From(p, "acquire", "acquire", "refresh", "refresh", "refresh", "refresh", "succeed", "fail", "pass", "misuse") {
		case "acquire":
			g.acquire()
		case "refresh":
			g.refresh()
		case "succeed":
			o := g.take()
			o.story = append(o.story, retry.AttemptEnded)
			g.giveBack(o, map[bool]int{true: 1, false: o.paid}[o.attempt == 1])
			if scope := g.scope(o.op); o.attempt > 1 || g.parts[scope]/tokenParts < g.capacity() {
				g.raise(scope, 1)
			}
			g.ends(o, g.strategy.RecordSuccess(o.token, retry.Result{}))
		case "fail":
			g.fails()
		case "pass":
			ticks := 1 + p.IntN(3000)
			g.clock.Advance(time.Duration(ticks) * tick)
			g.ticks += ticks
			for scope := range g.parts {
				g.refill(scope, ticks)
			}
		case "misuse":
			g.misuse()
		}
		g.check(config.Observer != nil)
	}
}

func (g *game) acquire() {
	g.begun++
	op := retry.Operation{
		Name:        strconv.Itoa(g.begun),
		Service:     model.From(g.Player, "", "", "sqs", "DynamoDB Streams"),
		Scope:       model.From(g.Player, "", "", "one", "two"),
		LongPolling: g.Once(2),
		MaxAttempts: model.From(g.Player, 0, 0, 0, 1, 5, -3),
		MaxElapsed:  model.From(g.Player, 0, 0, 0, -time.Second, time.Nanosecond, 4*time.Second),
		NotAfter:    model.From(g.Player, time.Time{}, time.Time{}, g.clock.Now().Add(time.Duration(g.Int64N(8e9)))),
	}
	g.Step("acquire %+v", op)
	token, err := g.strategy.AcquireInitialToken(g.Context(), op)
	require.NoError(g, err)
	require.Equal(g, 1, token.Attempt())
	require.Zero(g, token.Delay())
	g.scope(op)
	o := &operation{op: op, token: token, attempt: 1, loans: g.loans[g.scope(op)]}
	elapsed := time.Duration(0)
	for _, limit := range []time.Duration{op.MaxElapsed, g.config.MaxElapsed} {
		if limit > 0 && (elapsed == 0 || limit < elapsed) {
			elapsed, o.until = limit, g.clock.Now().Add(limit)
		}
	}
	if !op.NotAfter.IsZero() && o.mayBegin(op.NotAfter) {
		o.until = op.NotAfter
	}
	g.open = append(g.open, o)
	plan := g.strategy.Plan(op)
	require.Equal(g, g.config.Backoff != nil, plan.Backoff != nil)
	want := retry.Plan{
		MaxAttempts: g.attempts(op), QuotaCapacity: g.capacity(), RetryCost: g.cost(classify.Transient),
		TimeoutCost: g.cost(classify.Timeout), ThrottlingCost: g.cost(classify.Throttling), MinDelay: g.config.MinDelay,
		MaxBackoff: cmp.Or(g.config.MaxBackoff, 20*time.Second), MaxElapsed: elapsed, DebtLimit: g.config.DebtLimit,
	}
	if plan.Backoff == nil {
		want.Base, want.ThrottlingBase = g.base(op, classify.Transient), g.base(op, classify.Throttling)
	}
	plan.Backoff = nil
	require.Equal(g, want, plan)
}

// take takes an operation off those that are open.
func (g *game) take() *operation {
	if len(g.open) == 0 {
		g.acquire()
	}
	i := g.IntN(len(g.open))
	o := g.open[i]
	g.open = slices.Delete(g.open, i, i+1)
	if g.waits && !o.made && g.Once(2) {
		g.Step("wait of %s", o.op.Name)
		err := o.token.WithoutDelay().Wait(g.Context())
		if o.made = o.mayBegin(g.clock.Now()); o.made {
			require.NoError(g, err)
			o.loans = g.loans[g.scope(o.op)]
		} else {
			require.ErrorIs(g, err, retry.ErrMaxElapsed)
			o.story = append(o.story, retry.RetryRefused)
		}
	}
	return o
}

func (g *game) refresh() {
	o, f, ctx, room, canceled := g.take(), drawFailure(g.Player), g.Context(), time.Duration(0), false
	switch g.IntN(10) {
	case 8:
		gone, cancel := context.WithCancel(ctx)
		cancel()
		ctx, canceled = gone, true
	case 9:
		room = time.Duration(1 + g.Int64N(20e9))
		limited, cancel := g.clock.WithTimeout(ctx, room)
		defer cancel()
		ctx = limited
	}
	g.Step("refresh of %s, %+v, room %v, canceled %v", o.op.Name, *f, room, canceled)
	before := o.token
	delay, want := g.fail(o, f, g.clock.Now(), room, canceled)
	next, err := g.strategy.RefreshRetryToken(ctx, o.token, f.err())
	require.ErrorIs(g, err, want)
	require.Equal(g, delay, next.Delay())
	require.Equal(g, o.attempt, next.Attempt())
	o.token = next
	if err == nil {
		o.story = append(o.story, retry.AttemptEnded, retry.RetryScheduled)
		g.spent = append(g.spent, before)
		g.open = append(g.open, o)
		return
	}
	require.ErrorIs(g, err, f)
	refusal, _ := errors.AsType[*retry.Error](err)
	require.Equal(g, o.attempt, refusal.Attempts)
	if errors.Is(err, retry.ErrQuotaExhausted) {
		require.Equal(g, want == retry.ErrDebtLimit, refusal.Detail != nil) //nolint:errorlint // the same value
	}
	if want == retry.ErrQuotaExhausted || want == retry.ErrDebtLimit { //nolint:errorlint // the same value
		g.lacked[g.scope(o.op)]++
		pool := g.pool
		if o.op.Key() == (retry.ScopeKey{}) {
			pool = 0
		}
		require.Equal(g, [...]int{g.parts[g.scope(o.op)] / tokenParts, pool, g.cost(f.kind)}, [...]int{refusal.Available, refusal.Pool, refusal.Needed})
	}
	o.story = append(o.story, retry.AttemptEnded, retry.RetryRefused)
	g.ends(o, g.strategy.RecordFailure(model.From(g.Player, before, next), f))
}

// fails ends an operation without a refresh. It gives nothing back, S07, but for a retry that was granted and not made.
func (g *game) fails() {
	o, f := g.take(), drawFailure(g.Player).err()
	switch {
	case !o.made:
		g.giveBack(o, o.paid)
	case g.Once(2):
		f = retry.ErrCanceled // after the wait, so that the attempt was not made
		g.giveBack(o, o.paid)
		o.story = append(o.story, retry.RetryRefused)
	default:
		o.story = append(o.story, retry.AttemptEnded)
	}
	g.Step("failure of %s, made %v: %v", o.op.Name, o.made, f)
	g.ends(o, g.strategy.RecordFailure(o.token, f))
}

func (g *game) ends(o *operation, err error) {
	require.NoError(g, err)
	o.story = append(o.story, retry.OperationEnded)
	if told, ok := g.told[o.op.Name]; ok {
		require.Equal(g, o.story, told, "events of %s", o.op.Name)
		o.op.NotAfter = time.Time{}
		require.Equal(g, o.op, g.about[o.op.Name])
	}
	g.spent = append(g.spent, o.token)
}

// misuse uses a token a second time, or one of another strategy, which changes nothing.
func (g *game) misuse() {
	foreign, err := g.other.AcquireInitialToken(g.Context(), retry.Operation{})
	require.NoError(g, err)
	token, want := model.From(g.Player, foreign, retry.Token{}), retry.ErrForeignToken
	if len(g.spent) > 0 && g.Once(2) {
		token, want = model.From(g.Player, g.spent...), retry.ErrTokenUsed
	}
	before := g.strategy.Snapshot()
	next, err := g.strategy.RefreshRetryToken(g.Context(), token, retry.ErrCanceled)
	require.ErrorIs(g, err, want)
	require.Zero(g, next)
	require.ErrorIs(g, g.strategy.RecordSuccess(token, retry.Result{}), want)
	require.ErrorIs(g, g.strategy.RecordFailure(token, retry.ErrCanceled), want)
	if token != foreign {
		require.ErrorIs(g, token.Wait(g.Context()), want)
	}
	require.Equal(g, before, g.strategy.Snapshot())
}

func (g *game) check(observed bool) {
	snapshot, used := g.strategy.Snapshot(), 0
	for _, scope := range snapshot.Scopes {
		parts, ok := g.parts[scope.Scope]
		if ok {
			used++
		} else {
			require.Empty(g, scope.Scope, "a scope that no operation has used")
			parts = min(g.initial()*tokenParts+g.ticks*int(g.config.QuotaRefill*8), g.capacity()*tokenParts)
		}
		require.Equal(g, parts/tokenParts, scope.Quota, "quota of %q", scope.Scope)
		require.Equal(g, g.capacity(), scope.QuotaCapacity)
		require.Equal(g, g.debts[scope.Scope], scope.Debt)
		if g.config.DebtLimit {
			require.Equal(g, g.step()+g.raised[scope.Scope], scope.DebtLimit)
		}
		require.Equal(g, g.lacked[scope.Scope], scope.RefusedCalls)
	}
	require.Len(g, g.parts, used)
	require.Equal(g, g.pool, snapshot.Pool)
	require.Equal(g, g.poolCapacity(), snapshot.PoolCapacity)
	if observed {
		for _, o := range g.open {
			require.Equal(g, o.story, g.told[o.op.Name], "events of %s", o.op.Name)
		}
	}
}
