package sim

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
)

var errAway = errors.New("the store is away")

// store is a fleet.Memory with all that can happen to a store and to the way to it.
type store struct {
	roundTrip time.Duration
	record    *record
	skew      skewed

	memory  atomic.Pointer[fleet.Memory]
	replica *fleet.Memory // gets all calls too, until it is left behind; nil if there is none
	behind  atomic.Bool
	away    atomic.Bool
	hangs   atomic.Bool // if it is away, instead of a failure at once
}

func newStore(roundTrip time.Duration, r *record, replicated bool) *store {
	s := &store{roundTrip: roundTrip, record: r}
	s.memory.Store(&fleet.Memory{Clock: &s.skew})
	if replicated {
		s.replica = &fleet.Memory{Clock: &s.skew}
	}
	return s
}

// call is one call, which takes a round trip.
func (s *store) call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	s.record.called()
	if err := pass(ctx, s.roundTrip/2); err != nil {
		return fleet.Reply{}, err
	}
	reply, err := s.carryOut(ctx, key, ask)
	if err != nil {
		return fleet.Reply{}, err
	}
	return reply, pass(ctx, s.roundTrip-s.roundTrip/2)
}

func (s *store) carryOut(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	switch {
	case s.away.Load() && s.hangs.Load():
		<-ctx.Done()
		return fleet.Reply{}, ctx.Err()
	case s.away.Load():
		return fleet.Reply{}, errAway
	case s.replica != nil && !s.behind.Load():
		_, _ = s.replica.Call(ctx, key, ask)
	}
	return s.memory.Load().Call(ctx, key, ask)
}

// goAway makes calls fail, at once or when their time is over.
func (s *store) goAway(hangs bool) {
	s.hangs.Store(hangs)
	s.away.Store(true)
}

// promote puts what the replica has, whose clock differs, in the place of the store.
func (s *store) promote(skew time.Duration) {
	s.behind.Store(true)
	s.memory.Store(s.replica)
	s.skew.by.Store(int64(skew))
	s.away.Store(false)
}

// way is the way of a member to the store, which may be cut off.
type way struct {
	*store
	cut atomic.Bool
}

func (w *way) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	if w.cut.Load() {
		return fleet.Reply{}, errAway
	}
	return w.call(ctx, key, ask)
}

// skewed is a clock that is ahead of the others.
type skewed struct {
	clock.System
	by atomic.Int64
}

func (c *skewed) Now() time.Time { return c.System.Now().Add(time.Duration(c.by.Load())) }

func pass(ctx context.Context, d time.Duration) error { return clock.System{}.Sleep(ctx, d) }
