package sim

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/command/virtual"
	"github.com/awsretry/awsretry/retry"
)

// Variant is a way to retry: settings, and what the program does around a call.
type Variant struct {
	Name string
	// Deadline limits the time of each call; zero means no limit. AttemptTimeout limits that of each
	// attempt and overrides the scenario; zero keeps the scenario's.
	Deadline, AttemptTimeout time.Duration
	// SDK plays the retryer of aws-sdk-go-v2 instead of the strategy, with the numbers of the
	// strategy.
	SDK SDKMode
	// New returns a strategy for one client. It is called several times.
	New func(p Parts) (retry.Strategy, error)
}

// Parts are what a strategy of a simulation is built with.
type Parts struct {
	Clock    clock.Clock
	Random   func() float64
	Observer retry.Observer
}

// client is a client of a variant.
type client struct {
	clock          clock.Clock
	deadline       time.Duration
	attemptTimeout func() time.Duration // nil is none
	strategy       retry.Strategy
	sdk            *sdkClient // replaces the strategy; or nil
	longPolling    bool
}

// jitter returns a source of random numbers with the seed.
func jitter(seed uint64) func() float64 { return rand.New(rand.NewPCG(2, seed)).Float64 }

// newClient returns a client with this jitter.
func (v *Variant) newClient(clk *virtual.Clock, jitter func() float64, observer retry.Observer) (*client, error) {
	s, err := v.New(Parts{Clock: clk, Random: jitter, Observer: observer})
	if err != nil {
		return nil, err
	}
	c := &client{clock: clk, deadline: v.Deadline, strategy: s}
	if v.AttemptTimeout > 0 {
		c.attemptTimeout = func() time.Duration { return v.AttemptTimeout }
	}
	if v.SDK != NoSDK {
		c.sdk = newSDKClient(v.SDK, s, clk, jitter, observer)
	}
	return c, nil
}

// Do retries as the strategy decides. A table is a resource, so it has its own scope.
func (c *client) Do(ctx context.Context, table string, attempt func(ctx context.Context) error) error {
	if c.deadline > 0 {
		limited, cancel := clock.WithTimeout(ctx, c.clock, c.deadline)
		defer cancel()
		ctx = limited
	}
	one := func(ctx context.Context) error {
		if c.attemptTimeout == nil {
			return attempt(ctx)
		}
		d := c.attemptTimeout()
		if d <= 0 {
			return attempt(ctx)
		}
		limited, cancel := clock.WithTimeout(ctx, c.clock, d)
		defer cancel()
		return attempt(limited)
	}
	if c.sdk != nil {
		return c.sdk.do(ctx, table, one)
	}
	return retry.DoErr(ctx, c.strategy, retry.Operation{Resource: table, LongPolling: c.longPolling}, one)
}

// Plan returns the retry numbers of the variant.
func (v *Variant) Plan() (retry.Plan, error) {
	s, err := v.New(Parts{})
	if err != nil {
		return retry.Plan{}, err
	}
	return s.Plan(retry.Operation{}), nil
}

// inOrder reports whether calls that wait for send tokens get them in the order in which they began to wait. That is
// not so with a deadline or MaxElapsed: a strategy refuses a wait that these would cut short before the waits in front
// of it end.
func (v *Variant) inOrder(p retry.Plan) bool { return v.Deadline == 0 && p.MaxElapsed == 0 }

// state is the state of the table that counts, and the tokens in the pool.
type state struct {
	retry.ScopeSnapshot

	pool int
}

// state returns the state of the client. Before its first call the table has the state of the
// strategy as a whole.
func (c *client) state() state {
	if c.sdk != nil {
		return c.sdk.state()
	}
	snapshot := c.strategy.Snapshot()
	found := slices.IndexFunc(snapshot.Scopes, func(s retry.ScopeSnapshot) bool { return s.Key.Resource == troubled })
	return state{snapshot.Scopes[max(found, 0)], snapshot.Pool}
}
