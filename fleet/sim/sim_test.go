package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// run describes a run.
type run struct {
	rate       float64 // of the service
	burst      time.Duration
	members    int
	later      int           // members that only an event begins, the last ones
	wants      []demand      // instead of the usual demands
	even       bool          // one worker each, instead of the usual demands
	deadline   time.Duration // of each operation; zero means none
	starting   float64       // what the members know of the limit
	alone      bool          // without a fleet
	versions   int           // sets of rules in the fleet, with a key each; zero means one
	roundTrip  time.Duration
	replicated bool // the store has a replica
	seed       uint64
}

// play is a run that goes on.
type play struct {
	run
	t       *testing.T
	service *service
	store   *store
	record  *record
	demands []demand
	lull    atomic.Bool // only a tenth of the operations takes place
	ways    []*way
	wg      sync.WaitGroup
	stop    []func() // of each member
}

// play plays the run for so many seconds and returns its record.
func (r run) play(t *testing.T, length int, events []event) *record {
	t.Helper()
	var done *record
	synctest.Test(t, func(t *testing.T) {
		p := &play{run: r, t: t, service: newService(r.rate, r.burst), demands: demands(r.rate, r.members)}
		switch {
		case r.wants != nil:
			p.demands = r.wants
		case r.even:
			p.demands = even(r.rate, r.members)
		}
		p.record = newRecord(length, p.demands, entitled(r.rate, p.demands))
		p.store = newStore(r.roundTrip, p.record, r.replicated)
		p.ways = make([]*way, r.members)
		p.stop = make([]func(), r.members)
		for i := range r.members - r.later {
			p.begin(i, 0)
		}
		for _, e := range events {
			p.pass(seconds(settledBy+e.at) - time.Since(p.record.began))
			e.do(p)
		}
		p.pass(seconds(length) - time.Since(p.record.began))
		for _, stop := range p.stop {
			if stop != nil {
				stop()
			}
		}
		p.wg.Wait()
		done = p.record
	})
	return done
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func (p *play) pass(d time.Duration) { _ = pass(p.t.Context(), d) }

// cut cuts the way of every second member to the store, or mends it.
func (p *play) cut(off bool) {
	for i := 0; i < len(p.ways); i += 2 {
		p.ways[i].cut.Store(off)
	}
}

// begin starts a member, in the place of the one with its number. generation tells them apart.
func (p *play) begin(i int, generation uint64) {
	if p.stop[i] != nil {
		p.stop[i]()
	}
	seed := p.seed<<32 | generation<<24 | uint64(i)
	p.ways[i] = &way{store: p.store}
	m := &member{play: p, number: i}
	var done func()
	if p.alone {
		m.limiter, done = sendrate.NewLimiter(sendrate.Config{}, clock.System{}), func() {}
	} else {
		m.limiter, done = newLimiter(p.t, p.ways[i], fmt.Sprint("version", i%max(p.versions, 1)), p.starting, seed)
	}
	ctx, cancel := context.WithCancel(p.t.Context())
	p.stop[i] = func() {
		cancel()
		done()
	}
	d := p.demands[i]
	for worker := range d.workers {
		random := rand.New(rand.NewPCG(seed, uint64(worker)))
		p.wg.Go(func() { m.work(ctx, d.every(), random) })
	}
}

// newLimiter returns the limiter of a process that has a fleet of its own, and what ends it.
func newLimiter(t *testing.T, s fleet.Store, namespace string, starting float64, seed uint64) (limiter adaptive.Limiter, end func()) {
	t.Helper()
	limit := func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: ratelimit.Rate(starting)} }
	shared, err := fleet.New(fleet.Config{Store: s, Namespace: namespace, Limit: limit, Random: seeded(seed)})
	require.NoError(t, err)
	return shared.NewLimiter(retry.ScopeKey{Resource: "table"}, clock.System{}), shared.Close
}

// seeded returns a source of numbers from 0 to 1 for several goroutines.
func seeded(seed uint64) func() float64 {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(2, seed))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Float64()
	}
}

// member is a process with one limiter and some workers.
type member struct {
	play    *play
	number  int
	limiter adaptive.Limiter
}

// work begins an operation every so often, or as soon as the last one has ended. The intervals
// differ by half, so that the members do not fall into step.
func (m *member) work(ctx context.Context, every time.Duration, random *rand.Rand) {
	interval := func(least float64) time.Duration { return time.Duration((least + random.Float64()) * float64(every)) }
	next := time.Now().Add(interval(0))
	for pass(ctx, time.Until(next)) == nil {
		if !m.play.lull.Load() || random.IntN(10) == 0 {
			m.operate(ctx, random)
		}
		if next = next.Add(interval(0.5)); next.Before(time.Now()) {
			next = time.Now()
		}
	}
}

// operate is one operation: it sends attempts until one is not throttled, with a backoff as
// that of a strategy.
func (m *member) operate(member context.Context, random *rand.Rand) {
	ctx := member
	if m.play.deadline > 0 {
		limited, cancel := context.WithTimeout(member, m.play.deadline)
		defer cancel()
		ctx = limited
	}
	for {
		sent, err := m.limiter.Acquire(ctx, ratelimit.Request{})
		if err != nil {
			if member.Err() == nil {
				m.play.record.refused()
			}
			return
		}
		accepted := m.play.service.take()
		m.play.record.decided(m.number, accepted)
		if pass(ctx, latency(random)) != nil {
			return
		}
		m.limiter.Report(ratelimit.Response{Sent: sent, Throttled: !accepted})
		if accepted || pass(ctx, time.Duration(random.Float64()*longestBackoff)) != nil {
			return
		}
	}
}

// longestBackoff is that of the strategies of this module, before their first retry of a
// throttle.
const longestBackoff = float64(time.Second)
