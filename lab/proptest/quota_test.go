package proptest_test

import (
	"context"
	"math/big"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/line"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/ratelimit"
)

// quotaModel is a quota in exact numbers: it counts all of what time brings.
type quotaModel struct {
	capacity, tokens *big.Rat
	perNanosecond    *big.Rat
	newest           time.Time
}

// pass lets time pass until now. If now is more than five seconds old, the clock has gone back, and time goes on
// from there.
func (m *quotaModel) pass(now time.Time) {
	if m.newest.Sub(now) > 5*time.Second {
		m.newest = now
	}
	if passed := now.Sub(m.newest); passed > 0 {
		m.newest = now
		m.add(product(ratOf(passed), m.perNanosecond))
	}
}

func (m *quotaModel) add(tokens *big.Rat) { m.tokens = smaller(sum(m.tokens, tokens), m.capacity) }

// within reports whether the tokens are at least low and less than high, give or
// take what float64 arithmetic may be off.
func (m *quotaModel) within(low, high int) bool {
	slack := big.NewRat(1, 1_000_000)
	return sum(m.tokens, slack).Cmp(whole(low)) >= 0 && difference(m.tokens, slack).Cmp(whole(high)) < 0
}

func whole(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

// ratOf returns the nanoseconds of a duration.
func ratOf(d time.Duration) *big.Rat { return new(big.Rat).SetInt64(int64(d)) }

func product(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func sum(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

func difference(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

func smaller(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func TestQuotaWithRefillIsAsExactArithmetic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := newQuotaRun(t)
		t.Repeat(map[string]func(*rapid.T){
			"pass":   run.pass,
			"take":   run.take,
			"refund": run.refund,
			"look":   run.look,
		})
		run.look(t)
	})
}

type quotaRun struct {
	quota *quota.Quota
	model *quotaModel
	now   time.Time
	clock *settable
}

func newQuotaRun(t *rapid.T) *quotaRun {
	config := quota.Config{
		Capacity: rapid.OneOf(rapid.IntRange(-1, 12), rapid.IntRange(0, 1_000_000)).Draw(t, "capacity"),
		Initial:  drawInt(t, -2, 20, "initial"),
		Refill: ratelimit.Rate(rapid.OneOf(
			rapid.Float64Range(0, 5), rapid.Float64Range(-1, 1e6), rapid.Float64Range(1e-12, 1e-3),
		).Draw(t, "refill")),
	}
	capacity := max(config.Capacity, 0)
	perSecond := new(big.Rat).SetFloat64(max(float64(config.Refill), 0))
	clk := &settable{now: start()}
	return &quotaRun{
		quota: quota.New(config, start(), clk), clock: clk,
		now: start(),
		model: &quotaModel{
			capacity:      whole(capacity),
			tokens:        whole(min(max(config.Initial, 0), capacity)),
			perNanosecond: product(perSecond, big.NewRat(1, int64(time.Second))),
			newest:        start(),
		},
	}
}

// settable is a clock that a test sets.
type settable struct {
	clock.System
	now time.Time
}

func (c *settable) Now() time.Time { return c.now }

func (r *quotaRun) pass(t *rapid.T) {
	r.now = r.now.Add(drawPause(t, "pause") * time.Duration(drawFrom(t, "times", 1, 1, 1, 10_000)))
}

// asOf is the time of a call: a caller may have read the clock before another one, or the clock goes back.
func (r *quotaRun) asOf(t *rapid.T) time.Time {
	return r.now.Add(-drawFrom(t, "late", 0, 0, time.Nanosecond, time.Second, time.Hour))
}

func (r *quotaRun) take(t *rapid.T) {
	at, cost := r.asOf(t), drawInt(t, -1, 15, "cost")
	r.clock.now = at
	r.model.pass(at)
	before := r.quota.Available()
	granted := r.quota.Charge(cost) != nil
	after := r.quota.Available()
	cost = max(cost, 0)
	require.Equal(t, before >= cost, granted)
	if granted {
		require.Equal(t, before-cost, after)
		r.model.add(whole(-cost))
	} else {
		require.Equal(t, before, after, "a refusal changed the quota")
	}
	r.agree(t, after)
}

func (r *quotaRun) refund(t *rapid.T) {
	at, tokens := r.asOf(t), drawInt(t, -1, 15, "tokens")
	r.clock.now = at
	r.model.pass(at)
	r.quota.Refund(tokens)
	r.model.add(whole(max(tokens, 0)))
	r.agree(t, r.quota.Available())
}

func (r *quotaRun) look(t *rapid.T) {
	at := r.asOf(t)
	r.clock.now = at
	r.model.pass(at)
	r.agree(t, r.quota.Available())
}

func (r *quotaRun) agree(t *rapid.T, available int) {
	require.GreaterOrEqual(t, available, 0)
	require.LessOrEqual(t, available, r.quota.Capacity())
	require.True(t, r.model.within(available, available+1), "the model has %s, not %d",
		r.model.tokens.FloatString(9), available)
}

// quotaCaller is a retry that waits for retry quota.
type quotaCaller struct {
	cost     int
	until    time.Time // when it gives up
	cancel   context.CancelFunc
	canceled bool
	done     bool
	err      error
}

// waitRun is a quota with callers that wait, and its books. It runs in a bubble, so that
// whatever can move has moved after each step.
type waitRun struct {
	quota    *quota.Quota
	clock    *clock.Fake
	capacity int
	eighths  int // of a token, that a second adds
	parts    int // see tokenParts
	queue    []*quotaCaller
}

func TestQuotaServesInOrderAndLosesNoToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { rapid.SyncTest(t, playQuotaWaits) })
}

func playQuotaWaits(t *rapid.T) {
	run := &waitRun{
		clock:    clock.NewFake(start()),
		capacity: drawInt(t, 0, 20, "capacity"),
		eighths:  drawFrom(t, "eighths of a token a second", 0, 0, 100, 3000, 9995),
	}
	initial := drawInt(t, 0, run.capacity, "initial")
	run.parts = initial * tokenParts
	run.quota = quota.New(quota.Config{
		Capacity: run.capacity, Initial: initial, Refill: ratelimit.Rate(run.eighths) / 8, Waits: true,
	}, start(), run.clock)
	defer run.cancelAll()
	t.Repeat(map[string]func(*rapid.T){
		"":       run.check,
		"wait":   run.wait,
		"queue":  run.wait, // as likely as two others
		"take":   run.take,
		"refund": run.refund,
		"cancel": run.cancel,
		"race":   run.cancelAndRefund,
		"pass":   run.pass,
	})
}

func (r *waitRun) add(parts int) { r.parts = min(r.parts+parts, r.capacity*tokenParts) }

// settle books how each wait has ended. A caller that was served stood before all callers that
// still wait.
func (r *waitRun) settle(t *rapid.T) {
	synctest.Wait()
	waits := false
	for _, c := range r.queue {
		switch {
		case !c.done:
			waits = true
			require.True(t, c.until.After(r.clock.Now()), "it waits for longer than it wanted")
		case c.err == nil:
			require.False(t, waits, "served before callers that came earlier")
			r.parts -= c.cost * tokenParts
		case c.canceled:
			require.ErrorIs(t, c.err, context.Canceled)
		default:
			require.ErrorAs(t, c.err, new(*ratelimit.WaitError))
			require.False(t, c.until.After(r.clock.Now()), "it gave up too early")
		}
	}
	r.queue = slices.DeleteFunc(r.queue, func(c *quotaCaller) bool { return c.done })
}

// check closes the books. A timer within a step leaves some rounding.
func (r *waitRun) check(t *rapid.T) {
	const rounding = 1
	available := r.quota.Available()
	require.GreaterOrEqual(t, r.parts, -rounding)
	require.GreaterOrEqual(t, available, 0)
	require.LessOrEqual(t, available*tokenParts, r.parts+rounding)
	require.Greater(t, (available+1)*tokenParts, r.parts-rounding)
	require.Equal(t, len(r.queue), r.quota.Waiting())
	if len(r.queue) > 0 {
		require.Less(t, available, r.queue[0].cost, "the first in line is due")
	}
	require.Equal(t, len(r.queue), r.clock.Waiters(), "the clock counts the callers that wait")
}

func (r *waitRun) wait(t *rapid.T) {
	ctx, cancel := context.WithCancel(t.Context())
	limit := drawSteps(t, 3000)
	c := &quotaCaller{cost: drawInt(t, 1, 12, "cost"), until: r.clock.Now().Add(limit), cancel: cancel}
	go func() {
		_, c.err = r.quota.Wait(ctx, c.cost, limit, time.Time{})
		c.done = true
	}()
	synctest.Wait()
	if c.cost > r.capacity {
		require.True(t, c.done)
		require.ErrorIs(t, c.err, line.ErrWaitLimit)
		return
	}
	r.queue = append(r.queue, c)
	r.settle(t)
}

func (r *waitRun) take(t *rapid.T) {
	cost := drawInt(t, 0, 12, "cost")
	before := r.quota.Available()
	granted := r.quota.Charge(cost) != nil
	require.Equal(t, len(r.queue) == 0 && before >= cost, granted)
	if granted {
		before -= cost
		r.parts -= cost * tokenParts
	}
	require.Equal(t, before, r.quota.Available())
}

func (r *waitRun) refund(t *rapid.T) {
	r.giveBack(t, drawInt(t, 0, 12, "tokens"))
}

func (r *waitRun) giveBack(t *rapid.T, tokens int) {
	r.quota.Refund(tokens)
	r.add(tokens * tokenParts)
	r.settle(t)
}

func (r *waitRun) cancel(t *rapid.T) {
	if len(r.queue) == 0 {
		return
	}
	c := r.queue[drawInt(t, 0, len(r.queue)-1, "caller")]
	c.canceled = true
	c.cancel()
	synctest.Wait()
	require.ErrorIs(t, c.err, context.Canceled)
	r.settle(t)
}

// cancelAndRefund leaves it open whether the first in line gives up before it is
// served or after it. No token is lost either way, and the capacity cuts none.
func (r *waitRun) cancelAndRefund(t *rapid.T) {
	tokens := drawInt(t, 0, max(r.capacity-r.parts/tokenParts-1, 0), "tokens")
	if len(r.queue) > 0 {
		r.queue[0].canceled = true
		r.queue[0].cancel()
	}
	r.giveBack(t, tokens)
}

// quotaStep is how time passes. It is also what the limits of the callers are made
// of: in a longer step one might be served after the instant at which it gives
// up, and when it then gives its tokens back, the capacity cuts them.
const quotaStep = tick / 5

func drawSteps(t *rapid.T, most int) time.Duration {
	return time.Duration(drawInt(t, 1, most, "steps")) * quotaStep
}

// pass lets whole steps pass. One that is served within one makes room in the quota
// for the rest of it.
func (r *waitRun) pass(t *rapid.T) {
	for d := drawSteps(t, 200); d > 0; d -= quotaStep {
		r.clock.Advance(quotaStep)
		r.parts += r.eighths / 5
		r.settle(t)
		r.add(0)
	}
}

// cancelAll ends all waits, so that a run that has failed ends.
func (r *waitRun) cancelAll() {
	for _, c := range r.queue {
		c.cancel()
	}
}
