package adaptive

import (
	"fmt"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// throttledFor is how long after its last throttle a scope counts as throttled.
// Nothing is left to forget after that: CUBIC allows more than 10^7 attempts a
// second by then, whatever the rate was.
const throttledFor = 10 * time.Minute

// sendScope is the send rate of a scope.
type sendScope = scope.Entry[retry.ScopeKey, limiterOr]

// limiterOr is a limiter, or why there is none.
type limiterOr struct {
	limiter Limiter
	err     error
}

func (s *Strategy) newScopes() (*scope.Registry[retry.ScopeKey, limiterOr], error) {
	clk := s.Clock()
	start := clk.Now()
	scopes := scope.New(scope.Config[retry.ScopeKey, limiterOr]{
		Limit:       s.config.Standard.MaxScopes,
		Idle:        s.config.Standard.ScopeIdle,
		OverflowKey: retry.OverflowKey(),
		Now:         clk.Now,
		Create:      func(key retry.ScopeKey) limiterOr { return s.config.limiter(key, clk, start) },
		Keep:        s.keeps,
		InFlight:    s.tokens.InFlight,
	})
	return scopes, scopes.Whole().Value.err
}

// keeps reports whether a limiter has to stay although nobody uses it.
func (s *Strategy) keeps(e *sendScope, now time.Time) bool {
	return e.Value.throttles(now) || s.config.Standard.KeepScope != nil && s.config.Standard.KeepScope(e.Key)
}

// keepsQuota is the same for the quota of a scope, which stays as long as its limiter
// has to.
func (s *Strategy) keepsQuota(key retry.ScopeKey) bool {
	if e := s.limiters.Find(key); e != nil {
		return s.keeps(e, s.Clock().Now())
	}
	return s.config.Standard.KeepScope != nil && s.config.Standard.KeepScope(key)
}

// throttles reports whether the limiter holds somebody back, or would with good
// reason. A new one has a send token, so one that has none stays until it does.
func (l limiterOr) throttles(now time.Time) bool {
	if l.err != nil {
		return false
	}
	expected := l.limiter.Expected(1) // first, because it brings the state up to now
	state, waiting := l.limiter.State()
	return waiting > 0 || expected > 0 ||
		!state.LastThrottle.IsZero() && now.Sub(state.LastThrottle) < throttledFor
}

// enter finds the scope of an operation, which may be new.
func (s *Strategy) enter(t retry.Token, r *retry.Record[operation]) error {
	key := r.Scope
	if s.config.SendScope != nil {
		key = s.config.SendScope(r.Operation)
	}
	for {
		found, news := s.limiters.Get(key)
		r.Hold(&found.Key)
		r.Scope, r.Data.scope = found.Key, found
		s.tellScopes(t, r, news)
		if !found.Leaving() {
			return found.Value.err
		}
	}
}

// tellScopes tells of scopes that an operation has created and driven out.
func (s *Strategy) tellScopes(t retry.Token, r *retry.Record[operation], news *scope.News[retry.ScopeKey]) {
	if news == nil || s.config.Standard.Observer == nil {
		return
	}
	for _, key := range news.Evicted {
		s.tell(r, retry.Event{Kind: retry.ScopeEvicted, Scope: key, Part: retry.SendRatePart, Attempt: t.Attempt()})
	}
	if news.Created {
		s.tell(r, retry.Event{Kind: retry.ScopeCreated, Scope: r.Scope, Part: retry.SendRatePart, Attempt: t.Attempt()})
	}
}

// limiter returns a new limiter for a scope of a strategy built at start. A limit
// that is known counts from now on: time in which nothing was sent has not probed it.
func (c Config) limiter(key retry.ScopeKey, clk clock.Clock, start time.Time) limiterOr {
	if c.NewLimiter != nil {
		if limiter := c.NewLimiter(key, clk); limiter != nil {
			return limiterOr{limiter: limiter}
		}
	}
	var limit SendLimit
	if c.SendLimit != nil {
		limit = c.SendLimit(key)
		if err := limit.check(); err != nil {
			return limiterOr{err: fmt.Errorf("adaptive: SendLimit of scope %q: %w", key, err)}
		}
	}
	if limit != (SendLimit{}) {
		start = clk.Now()
	}
	return limiterOr{limiter: ratelimit.NewLimiter(ratelimit.SendRateConfig{
		Controller:     c.Controller,
		CutPerThrottle: c.CutPerThrottle,
		StartingRate:   limit.Starting,
		Ceiling:        limit.Ceiling,
		Cost:           c.SendCost,
		Start:          start,
	}, clk)}
}
