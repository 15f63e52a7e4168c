package sendrate_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/model"
	"github.com/awsretry/awsretry/ratelimit"
)

// game is a limiter, the models of its rates, and those who wait, in the order in which they came.
type game struct {
	*model.Player
	limiter     *sendrate.Limiter
	clock       *backClock
	scope, part *rateModel // part is nil before its first throttle
	line        []*caller
	left        []*caller // since the last step
	granted     []ratelimit.Request
}

// backClock is a clock that has gone back.
type backClock struct {
	*clock.Fake
	by time.Duration
}

func (c *backClock) Now() time.Time { return c.Fake.Now().Add(-c.by) }

// caller is an Acquire in a goroutine of its own.
type caller struct {
	cost    float64
	ofPart  bool // it waits for the part, or did before
	held    bool // it has a token of the part
	accepts time.Time
	ends    time.Time // zero for never, as accepts
	why     error
	cancel  context.CancelFunc

	told       ratelimit.Wait
	sent, want time.Time
	err        error
	wantErr    error
	behind     *int // how many it waited behind when a cut refused it
	ended      bool
}

func FuzzLimiter(f *testing.F) {
	model.Play(f, 250, func(p *model.Player) {
		g := &game{Player: p, clock: &backClock{Fake: new(clock.Fake)}}
		config := drawConfig(p)
		p.Step("%+v", config)
		g.limiter, g.scope = sendrate.NewLimiter(config, g.clock), newRateModel(g.clock.Now(), config)
		for range 80 {
			switch model.From(p, "arrive", "arrive", "arrive", "cancel", "report", "report", "crowd", "give", "pass", "pass", "back") {
			case "arrive":
				g.arrive()
			case "cancel":
				if len(g.line) > 0 {
					c := model.From(p, g.line...)
					p.Step("cancel of %v", c.cost)
					g.leaves(c, context.Canceled)
					c.cancel()
				}
			case "report":
				r := ratelimit.Response{PartThrottled: p.Once(4), Part: p.Once(2), Cost: model.From(p, 0, 2.5)}
				r.Throttled, r.Sent = !r.PartThrottled && p.Once(3), model.From(p, time.Time{}, g.clock.Now().Add(-p.Pause()))
				p.Step("%+v", r)
				g.report(r)
			case "crowd": // so that the rate gets somewhere
				n := p.IntN(40)
				p.Step("%d answers", n)
				for range n {
					g.report(ratelimit.Response{})
				}
			case "give":
				if n := len(g.granted); n > 0 {
					r := g.granted[n-1]
					r.Cost = 0.9137 * cmp.Or(r.Cost, 1) // so that no one is due by a hair's breadth
					p.Step("give %v", r)
					g.limiter.Give(r)
					if r.Part && g.part != nil {
						g.part.give(g.now(), r.Cost)
					}
					g.scope.give(g.now(), r.Cost)
					g.granted = g.granted[:n-1]
				}
			case "pass":
				g.pass(p.Pause())
			case "back":
				if g.scope.limited && len(g.line) == 0 { // of which the limiter hears at once
					g.clock.by += model.From(p, 6*time.Second, time.Hour, 300*24*time.Hour)
					p.Step("back by %v", g.clock.by)
				}
			}
			g.serve()
			g.check()
		}
		for _, c := range g.line {
			c.cancel()
		}
	})
}

// now is the time that does not go back.
func (g *game) now() time.Time { return g.clock.Fake.Now() }

// queue returns who waits for a token of the part, or of the scope.
func (g *game) queue(part bool) (all []*caller) {
	for _, c := range g.line {
		if part == (c.ofPart && !c.held) {
			all = append(all, c)
		}
	}
	return all
}

// expected returns the wait of a caller behind those who are owed so much.
func (g *game) expected(c *caller, part, scope float64) (seconds float64) {
	if c.ofPart && !c.held {
		seconds = g.part.until(g.now(), part+c.cost)
	}
	return seconds + g.scope.until(g.now(), scope+c.cost)
}

func owed(callers []*caller) (cost float64) {
	for _, c := range callers {
		cost += c.cost
	}
	return cost
}

const hair = 1e-8 // seconds

// due serves the first of those who wait for a rate if its tokens are there.
func (g *game) due(rate *rateModel, callers []*caller) (first *caller) {
	if len(callers) == 0 {
		rate.lift(g.now(), 0)
		return nil
	}
	rate.lift(g.now(), callers[0].cost)
	if rate.until(g.now(), callers[0].cost) > hair {
		return nil
	}
	if rate.limited {
		rate.spend(callers[0].cost)
	}
	return callers[0]
}

func (g *game) serve() {
	for again := true; again; {
		again = false
		if g.part != nil {
			if c := g.due(g.part, g.queue(true)); c != nil {
				c.held, again = true, true
			}
		}
		if c := g.due(g.scope, g.queue(false)); c != nil {
			again = true
			c.held, c.want = false, g.clock.Now()
			g.leaves(c, nil)
		}
	}
	synctest.Wait()
}

// leaves takes a caller out of the line. If it has a token of the part, it gives that back.
func (g *game) leaves(c *caller, err error) {
	g.line = slices.DeleteFunc(g.line, func(other *caller) bool { return other == c })
	g.left = append(g.left, c)
	c.wantErr = err
	if c.held {
		g.part.give(g.now(), c.cost)
	}
}

// pass lets time pass, from one instant at which a caller is served or gives up to the next.
func (g *game) pass(d time.Duration) {
	g.Step("pass %v", d)
	for end := g.now().Add(d); ; g.serve() {
		due, next := math.Inf(1), end
		for part, rate := range map[bool]*rateModel{true: g.part, false: g.scope} {
			if q := g.queue(part); len(q) > 0 {
				due = min(due, rate.until(g.now(), q[0].cost))
			}
		}
		for _, c := range g.line {
			if !c.ends.IsZero() && c.ends.Before(next) {
				next = c.ends
			}
		}
		if due < next.Sub(g.now()).Seconds() {
			moved, _ := g.clock.AdvanceToNext()
			require.InDelta(g, due, moved.Seconds(), 1e-6*(1+due), "until the next is served")
			continue
		}
		g.clock.Advance(next.Sub(g.now()))
		synctest.Wait()
		for _, c := range slices.Clone(g.line) {
			if c.ends.Equal(g.now()) {
				g.leaves(c, c.why)
			}
		}
		if !next.Before(end) {
			return
		}
	}
}

func (g *game) arrive() {
	r := ratelimit.Request{Cost: model.From(g.Player, 0, 1, 3, 0.1+g.Float64()*6), Part: g.Once(2)}
	c := &caller{cost: cmp.Or(r.Cost, 1), ofPart: r.Part && g.part != nil}
	ctx, cancel := context.WithCancel(g.Context())
	c.cancel = cancel
	ofPart, ofScope := g.queue(true), g.queue(false)
	expected, ahead := g.expected(c, owed(ofPart), owed(ofScope)), len(ofScope)
	if c.ofPart {
		ahead += len(ofPart)
	}
	longest := time.Duration(expected * model.From(g.Player, 0.5, 0.99, 1.01, 2) * float64(time.Second))
	var refused error
	switch kind := model.From(g.Player, "", "", "", "wait", "end", "over", "deadline", "no wait", "queue"); kind {
	case "wait":
		r.MaxWait, c.why = max(longest, 1), limit.ErrWaitLimit
	case "end":
		r.NotAfter, c.why = g.clock.Now().Add(longest), ratelimit.ErrNotAfter
	case "over":
		r.NotAfter, refused = g.clock.Now().Add(-1), ratelimit.ErrNotAfter
	case "deadline": // of which it needs a minute for the attempt, or half of the time
		if g.clock.by > 0 {
			break // the deadline would be that of another clock
		}
		longest += time.Minute
		r.AttemptTime, c.why = model.From(g.Player, time.Minute, 2*longest), context.DeadlineExceeded
		ctx, c.cancel = g.clock.WithTimeout(g.Context(), longest)
		c.ends = g.now().Add(longest)
		longest -= min(r.AttemptTime, longest/2)
	case "no wait":
		r.NoWait, refused = true, limit.ErrNoWait
	case "queue":
		if r.MaxQueue = 1 + g.IntN(4); ahead >= r.MaxQueue {
			refused = limit.ErrQueueFull
		}
	}
	if c.why != nil {
		c.accepts = g.now().Add(longest)
		if c.ends.IsZero() {
			c.ends = c.accepts
		}
		if expected > longest.Seconds() {
			refused = c.why
		}
	}
	g.Step("arrive %+v, limit %v, expected %v", r, longest, expected)
	told := false
	r.OnWait = func(w ratelimit.Wait) { c.told, told = w, true }
	go func() {
		c.sent, c.err = g.limiter.Acquire(ctx, r)
		c.ended = true
	}()
	synctest.Wait()
	waits := expected > 0 || len(ofScope) > 0 && g.scope.limited || len(ofPart) > 0 && c.ofPart
	g.line = append(g.line, c)
	if refused != nil && (waits || r.NotAfter.Before(g.clock.Now()) && !r.NotAfter.IsZero()) {
		g.leaves(c, refused)
	}
	g.serve()
	require.Equal(g, slices.Contains(g.line, c), told)
	if g.granted = append(g.granted, r); c.err != nil {
		g.granted = g.granted[:len(g.granted)-1]
	}
	fill := g.scope.fill
	if c.ofPart {
		fill = g.part.fill
	}
	if wait, is := errors.AsType[*ratelimit.WaitError](c.err); told || is && (g.scope.limited || c.ofPart) {
		if is {
			c.told = wait.Wait
		}
		requireClose(g, expected, c.told.Expected.Seconds(), "expected wait")
		require.Equal(g, ahead, c.told.Ahead)
		requireClose(g, fill, float64(c.told.FillRate), "fill rate")
	}
}

func (g *game) report(r ratelimit.Response) {
	change, from := g.limiter.Report(r), g.scope.fill
	if !r.Sent.IsZero() {
		r.Sent = r.Sent.Add(g.clock.by)
	}
	cut := g.scope.report(g, g.now(), r, math.NaN())
	require.Equal(g, cut, change.Cut)
	require.Equal(g, g.scope.limited, change.Limited)
	requireClose(g, from, float64(change.From), "rate before")
	requireClose(g, g.scope.fill, float64(change.To), "rate after")
	if r.PartThrottled && g.part == nil {
		g.part = newRateModel(g.now(), sendrate.Config{
			Controller: g.scope.config.Controller, Cost: g.scope.config.Cost, StartingRate: ratelimit.Rate(max(1, g.scope.measured())),
		})
	}
	if r.Throttled = r.PartThrottled; g.part != nil && (r.Part || r.PartThrottled) {
		cut = g.part.report(g, g.now(), r, math.NaN()) || cut
	}
	if cut { // who cannot be served in time any more leaves, and makes the wait of those behind shorter
		ahead, front, own := map[bool]float64{}, 0, 0
		for _, c := range slices.Clone(g.line) {
			wait := g.expected(c, ahead[true], ahead[false])
			if !c.accepts.IsZero() && wait > c.accepts.Sub(g.now()).Seconds() {
				if g.leaves(c, c.why); c.ofPart && !c.held {
					c.behind = new(front + own)
				} else {
					c.behind = new(own)
				}
				continue
			}
			if ahead[c.ofPart && !c.held] += c.cost; c.ofPart && !c.held {
				front++
			} else {
				own++
			}
		}
	}
	g.serve()
}

func (g *game) check() {
	for _, c := range g.line {
		require.False(g, c.ended, "%v: %v", c.cost, c.err)
	}
	for _, c := range g.left {
		require.True(g, c.ended, "%v of part %v, %v", c.cost, c.ofPart, c.wantErr)
		require.ErrorIs(g, c.err, c.wantErr)
		if c.wantErr == nil {
			require.Equal(g, c.want, c.sent)
		}
		if c.behind != nil {
			refused, _ := errors.AsType[*ratelimit.WaitError](c.err)
			require.Equal(g, *c.behind, refused.Wait.Ahead)
		}
	}
	g.left = nil
	if g.part != nil {
		one := &caller{cost: 1, ofPart: true}
		expected := g.expected(one, owed(g.queue(true)), owed(g.queue(false)))
		requireClose(g, expected, g.limiter.Expected(ratelimit.Request{Part: true}).Seconds(), "wait for the part")
	}
	requireClose(g, g.scope.until(g.now(), owed(g.queue(false))+1), g.limiter.Expected(ratelimit.Request{}).Seconds(), "wait")
	state := g.limiter.State()
	require.Equal(g, len(g.line), state.Waiting)
	require.Equal(g, len(g.line), g.clock.Waiters())
	require.Equal(g, "local", state.SendRateSource)
	if g.scope.limited { // otherwise it may not have heard of the time
		requireClose(g, g.scope.tokens, state.SendTokens, "tokens")
	}
	requireClose(g, g.scope.measured(), state.MeasuredRate, "measured rate")
	if !g.scope.lastCut.IsZero() {
		require.Equal(g, g.scope.lastCut.Add(-g.clock.by), state.LastThrottle)
	}
}
