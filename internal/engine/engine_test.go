package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

var (
	errServer   = vectors.Response{Status: 500, Kind: "transient"}.Err()
	errThrottle = vectors.Response{Status: 400, ErrorCode: "ThrottlingException", Kind: "throttling"}.Err()
	errClient   = vectors.Response{Status: 404, ErrorCode: "ResourceNotFoundException", Kind: "client"}.Err()
)

// newStandard is [play.Adaptive] for standard mode.
func newStandard(t *testing.T, change func(c *standard.Config)) (retry.Strategy, *clock.Fake) {
	t.Helper()
	clk := &clock.Fake{}
	config := standard.Config{Clock: clk, Random: func() float64 { return 1 }}
	if change != nil {
		change(&config)
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	return s, clk
}

// scripted is a limiter that notes the requests and the responses, and gives the answers of its fields.
type scripted struct {
	err      error
	expected time.Duration
	requests []ratelimit.Request
	costs    []float64
	given    []float64
	reports  []bool // whether they were throttled
	partial  []bool // whether a part of the scope was
}

func (l *scripted) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err()
	}
	r.OnWait = nil // functions are not equal to each other
	l.requests = append(l.requests, r)
	return time.Time{}, l.err
}

func (l *scripted) Report(r ratelimit.Response) ratelimit.Change {
	l.reports, l.partial = append(l.reports, r.Throttled), append(l.partial, r.PartThrottled)
	return ratelimit.Change{}
}

func (l *scripted) Expected(r ratelimit.Request) time.Duration {
	l.costs = append(l.costs, r.Cost)
	return l.expected
}

func (l *scripted) Give(r ratelimit.Request) { l.given = append(l.given, r.Cost) }
func (*scripted) State() retry.ScopeSnapshot { return retry.ScopeSnapshot{} }
func (l *scripted) use(c *adaptive.Config)   { useLimiter(l)(c) }

// useLimiter gives every scope the same limiter.
func useLimiter(l adaptive.Limiter) func(c *adaptive.Config) {
	return func(c *adaptive.Config) {
		c.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return l }
	}
}

// granted asks for a retry that the strategy grants.
func granted(t *testing.T, s retry.Strategy, token retry.Token, failure error) retry.Token {
	t.Helper()
	next, err := s.RefreshRetryToken(t.Context(), token, failure)
	require.NoError(t, err)
	return next
}

// inBubble plays a test on the time of a bubble, in adaptive mode without jitter.
func inBubble(t *testing.T, config adaptive.Config, play func(t *testing.T, s retry.Strategy)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if config.Standard.Random == nil {
			config.Standard.Random = func() float64 { return 1 }
		}
		s, err := adaptive.New(config)
		require.NoError(t, err)
		play(t, s)
	})
}

// books counts the attempts for which a limiter gives tokens, and those that it hears of or gets tokens back for.
type books struct {
	adaptive.Limiter
	acquired, reported, given atomic.Int64
	refuses                   func() bool // or nil
}

func (l *books) of(c sendrate.Config, clk clock.Clock) adaptive.Limiter {
	l.Limiter = sendrate.NewLimiter(c, clk)
	return l
}

var errFull = errors.New("full")

func (l *books) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	if l.refuses != nil && l.refuses() {
		return time.Time{}, errFull
	}
	sent, err := l.Limiter.Acquire(ctx, r)
	if err == nil {
		l.acquired.Add(1)
	}
	return sent, err
}

func (l *books) Report(r ratelimit.Response) ratelimit.Change {
	l.reported.Add(1)
	return l.Limiter.Report(r)
}

func (l *books) Give(r ratelimit.Request) {
	l.given.Add(1)
	l.Limiter.Give(r)
}

type panicking struct{}

func (panicking) Name() string { return "panicking" }

func (panicking) Classify(classify.Outcome) classify.Verdict { panic("classifier") }

// idle is the idle time of the scopes in these tests.
const idle = time.Minute

func forgetful(c *adaptive.Config) { c.Standard.ScopeIdle = idle }

// scopesOf returns the snapshots of all scopes by name.
func scopesOf(s retry.Strategy) map[string]retry.ScopeSnapshot {
	found := map[string]retry.ScopeSnapshot{}
	for _, scope := range s.Snapshot().Scopes {
		found[scope.Scope] = scope
	}
	return found
}

// idleTwice lets the idle time pass twice, with a new scope after each.
func idleTwice(t *testing.T, clk *clock.Fake, s retry.Strategy) {
	t.Helper()
	for range 2 {
		clk.Advance(idle)
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: clk.Now().String()}))
	}
}
