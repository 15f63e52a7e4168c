package proptest_test

import (
	"context"
	"errors"
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

// The quota of each scope of these plays, and what a retry costs.
const (
	smallQuota = 20
	retryCost  = 3
)

// eviction is operations with more keys than their strategy has places for, in which code of the user may panic.
type eviction struct {
	*model.Player
	strategy retry.Strategy
	clock    *clock.Fake
	places   int
	open     []*visit
	panics   string // which function of the user does
	paid     int    // tokens that retries took, but for those of operations whose scope had gone
	back     int    // tokens that successes gave
	lacked   uint64 // operations that failed for lack of quota
	made     []*bookedLimiter
}

// visit is an operation.
type visit struct {
	token retry.Token
	key   retry.ScopeKey
	owed  int  // of its last retry
	made  bool // its last retry was, or it has none
	gone  bool // its scope was evicted while it went on
}

// bookedLimiter counts the send tokens that are out.
type bookedLimiter struct {
	adaptive.Limiter
	game *eviction
	out  int
}

func (l *bookedLimiter) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	l.game.maybe("acquire")
	sent, err := l.Limiter.Acquire(ctx, r)
	if err == nil {
		l.out++
	}
	return sent, err
}

func (l *bookedLimiter) Report(r ratelimit.Response) ratelimit.Change {
	l.out--
	return l.Limiter.Report(r)
}

func (l *bookedLimiter) Give(r ratelimit.Request) {
	l.out--
	l.Limiter.Give(r)
}

func (l *bookedLimiter) State() retry.ScopeSnapshot {
	l.game.maybe("state")
	return l.Limiter.State()
}

// maybe panics in the function whose turn it is.
func (g *eviction) maybe(where string) {
	if g.panics == where {
		g.panics = ""
		panic(errPanic)
	}
}

// FuzzEvictions plays what evictions must not change: retries take no more than the quotas of all places and what comes back,
// each send token is used or given back, each call without quota is counted once, and whatever panics, the operations that
// follow go on.
func FuzzEvictions(f *testing.F) {
	model.Play(f, 200, func(p *model.Player) {
		g := &eviction{Player: p, clock: new(clock.Fake), places: 1 + p.IntN(6)}
		config := standard.Config{
			Clock: g.clock, QuotaCapacity: new(smallQuota), RetryCost: retryCost, ThrottlingCost: retryCost, TimeoutCost: retryCost,
			MaxScopes: g.places, ScopeIdle: model.From(p, 1, time.Second, time.Minute),
			Classifier: classify.Func(func(err error) bool {
				g.maybe("classify")
				return errors.Is(err, errAgain)
			}),
			Scope: func(op retry.Operation) retry.ScopeKey {
				g.maybe("key")
				return op.Key()
			},
			Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.ScopeEvicted {
					for _, v := range g.open {
						v.gone = v.gone || v.key == e.Scope
					}
				}
				g.maybe("observe")
			}),
		}
		var err error
		if p.Once(2) {
			g.strategy, err = standard.New(config)
		} else {
			g.strategy, err = adaptive.New(adaptive.Config{Standard: config, NewLimiter: func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
				g.maybe("limiter")
				g.made = append(g.made, &bookedLimiter{Limiter: adaptive.Config{}.Limiter(clk, adaptive.SendLimit{}), game: g})
				return g.made[len(g.made)-1]
			}})
		}
		require.NoError(p, err)
		for range 400 {
			g.step()
		}
		for _, v := range slices.Clone(g.open) {
			g.end(v, func(token retry.Token) error { return g.strategy.RecordFailure(token, errNever) })
		}
		snapshot := g.strategy.Snapshot()
		quotas := g.places + 1 // that of the overflow
		require.LessOrEqual(p, g.paid, quotas*smallQuota+g.back)
		lacked := snapshot.EvictedRefusedCalls
		for _, scope := range snapshot.Scopes {
			lacked += scope.RefusedCalls
			require.Zero(p, scope.Waiting)
		}
		require.Equal(p, g.lacked, lacked)
		for _, l := range g.made {
			require.Zero(p, l.out, "send tokens neither used nor given back")
		}
	})
}

// step begins an operation, or lets one go on. If something panics, the operation ends.
func (g *eviction) step() {
	action := model.From(g.Player, "begin", "begin", "refresh", "refresh", "succeed", "fail", "pass")
	g.panics = model.From(g.Player, "", "", "", "", "", "key", "limiter", "acquire", "state", "classify", "observe")
	g.Step("%s, %q panics", action, g.panics)
	var v *visit
	defer func() {
		if got := recover(); got != nil {
			require.Equal(g, errPanic, got)
			if v != nil {
				g.end(v, func(token retry.Token) error { return g.strategy.RecordFailure(token, errNever) })
			}
		}
		g.panics = ""
	}()
	switch {
	case action == "pass":
		g.clock.Advance(model.From(g.Player, 1, time.Second, 20*time.Second))
		return
	case action == "begin" || len(g.open) == 0:
		op := retry.Operation{Scope: strconv.Itoa(g.IntN(4 * g.places))}
		token, err := g.strategy.AcquireInitialToken(g.Context(), op)
		require.NoError(g, err)
		v = &visit{token: token, key: op.Key(), made: true}
		g.open = append(g.open, v)
	default:
		v = g.open[g.IntN(len(g.open))]
	}
	switch action {
	case "succeed":
		g.end(v, func(token retry.Token) error {
			g.back += max(1, v.owed)
			return g.strategy.RecordSuccess(token, retry.Result{})
		})
		return
	case "fail":
		g.end(v, func(token retry.Token) error { return g.strategy.RecordFailure(token, errNever) })
		return
	case "refresh":
		next, err := g.strategy.RefreshRetryToken(g.Context(), v.token, errAgain)
		if err != nil {
			g.end(v, func(retry.Token) error {
				if errors.Is(err, retry.ErrQuotaExhausted) {
					g.lacked++
				}
				return g.strategy.RecordFailure(next, errNever)
			})
			return
		}
		v.token, v.owed, v.made = next, retryCost, false
		if !v.gone {
			g.paid += retryCost
		}
	}
	require.NoError(g, v.token.WithoutDelay().Wait(g.Context()))
	v.made = true
}

// end ends an operation for good. A panic changes nothing about that.
func (g *eviction) end(v *visit, how func(token retry.Token) error) {
	g.open = slices.DeleteFunc(g.open, func(o *visit) bool { return o == v })
	if !v.made && !v.gone {
		g.paid -= retryCost
	}
	defer func() {
		if got := recover(); got != nil {
			require.Equal(g, errPanic, got)
			_ = g.strategy.RecordFailure(v.token, errNever)
		}
	}()
	_ = how(v.token)
}
