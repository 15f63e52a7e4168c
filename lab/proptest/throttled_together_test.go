package proptest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// shifted is a clock that can be set to another time, also to an earlier one.
type shifted struct {
	*clock.Fake
	by time.Duration
}

func (c *shifted) Now() time.Time { return c.Fake.Now().Add(c.by) }

// throttled is a throttle that was told to a strategy.
type throttled struct {
	service, scope retry.ScopeKey
	at             time.Time
}

// togetherRun is a strategy and all throttles and events that there were.
type togetherRun struct {
	strategy  retry.Strategy
	clock     *shifted
	throttles []throttled
	told      map[retry.ScopeKey][]time.Time // when a service was told of
	jumps     bool                           // of the clock, to an earlier time
	events    []retry.Event                  // since the last look
}

func TestScopesThrottledTogetherAreThoseOfAModelThatForgetsNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := &togetherRun{
			clock: &shifted{Fake: clock.NewFake(start())}, jumps: drawBool(t, "jumps"),
			told: map[retry.ScopeKey][]time.Time{},
		}
		config := standard.Config{
			Clock: r.clock, Service: "other", MaxAttempts: drawInt(t, 1, 3, "attempts"),
			Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.ScopesThrottledTogether {
					r.events = append(r.events, e)
				}
			}),
		}
		var err error
		if drawBool(t, "adaptive") {
			r.strategy, err = adaptive.New(adaptive.Config{Standard: config, NoSendWait: true})
		} else {
			r.strategy, err = standard.New(config)
		}
		require.NoError(t, err)
		for range drawInt(t, 1, 100, "operations") {
			r.pass(t)
			r.operation(t)
		}
	})
}

// pass lets time pass, or sets the clock to an earlier time.
func (r *togetherRun) pass(t *rapid.T) {
	const edge = time.Second
	pause := drawFrom(t, "pause", 0, 0, 0, 0, edge/4, edge/4, edge/2, edge/2, edge/2+1, edge, edge+1,
		59*edge, 59*edge+edge/2, time.Minute-1, time.Minute)
	if r.jumps && drawInt(t, 0, 9, "jump") == 0 {
		pause = -drawFrom(t, "back", 1, edge/2, edge, time.Hour)
	}
	if pause >= 0 {
		r.clock.Advance(pause)
		return
	}
	r.clock.by += pause
}

// operation makes one attempt, if it can be made now.
func (r *togetherRun) operation(t *rapid.T) {
	op := retry.Operation{
		Account:  drawFrom(t, "account", "", "", "", "", "one"),
		Service:  drawFrom(t, "service", "a", "a", "a", "a", "a", "b", ""),
		Region:   drawFrom(t, "region", "", "", "", "", "here"),
		Resource: drawFrom(t, "resource", "", "r", "s", "t", "u"),
		Scope:    drawFrom(t, "scope", "", "", "", "mine"),
	}
	token, err := r.strategy.AcquireInitialToken(t.Context(), op)
	require.NoError(t, err)
	if token.Wait(t.Context()) != nil {
		_ = r.strategy.RecordFailure(token, nil)
		return
	}
	failure := &failure{kind: throttle, status: 429}
	if drawBool(t, "any failure") {
		failure = drawFailure(t)
	}
	err = failure.err()
	if drawBool(t, "permanent") && failure.kind != clockSkew {
		err = retry.Permanent(err)
	}
	switch drawFrom(t, "end", "refresh", "refresh", "failure", "failure", "success") {
	case "refresh":
		_, _ = r.strategy.RefreshRetryToken(t.Context(), token, err)
	case "failure":
		require.NoError(t, r.strategy.RecordFailure(token, err))
	default:
		require.NoError(t, r.strategy.RecordSuccess(token))
		failure.kind = ordinary
	}
	got := r.events
	r.events = nil
	if failure.kind != throttle || op.Service == "" {
		require.Empty(t, got)
		return
	}
	r.check(t, op, got)
}

// check notes a throttle and compares what was told of it.
func (r *togetherRun) check(t *rapid.T, op retry.Operation, got []retry.Event) {
	now, service := r.clock.Now(), retry.ScopeKey{Account: op.Account, Service: op.Service, Region: op.Region}
	r.throttles = append(r.throttles, throttled{service: service, scope: op.Key(), at: now})
	scopes, near := r.latest(service)
	if !r.jumps {
		require.Equal(t, r.within(service, now.Add(-time.Second)) >= 3, near)
	}
	told := r.told[service]
	quiet := len(told) > 0 && now.Sub(told[len(told)-1]).Abs() < time.Minute
	if quiet || !near {
		require.Empty(t, got)
		return
	}
	r.told[service] = append(told, now)
	require.Len(t, got, 1)
	require.Equal(t, []retry.Event{{
		Kind: retry.ScopesThrottledTogether, Time: now, Operation: op, Scope: service, Attempt: 1, Scopes: scopes,
		OperationID: got[0].OperationID,
	}}, got)
}

// latest returns the three scopes of a service that were throttled last, and whether their last
// throttles are within a second.
func (r *togetherRun) latest(service retry.ScopeKey) (scopes []retry.ScopeKey, near bool) {
	var first, last time.Time
	for _, one := range slices.Backward(r.throttles) {
		if one.service != service || slices.Contains(scopes, one.scope) {
			continue
		}
		if len(scopes) == 0 || one.at.Before(first) {
			first = one.at
		}
		if len(scopes) == 0 || one.at.After(last) {
			last = one.at
		}
		if scopes = append(scopes, one.scope); len(scopes) == 3 {
			slices.Reverse(scopes)
			return scopes, last.Sub(first) <= time.Second
		}
	}
	return nil, false
}

// within returns how many scopes of a service were throttled since an instant.
func (r *togetherRun) within(service retry.ScopeKey, since time.Time) int {
	scopes := map[retry.ScopeKey]bool{}
	for _, one := range r.throttles {
		if one.service == service && !one.at.Before(since) {
			scopes[one.scope] = true
		}
	}
	return len(scopes)
}
