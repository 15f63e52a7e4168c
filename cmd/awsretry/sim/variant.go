package sim

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// Variant is a way to retry: settings, and what the program does around a call.
type Variant struct {
	Name string
	// Deadline limits the time of each call; zero means no limit. AttemptTimeout limits that of each
	// attempt and overrides the scenario; zero keeps the scenario's.
	Deadline, AttemptTimeout time.Duration
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
	clock          *Clock
	deadline       time.Duration
	attemptTimeout func() time.Duration // nil is none
	strategy       retry.Strategy
}

// jitter returns a source of random numbers with the seed.
func jitter(seed uint64) func() float64 { return rand.New(rand.NewPCG(2, seed)).Float64 }

// newClient returns a client with this jitter.
func (v *Variant) newClient(clk *Clock, jitter func() float64, observer retry.Observer) (*client, error) {
	s, err := v.New(Parts{Clock: clk, Random: jitter, Observer: observer})
	if err != nil {
		return nil, err
	}
	c := &client{clock: clk, deadline: v.Deadline, strategy: s}
	if v.AttemptTimeout > 0 {
		c.attemptTimeout = func() time.Duration { return v.AttemptTimeout }
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
		if c.attemptTimeout != nil {
			if d := c.attemptTimeout(); d > 0 {
				limited, cancel := clock.WithTimeout(ctx, c.clock, d)
				defer cancel()
				ctx = limited
			}
		}
		err := attempt(ctx)
		if err != nil { // the strategy may cut its send rate next
			c.clock.Recheck()
		}
		return err
	}
	return retry.DoErr(ctx, c.strategy, retry.Operation{Resource: table}, one)
}

// Plan returns the retry numbers of the variant.
func (v *Variant) Plan() (retry.Plan, error) {
	s, err := v.New(Parts{})
	if err != nil {
		return retry.Plan{}, err
	}
	return s.Plan(retry.Operation{}), nil
}

// state returns the state of the table that counts. Before its first call that is the state of the strategy as a whole.
func (c *client) state() retry.ScopeSnapshot {
	scopes := c.strategy.Snapshot().Scopes
	found := slices.IndexFunc(scopes, func(s retry.ScopeSnapshot) bool { return s.Key.Resource == troubled })
	return scopes[max(found, 0)]
}
