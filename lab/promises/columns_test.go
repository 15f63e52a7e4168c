package promises

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// column is a feature.
type column struct {
	name string
	use  func(p *play) // after the row has set what it needs
}

func columns() []column {
	return []column{
		{"pool", func(p *play) {
			// A healthy scope beside that of the callers keeps the pool full.
			p.beside = func(p *play) { p.other("healthy") }
		}},
		{"quota waits", func(p *play) { p.config.Standard.MaxQuotaWait = time.Second }},
		{"debt limit", func(p *play) { p.config.Standard.DebtLimit = true }},
		{"refill", func(p *play) { p.config.Standard.QuotaRefill = 5 }},
		{"narrow throttles", func(p *play) {
			p.narrow = true
			if p.rate > 0 && p.config.SendLimit == nil { // the table has a limit too
				whole := ratelimit.Rate(3 * p.rate)
				p.config.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: whole, Ceiling: whole} }
			}
		}},
		{"learned timeouts", func(p *play) { p.timeout = p.learned() }},
		{"eviction", func(p *play) {
			// Other scopes come and go all the time.
			p.config.Standard.MaxScopes, p.config.Standard.ScopeIdle = max(p.config.Standard.MaxScopes, 4), 100*time.Millisecond
			n := 0
			p.beside = func(p *play) {
				n++
				p.other(fmt.Sprint("other ", n))
			}
		}},
		{"overflow", func(p *play) {
			// The table is full of scopes that stay until their bursts are back, so the callers share the overflow.
			const stays = "stays "
			p.config.Standard.MaxScopes = 2
			limit := p.config.SendLimit
			p.config.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
				switch {
				case strings.HasPrefix(scope.Scope, stays):
					return adaptive.SendLimit{Ceiling: 0.01, Burst: 100}
				case limit != nil:
					return limit(scope)
				default:
					return adaptive.SendLimit{}
				}
			}
			p.before = func(p *play) {
				for i := range 2 {
					p.other(fmt.Sprint(stays, i))
				}
			}
		}},
		{"cut per throttle", func(p *play) { p.config.Controller = ratelimit.CutPerThrottle }},
		{"lost connections", func(p *play) { p.loses = true }},
		{"long polls", func(p *play) { p.op.LongPolling = true }},
		{"nested loops", func(p *play) { p.through = throughNested }},
		{"user's limiter", func(p *play) {
			p.config.NewLimiter = func(scope retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
				var limit adaptive.SendLimit
				if p.config.SendLimit != nil {
					limit = p.config.SendLimit(scope)
				}
				return ownLimiter{p.config.Limiter(clk, limit)}
			}
		}},
		{"burst", func(p *play) {
			limit := p.config.SendLimit
			if limit == nil && p.rate == 0 {
				return // nothing is known to limit the callers
			}
			p.config.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
				known := adaptive.SendLimit{Ceiling: ratelimit.Rate(3 * p.rate)}
				if limit != nil && limit(scope) != (adaptive.SendLimit{}) {
					known = limit(scope)
				}
				if known != (adaptive.SendLimit{}) {
					known.Burst = cmp.Or(known.Burst, 5)
				}
				return known
			}
		}},
		{"fleet", func(p *play) {
			shared, err := fleet.New(fleet.Config{Store: &fleet.Memory{}, Namespace: "test", Limit: p.config.SendLimit})
			require.NoError(p, err)
			p.Cleanup(shared.Close)
			p.config = shared.Config(p.config)
		}},
		{"batches", func(p *play) { p.through = throughBatches }},
		{"httpretry", func(p *play) { p.through = throughHTTP }},
		{"awssdk", func(p *play) { p.through = throughSDK }},
	}
}

// ownLimiter is of a type that the strategy does not know.
type ownLimiter struct{ adaptive.Limiter }

// other makes a call in another scope.
func (p *play) other(scope string) {
	p.others.Add(1)
	_ = retry.DoErr(p.Context(), p.strategy, retry.Operation{Scope: scope, MaxAttempts: 1}, func(context.Context) error { return nil })
}

func (p *play) learned() retry.AttemptTimeout {
	learned, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: time.Millisecond, Ceiling: ceiling})
	require.NoError(p, err)
	return retry.TimeoutFunc(func(retry.Operation) retry.AttemptTimeout { return learned }) // for long polls too
}

// ceiling is the longest time of an attempt with a timeout.
const ceiling = 5 * time.Second

// outer returns a strategy for a loop around the one of a call.
func (p *play) outer() retry.Strategy {
	s, err := standard.New(standard.Config{MaxAttempts: 1})
	require.NoError(p, err)
	return s
}
