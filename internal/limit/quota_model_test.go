package limit_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/testonly/model"
	"github.com/awsretry/awsretry/ratelimit"
)

// The time of a quotaGame moves in ticks, and the model counts in parts of a token, so that all is whole: a rate of an eighth of
// a token a second brings one part in a tick.
const (
	tick  = time.Second / 64
	token = 8 * 64
)

// quotaGame is quotas that may share a pool, and those who wait for them, in the order in which they came.
type quotaGame struct {
	*model.Player
	clock  *lateClock
	quotas []*quotaAccount
	pool   *quotaAccount // or nil
	line   []*quotaWaiter
	left   []*quotaWaiter // since the last step
	paid   []payment
}

// quotaAccount is a quota and its model.
type quotaAccount struct {
	*limit.Quota
	pool                     *quotaAccount
	capacity, parts, eighths int
	debt                     int
	step, most, top          int       // of the limit on what it may lack
	free                     time.Time // until when it does not count
	loans                    uint32
	newest                   time.Time // reading of the clock
}

type payment struct {
	by   *quotaAccount
	cost int
}

// quotaWaiter is a Wait in a goroutine of its own.
type quotaWaiter struct {
	cost   int
	of     *quotaAccount
	end    time.Time // when it gives up,
	why    error     // and with what
	cancel context.CancelFunc

	wantPayer, payer *limit.Quota
	wantErr, err     error
	ended            bool
}

// lateClock shows a time that has passed.
type lateClock struct {
	*clock.Fake
	by time.Duration
}

func (c *lateClock) Now() time.Time { return c.Fake.Now().Add(-c.by) }

func FuzzQuota(f *testing.F) {
	model.Play(f, 150, func(p *model.Player) {
		g := &quotaGame{Player: p, clock: &lateClock{Fake: new(clock.Fake)}}
		waits := !p.Once(3)
		if p.Once(2) {
			g.pool = g.account(limit.QuotaConfig{Capacity: p.IntN(20), Waits: waits}, nil)
		}
		for range 1 + p.IntN(3) {
			config := limit.QuotaConfig{Capacity: p.IntN(22) - 1, Refill: ratelimit.Rate(p.IntN(4)*p.IntN(40)) / 8, Waits: waits}
			if waits { // those who wait are served at a tick
				config.Refill = model.From[ratelimit.Rate](p, 0, 0, 0.25, 1, 8, 64)
			}
			g.quotas = append(g.quotas, g.account(config, g.pool))
		}
		for range 100 {
			switch model.From(p, "pass", "jump", "charge", "charge", "refund", "refund", "help", "fail", "lend", "wait", "wait", "cancel") {
			case "pass":
				ticks := 1 + p.IntN(200)
				p.Step("%d ticks", ticks)
				for range ticks {
					g.clock.Advance(tick)
					g.passed()
				}
			case "jump": // to when the first of a line gives up
				if slices.ContainsFunc(g.quotas, func(a *quotaAccount) bool { return a.eighths > 0 }) {
					break
				}
				d, _ := g.clock.AdvanceToNext()
				p.Step("jump by %v", d)
				g.passed()
			case "charge":
				g.charge(model.From(p, g.quotas...), g.amount())
			case "refund":
				g.refund()
			case "help", "fail":
				g.judge(model.From(p, g.quotas...), p.Once(2))
			case "lend":
				g.lend(model.From(p, g.quotas...), g.amount())
			case "wait":
				g.wait(model.From(p, g.quotas...), waits)
			case "cancel":
				if len(g.line) > 0 {
					w := model.From(p, g.line...)
					p.Step("cancel of %d", w.cost)
					g.leaves(w, nil, context.Canceled)
					g.serves()
					w.cancel()
				}
			}
			g.check()
		}
		for _, w := range g.line {
			w.cancel()
		}
	})
}

func (g *quotaGame) account(config limit.QuotaConfig, pool *quotaAccount) *quotaAccount {
	config.Initial = g.IntN(25) - 2
	a := &quotaAccount{pool: pool, capacity: max(config.Capacity, 0), eighths: int(8 * config.Refill), newest: g.clock.Now()}
	a.parts = min(max(config.Initial, 0), a.capacity) * token
	if pool != nil {
		config.Pool = pool.Quota
	}
	if config.Refill == 0 {
		config.Refill = model.From(g.Player, 0, -1, ratelimit.Rate(math.NaN()))
	}
	if pool != nil || g.Once(2) {
		config.DebtStep = model.From(g.Player, 0, 1, 5, 14)
	}
	a.step, a.most, a.top, a.free = config.DebtStep, config.DebtStep, a.parts/token, a.newest.Add(-time.Hour)
	g.Step("quota %+v", config)
	a.Quota = limit.NewQuota(config, g.clock.Now(), g.clock)
	return a
}

func (g *quotaGame) amount() int {
	return model.From(g.Player, -3, g.IntN(8), g.IntN(8), g.IntN(8), g.IntN(25), math.MaxInt)
}

// moves brings the refill up to a reading of the clock. One that is more than five seconds old says that the clock has gone
// back, and time goes on from there.
func (a *quotaAccount) moves(reading time.Time) {
	if a.newest.Sub(reading) > 5*time.Second {
		a.newest = reading
	}
	if passed := reading.Sub(a.newest); passed > 0 {
		a.parts, a.newest = min(a.parts+int(passed/tick)*a.eighths, a.capacity*token), reading
	}
}

// waiting returns who waits for an account, which may be the pool.
func (g *quotaGame) waiting(a *quotaAccount) (all []*quotaWaiter) {
	for _, w := range g.line {
		if w.of == a || a == g.pool && w.cost <= a.capacity {
			all = append(all, w)
		}
	}
	return all
}

// serves serves those who are due: by the own quota, or else by the pool if no other is before them there.
func (g *quotaGame) serves() {
	for i := 0; i < len(g.line); i++ {
		w := g.line[i]
		for a := w.of; a != nil && g.waiting(w.of)[0] == w; a = a.pool {
			if all := g.waiting(a); len(all) > 0 && all[0] == w && a.parts/token >= w.cost {
				g.pays(a, w.cost)
				g.leaves(w, a, nil)
				i = -1 // the turn of others may have come
				break
			}
		}
	}
}

func (g *quotaGame) pays(a *quotaAccount, cost int) {
	a.parts -= cost * token
	g.paid = append(g.paid, payment{a, cost})
}

func (g *quotaGame) leaves(w *quotaWaiter, payer *quotaAccount, err error) {
	g.line = slices.DeleteFunc(g.line, func(other *quotaWaiter) bool { return other == w })
	g.left = append(g.left, w)
	if w.wantErr = err; payer != nil {
		w.wantPayer = payer.Quota
	}
}

// passed says that time has passed, at most until the first of a line gives up.
func (g *quotaGame) passed() {
	now := g.clock.Now()
	gone := slices.DeleteFunc(slices.Clone(g.line), func(w *quotaWaiter) bool { return w.end.After(now) })
	slices.SortFunc(gone, func(v, w *quotaWaiter) int { return v.end.Compare(w.end) })
	for _, w := range gone {
		if w.end.Before(now) {
			require.NotSame(g, g.waiting(w.of)[0], w)
			g.leaves(w, nil, w.why)
			g.serves()
		}
	}
	for _, a := range g.quotas {
		a.moves(now)
	}
	g.serves() // tokens that come at the end are in time
	if i := len(gone) - 1; i >= 0 && slices.Contains(g.line, gone[i]) {
		g.leaves(gone[i], nil, gone[i].why)
		g.serves()
	}
	synctest.Wait()
}

// late calls f, now and then with a clock that has gone back, or as one that has read it before others.
func (g *quotaGame) late(f func(), all ...*quotaAccount) {
	if len(g.line) == 0 { // else those in it read the clock meanwhile
		g.clock.by = model.From(g.Player, 0, 0, 3*tick, 5*time.Second, 6*time.Second, time.Hour)
		defer func() { g.clock.by = 0 }()
	}
	for _, a := range all {
		a.moves(g.clock.Now())
	}
	f()
}

func (g *quotaGame) charge(q *quotaAccount, cost int) {
	g.late(func() {
		g.Step("charge %d, late by %v", cost, g.clock.by)
		now, tokens := g.clock.Now(), q.parts/token
		left := q.free.Sub(now)
		require.Equal(g, q.step > 0 && q.top-tokens > q.most-cost && (left <= 0 || left > 6*time.Second), q.Limits(cost))
		if tokens >= q.top {
			q.top, q.free = tokens, now.Add(time.Second)
		}
		for a := q; a != nil; a = a.pool {
			if len(g.waiting(a)) == 0 && a.parts/token >= cost {
				g.pays(a, max(cost, 0))
				require.Same(g, a.Quota, q.Charge(cost))
				return
			}
		}
		require.Nil(g, q.Charge(cost))
	}, q)
}

// judge says whether a retry has helped.
func (g *quotaGame) judge(q *quotaAccount, helped bool) {
	g.Step("helped %v", helped)
	by, note := -6, q.Failed
	if helped {
		by, note = 1, q.Helped
	}
	q.most = min(max(q.most+by*q.step, q.step), q.capacity+q.step)
	note()
}

// refund gives back what was paid, or the token of a success.
func (g *quotaGame) refund() {
	back := payment{model.From(g.Player, g.quotas...), g.amount()}
	if len(g.paid) > 0 && g.Once(2) {
		back, g.paid = g.paid[0], g.paid[1:]
	}
	g.late(func() {
		g.Step("refund %d, late by %v", back.cost, g.clock.by)
		beyond := max(back.cost, 0)
		for a := back.by; a != nil; a = a.pool {
			fits := min(beyond, a.capacity-a.parts/token)
			a.parts = min(a.parts+fits*token, a.capacity*token)
			if beyond -= fits; a == back.by {
				a.debt = max(a.debt-beyond, 0)
			}
		}
		back.by.Refund(back.cost)
	}, back.by)
	g.serves()
}

// lend asks for a loan to an attempt that was sent at the present count of loans, or before it.
func (g *quotaGame) lend(q *quotaAccount, cost int) {
	since := q.loans - uint32(g.IntN(3)/2)
	g.Step("lend %d since %d", cost, since)
	lends := cost <= q.capacity && (q.debt == 0 || since != q.loans)
	if lends && q.debt == 0 {
		q.loans++
	}
	if lends {
		q.debt += 14
	}
	require.Equal(g, lends, q.Lend(cost, since))
}

func (g *quotaGame) wait(q *quotaAccount, waits bool) {
	cost, now := g.IntN(12), g.clock.Now()
	ctx, cancel := context.WithCancel(g.Context())
	w := &quotaWaiter{cost: max(cost, 1), of: q, cancel: cancel}
	longest, notAfter := g.unique(g.IntN(600)), g.unique(g.IntN(600))
	if w.end, w.why = now.Add(longest), limit.ErrWaitLimit; g.Once(3) {
		notAfter -= model.From(g.Player, 0, 10*time.Second)
	} else {
		notAfter = time.Hour
	}
	if notAfter <= longest {
		w.end, w.why = now.Add(notAfter), ratelimit.ErrNotAfter
	}
	longest = model.From(g.Player, longest, longest, longest, longest, 0, -1)
	g.Step("wait for %d, longest %v, not after %v", cost, longest, notAfter)
	go func() {
		w.payer, w.err = q.Wait(ctx, cost, longest, now.Add(notAfter))
		w.ended = true
	}()
	synctest.Wait()
	switch {
	case !waits, cost > q.capacity:
		g.leaves(w, nil, limit.ErrWaitLimit)
	case notAfter < 0:
		g.leaves(w, nil, ratelimit.ErrNotAfter)
	case len(g.waiting(q)) == 0 && q.parts/token >= w.cost:
		g.pays(q, w.cost)
		g.leaves(w, q, nil)
	case longest <= 0:
		g.leaves(w, nil, limit.ErrNoWait)
	default:
		g.line = append(g.line, w)
		g.serves()
	}
}

// unique returns a time in ticks at whose end no other leaves: otherwise either may be the first.
func (g *quotaGame) unique(ticks int) time.Duration {
	for {
		d := time.Duration(ticks) * tick
		if !slices.ContainsFunc(g.line, func(w *quotaWaiter) bool { return w.end.Equal(g.clock.Now().Add(d)) }) {
			return d
		}
		ticks++
	}
}

func (g *quotaGame) check() {
	synctest.Wait()
	for _, w := range g.line {
		require.False(g, w.ended, "%d: %v", w.cost, w.err)
	}
	for _, w := range g.left {
		require.True(g, w.ended)
		require.Equal(g, w.wantErr, reason(w.err))
		require.Same(g, w.wantPayer, w.payer)
	}
	g.left = nil
	for _, a := range g.quotas {
		a.moves(g.clock.Now())
		require.Equal(g, a.parts/token, a.Available())
		require.Equal(g, a.parts/token == a.capacity, a.Full())
		require.Equal(g, a.capacity, a.Capacity())
		require.Len(g, g.waiting(a), a.Waiting())
		require.Equal(g, []int{a.debt, int(a.loans)}, []int{a.Debt(), int(a.Loans())})
		require.Equal(g, map[bool]int{true: a.most}[a.step > 0], a.DebtLimit())
		if a.pool == nil {
			require.Zero(g, a.Pooled())
			continue
		}
		require.Equal(g, a.pool.parts/token, a.Pooled())
		require.Len(g, g.waiting(a.pool), a.pool.Waiting())
	}
	require.Equal(g, len(g.line), g.clock.Waiters())
}
