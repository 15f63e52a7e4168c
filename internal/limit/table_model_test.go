package limit_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/testonly/model"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// tableEntry is a scope and what its model knows of it.
type tableEntry struct {
	*limit.Scope
	*still
	batches           limit.Batches
	used              bool      // since the last visit
	ended             time.Time // when an operation last ended while the quota was not full, or the scope was made
	tokens, debt      int
	raised            int // of the limit on what the quota may lack
	strained, refused uint64
	evicted           bool
}

// still is a limiter that only says what it was told to.
type still struct {
	ratelimit.Limiter
	expected time.Duration
	state    retry.ScopeSnapshot
}

func (s *still) Expected(ratelimit.Request) time.Duration { return s.expected }
func (s *still) State() retry.ScopeSnapshot               { return s.state }

// tableGame is a table and its model: places, and a cursor that goes round them.
type tableGame struct {
	*model.Player
	*limit.Table
	config       limit.TableConfig
	clock        *settable
	places, gone []*tableEntry
	cursor       int
	swept        time.Time
	owed         int // tokens that scopes lacked which are gone
	lacked       time.Time
	whole        *tableEntry
	overflow     *tableEntry
	pooled       int
	overflowed   uint64
	strained     uint64 // of scopes that are gone
	refused      uint64 // likewise
	idle         time.Duration
	evicted      []retry.ScopeKey // in the present step
	made         *still
	known        bool // the send rate of each scope is
}

func FuzzTable(f *testing.F) {
	model.Play(f, 400, func(p *model.Player) {
		start := model.From(p, time.Time{}, time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))
		g := &tableGame{Player: p, clock: &settable{Fake: clock.NewFake(start)}, swept: start}
		g.config = limit.TableConfig{
			Clock: g.clock, Start: start, Max: 1 + p.IntN(6), Idle: model.From(p, 0, 1, time.Second, time.Minute, time.Hour),
			Quota: limit.QuotaConfig{Capacity: 20, Initial: model.From(p, -3, 0, 4, 9, 20, 25), DebtStep: model.From(p, 0, 7)},
			Pool:  limit.QuotaConfig{Capacity: 100},
		}
		if p.Once(2) {
			g.known = p.Once(2)
			g.config.NewLimiter = func(retry.ScopeKey, time.Time) (ratelimit.Limiter, bool, error) {
				g.made = &still{state: retry.ScopeSnapshot{SendRateSource: "local", SendCapacity: 3, SendTokens: 3}}
				return g.made, g.known, nil
			}
		}
		p.Step("%+v", g.config)
		g.Table, g.idle = limit.NewTable(g.config), cmp.Or(g.config.Idle, 5*time.Minute)
		g.whole = g.entry(g.Whole)
		for range 80 {
			switch model.From(p, "use", "use", "use", "pass", "change", "change", "change", "change") {
			case "use":
				g.use(retry.ScopeKey{Scope: strconv.Itoa(p.IntN(2 * g.config.Max))})
			case "pass":
				d := model.From(p, 1, time.Second, 9*time.Second, g.idle, 10*time.Minute, time.Hour, -3*time.Second, -6*time.Second, -2*time.Hour)
				p.Step("pass %v", d)
				g.clock.set += d
			default:
				g.change(g.pick())
			}
			g.check()
		}
	})
}

// within reports whether less than d has passed since an instant, and the clock has not gone back.
func (g *tableGame) within(since time.Time, d time.Duration) bool {
	passed := g.clock.Now().Sub(since)
	return passed < d && passed >= -5*time.Second
}

func (g *tableGame) full() bool { return len(g.places) >= g.config.Max }

// initial is how many tokens a new scope has.
func (g *tableGame) initial() int { return max(min(g.config.Quota.Initial, 20), 0) }

// tableEntry is that of a scope which has the limiter that was made last.
func (g *tableGame) entry(s *limit.Scope) *tableEntry {
	return &tableEntry{Scope: s, still: g.made, used: true, ended: g.clock.Now(), tokens: g.initial()}
}

// use finds or creates a scope, as an operation does when it begins.
func (g *tableGame) use(key retry.ScopeKey) {
	g.Step("use %v", key)
	g.evicted = nil
	s, created := g.Find(&key), false
	if s == nil {
		s, created = g.Create(key, func(s *limit.Scope) { g.evicted = append(g.evicted, s.Key) })
	}
	if i := slices.IndexFunc(g.places, func(e *tableEntry) bool { return e.Key == key }); i >= 0 {
		g.places[i].used = true
		require.Same(g, g.places[i].Scope, s)
		require.False(g, created)
		return
	}
	left := g.room()
	require.Equal(g, left, g.evicted, "evicted")
	fresh := g.entry(s)
	switch {
	case !g.full():
		share := min(g.owed/(g.config.Max-len(g.places)), fresh.tokens+14)
		g.owed, fresh.tokens, fresh.debt = g.owed-share, max(fresh.tokens-share, 0), max(share-fresh.tokens, 0)
		g.places = append(g.places, fresh)
		require.True(g, created)
	case g.overflow == nil:
		key, g.overflow = retry.OverflowKey(), fresh
		g.overflowed++
		require.True(g, created)
	default:
		key = retry.OverflowKey()
		g.overflowed++
		require.Same(g, g.overflow.Scope, s)
	}
	require.Equal(g, key, s.Key)
}

// room evicts scopes that were not used since the last visit and need not stay: all of them when an idle time has passed, and
// else the first if there is no place. If there is none, that goes which was throttled longest ago.
func (g *tableGame) room() (left []retry.ScopeKey) {
	evict := func(at int) { // the last one takes its place
		e, last := g.places[at], len(g.places)-1
		g.places[at] = g.places[last]
		g.places, g.cursor = g.places[:last], at
		if lacks := g.initial() - e.tokens + e.debt; lacks > 0 && g.clock.Now().Sub(e.ended).Abs() < time.Hour {
			g.owed, g.lacked = g.owed+lacks, g.clock.Now()
		}
		e.evicted = true
		g.strained, g.refused = g.strained+e.strained, g.refused+e.refused
		e.strained, e.refused = 0, 0
		g.gone = append(g.gone, e)
		left = append(left, e.Key)
	}
	visit := func(at int) (throttled time.Time) {
		e := g.places[at]
		stays, throttled := g.stays(e)
		switch {
		case e.used:
			e.used = false
			return time.Time{}
		case !stays && throttled.IsZero():
			evict(at)
		case stays:
			return time.Time{}
		}
		return throttled
	}
	if !g.within(g.lacked, time.Hour) {
		g.owed = 0
	}
	if !g.within(g.swept, g.idle) {
		g.swept = g.clock.Now()
		for at := range slices.Backward(g.places) {
			visit(at)
		}
	}
	if !g.full() {
		return left
	}
	coldest, since, start, size := -1, time.Time{}, g.cursor, len(g.places)
	g.cursor += size
	for n := 0; n < 2*size && g.full(); n++ {
		at := (start + n) % size
		if cut := visit(at); !cut.IsZero() && (coldest < 0 || cut.Before(since)) {
			coldest, since = at, cut
		}
	}
	if g.full() && coldest >= 0 {
		evict(coldest)
	}
	return left
}

// stays reports whether a scope must stay, so that no new one has more than it, and when it was throttled, if that was lately.
func (g *tableGame) stays(e *tableEntry) (stays bool, throttled time.Time) {
	if e.still == nil {
		return false, throttled
	}
	if last := e.state.LastThrottle; !last.IsZero() && g.clock.Now().Sub(last) < 10*time.Minute {
		throttled = last
	}
	return e.state.Waiting > 0 || g.known && e.state.SendTokens < 3 || throttled.IsZero() && e.expected > 0, throttled
}

// pick draws a scope, which may be gone.
func (g *tableGame) pick() *tableEntry {
	all := append(slices.Concat(g.places, g.places, g.gone), g.whole)
	if g.overflow != nil {
		all = append(all, g.overflow)
	}
	return model.From(g.Player, all...)
}

// change lets something happen in a scope.
func (g *tableGame) change(e *tableEntry) {
	switch n := 1 + g.IntN(20); model.From(g.Player, "charge", "charge", "refund", "lend", "limiter", "touch", "end", "batch") {
	case "charge":
		g.Step("charge %d in %v", n, e.Key)
		if n <= e.tokens {
			e.tokens -= n
			require.Same(g, e.Quota, e.Quota.Charge(n))
		}
	case "refund":
		g.Step("refund %d in %v", n, e.Key)
		beyond := max(e.tokens+n-20, 0)
		if e.debt = max(e.debt-beyond, 0); e != g.whole {
			paid := max(beyond-(100-g.pooled), 0)
			g.pooled, g.owed = min(g.pooled+beyond, 100), max(g.owed-paid, 0)
		}
		e.tokens = min(e.tokens+n, 20)
		e.Quota.Refund(n)
	case "lend":
		g.Step("lend in %v", e.Key)
		require.Equal(g, e.debt == 0, e.Quota.Lend(20, e.Quota.Loans()))
		if e.debt == 0 {
			e.debt = 14
		}
	case "limiter":
		if e.still != nil {
			g.Step("limiter of %v", e.Key)
			e.expected, e.state.Waiting = model.From(g.Player, 0, 0, time.Second), model.From(g.Player, 0, 0, 1)
			e.state.SendTokens = model.From(g.Player, 2.9, 3, 3)
			e.state.LastThrottle = model.From(g.Player, time.Time{}, g.clock.Now())
		}
	case "touch":
		g.Step("touch %v", e.Key)
		require.Equal(g, !e.evicted && e != g.overflow, e.Touch())
		e.used = true
	case "end":
		first, lacked := g.Once(2), g.Once(2)
		g.Step("end in %v, first %v, lacked %v", e.Key, first, lacked)
		g.Ended(e.Scope, first, lacked)
		strained, refused := &e.strained, &e.refused
		if e.evicted {
			strained, refused = &g.strained, &g.refused
		}
		if lacked {
			*refused++
		}
		if lacked || e.tokens < 20 {
			*strained++
			if first {
				e.raised = min(e.raised+g.config.Quota.DebtStep, 20)
			}
			e.ended = g.clock.Now()
		}
	case "batch":
		throttled, entries := g.IntN(3)-1, g.IntN(3)
		g.Step("batch of %d, %d throttled, in %v", entries, throttled, e.Key)
		require.Equal(g, e.batches.Throttled(max(throttled, 0), entries), e.Throttled(max(throttled, 0), entries))
	}
}

func (g *tableGame) check() {
	snapshot := g.Snapshot()
	require.Equal(g, g.overflowed, snapshot.Overflowed)
	require.EqualValues(g, len(g.gone), snapshot.Evicted)
	require.Equal(g, g.pooled, snapshot.Pool)
	require.Equal(g, g.owed, g.Pool.Owed())
	require.Equal(g, []uint64{g.strained, g.refused}, []uint64{snapshot.EvictedStrainedCalls, snapshot.EvictedRefusedCalls})
	all := append([]*tableEntry{g.whole}, g.places...)
	if g.overflow != nil {
		all = append(all, g.overflow)
	}
	slices.SortFunc(all, func(a, b *tableEntry) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	require.Len(g, snapshot.Scopes, len(all))
	for i, e := range all {
		want := retry.ScopeSnapshot{
			Key: e.Key, Scope: e.Key.String(), Quota: e.tokens, QuotaCapacity: 20, Debt: e.debt, StrainedCalls: e.strained, RefusedCalls: e.refused,
		}
		if g.config.Quota.DebtStep > 0 {
			want.DebtLimit = g.config.Quota.DebtStep + e.raised
		}
		if e.still != nil {
			want.SendRateSource, want.Waiting, want.LastThrottle = "local", e.state.Waiting, e.state.LastThrottle
			want.SendTokens, want.SendCapacity = e.state.SendTokens, 3
		}
		require.Equal(g, want, snapshot.Scopes[i])
	}
}
