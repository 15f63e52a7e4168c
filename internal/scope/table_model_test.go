package scope_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/internal/testonly/model"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// entry is a scope and what its model knows of it.
type entry struct {
	*scope.Scope
	*still
	batches           scope.Batches
	used              bool      // since the last visit of the cursor
	quiet             time.Time // when the cursor last found it used
	tokens            int
	strained, refused uint64
	evicted           bool
}

// still is a limiter that only says what it was told to.
type still struct {
	scope.Limiter
	expected time.Duration
	state    retry.ScopeSnapshot
}

func (s *still) Expected(ratelimit.Request) time.Duration { return s.expected }
func (s *still) State() retry.ScopeSnapshot               { return s.state }

// game is a table and its model: places, and a cursor that goes round them.
type game struct {
	*model.Player
	*scope.Table
	config       scope.Config
	clock        *settable
	places, gone []*entry
	cursor       int
	swept, asked time.Time
	whole        *entry
	overflow     *entry
	pooled       int
	overflowed   uint64
	idle         time.Duration
	evicted      []retry.ScopeKey // in the present step
	made         *still
}

func FuzzTable(f *testing.F) {
	model.Play(f, 400, func(p *model.Player) {
		start := model.From(p, time.Time{}, time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))
		g := &game{Player: p, clock: &settable{Fake: clock.NewFake(start)}, swept: start, asked: start.Add(-10 * time.Second)}
		g.config = scope.Config{
			Clock: g.clock, Start: start, Max: 1 + p.IntN(6), Idle: model.From(p, 0, 1, time.Second, time.Minute, time.Hour),
			Quota: quota.Config{Capacity: 20, Initial: model.From(p, -3, 0, 4, 9, 20, 25)}, Costs: []int{3, model.From(p, 2, 5, 9, 21)},
			Pool: quota.Config{Capacity: 100},
		}
		if p.Once(2) {
			g.config.NewLimiter = func(retry.ScopeKey, time.Time) (scope.Limiter, error) {
				g.made = &still{state: retry.ScopeSnapshot{SendRateSource: "local"}}
				return g.made, nil
			}
		}
		p.Step("%+v", g.config)
		g.Table, g.idle = scope.NewTable(g.config), cmp.Or(g.config.Idle, 5*time.Minute)
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
func (g *game) within(since time.Time, d time.Duration) bool {
	passed := g.clock.Now().Sub(since)
	return passed < d && passed >= -5*time.Second
}

func (g *game) full() bool { return len(g.places) >= g.config.Max }

// initial is how many tokens a new scope has.
func (g *game) initial() int { return max(min(g.config.Quota.Initial, 20), 0) }

// entry is that of a scope which has the limiter that was made last.
func (g *game) entry(s *scope.Scope) *entry {
	return &entry{Scope: s, still: g.made, used: true, quiet: g.config.Start, tokens: g.initial()}
}

// use finds or creates a scope, as an operation does when it begins.
func (g *game) use(key retry.ScopeKey) {
	g.Step("use %v", key)
	g.evicted = nil
	s, created := g.Find(&key), false
	if s == nil {
		s, created = g.Create(key, func(s *scope.Scope) { g.evicted = append(g.evicted, s.Key) })
	}
	if i := slices.IndexFunc(g.places, func(e *entry) bool { return e.Key == key }); i >= 0 {
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

// room evicts scopes that were not used since the last visit of the cursor and need not stay: all of them when an idle time has
// passed, and else the first if there is no place. All are not asked again at once.
func (g *game) room() (left []retry.ScopeKey) {
	now, sweep := g.clock.Now(), 0
	if g.full() && g.within(g.asked, 10*time.Second) {
		return nil
	}
	if !g.within(g.swept, g.idle) {
		g.swept, g.cursor, sweep = now, 0, len(g.places)
	}
	for n := 0; len(g.places) > 0 && (n < sweep || g.full() && n < sweep+2*g.config.Max); n++ {
		g.cursor %= len(g.places)
		switch e := g.places[g.cursor]; {
		case e.used:
			e.used, e.quiet = false, now
			g.cursor++
		case g.stays(e):
			g.cursor++
		default: // the last one takes its place
			last := len(g.places) - 1
			g.places[g.cursor] = g.places[last]
			g.places = g.places[:last]
			e.evicted = true
			g.gone = append(g.gone, e)
			left = append(left, e.Key)
		}
	}
	if g.full() {
		g.asked = now
	}
	return left
}

// stays reports whether a scope must stay: so that no new one has more than it.
func (g *game) stays(e *entry) bool {
	dearest := 0
	for _, cost := range g.config.Costs {
		if cost <= g.initial() {
			dearest = max(dearest, cost)
		}
	}
	now := g.clock.Now()
	if e.still != nil {
		if last := e.state.LastThrottle; e.expected > 0 || e.state.Waiting > 0 || !last.IsZero() && now.Sub(last) < 10*time.Minute {
			return true
		}
	}
	return e.tokens < dearest || e.tokens < g.initial() && now.Sub(e.quiet).Abs() < time.Hour
}

// pick draws a scope, which may be gone.
func (g *game) pick() *entry {
	all := append(slices.Concat(g.places, g.places, g.gone), g.whole)
	if g.overflow != nil {
		all = append(all, g.overflow)
	}
	return model.From(g.Player, all...)
}

// change lets something happen in a scope.
func (g *game) change(e *entry) {
	switch n := 1 + g.IntN(20); model.From(g.Player, "charge", "charge", "refund", "limiter", "touch", "end", "batch") {
	case "charge":
		g.Step("charge %d in %v", n, e.Key)
		if n <= e.tokens {
			e.tokens -= n
			require.Same(g, e.Quota, e.Quota.Charge(n))
		}
	case "refund":
		g.Step("refund %d in %v", n, e.Key)
		if beyond := e.tokens + n - 20; beyond > 0 && e != g.whole {
			g.pooled = min(g.pooled+beyond, 100)
		}
		e.tokens = min(e.tokens+n, 20)
		e.Quota.Refund(n)
	case "limiter":
		if e.still != nil {
			g.Step("limiter of %v", e.Key)
			e.expected, e.state.Waiting = model.From(g.Player, 0, 0, time.Second), model.From(g.Player, 0, 0, 1)
			e.state.LastThrottle = model.From(g.Player, time.Time{}, g.clock.Now())
		}
	case "touch":
		g.Step("touch %v", e.Key)
		require.Equal(g, !e.evicted && e != g.overflow, e.Touch())
		e.used = true
	case "end":
		lacked := g.Once(2)
		g.Step("end in %v, lacked %v", e.Key, lacked)
		e.Ended(lacked)
		if lacked {
			e.refused++
		}
		if lacked || e.tokens < 20 {
			e.strained++
		}
	case "batch":
		throttled, entries := g.IntN(3)-1, g.IntN(3)
		g.Step("batch of %d, %d throttled, in %v", entries, throttled, e.Key)
		require.Equal(g, e.batches.Throttled(max(throttled, 0), entries), e.Throttled(max(throttled, 0), entries))
	}
}

func (g *game) check() {
	snapshot := g.Snapshot()
	require.Equal(g, g.overflowed, snapshot.Overflowed)
	require.EqualValues(g, len(g.gone), snapshot.Evicted)
	require.Equal(g, g.pooled, snapshot.Pool)
	all := append([]*entry{g.whole}, g.places...)
	if g.overflow != nil {
		all = append(all, g.overflow)
	}
	slices.SortFunc(all, func(a, b *entry) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	require.Len(g, snapshot.Scopes, len(all))
	for i, e := range all {
		want := retry.ScopeSnapshot{
			Key: e.Key, Scope: e.Key.String(), Quota: e.tokens, QuotaCapacity: 20, StrainedCalls: e.strained, RefusedCalls: e.refused,
		}
		if e.still != nil {
			want.SendRateSource, want.Waiting, want.LastThrottle = "local", e.state.Waiting, e.state.LastThrottle
		}
		require.Equal(g, want, snapshot.Scopes[i])
	}
}
