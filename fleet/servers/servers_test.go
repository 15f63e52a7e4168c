//go:build race || servers

package servers

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/internal/redistest"
	"github.com/awsretry/awsretry/fleet/redisstore"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

const (
	prefix   = "awsretry:"
	password = "hush-hush"
)

// TestMain requires that the fleets, which all are closed by then, leave no goroutine behind.
func TestMain(m *testing.M) {
	logging.Disable() // go-redis reports each connection that fails
	code := m.Run()
	left := goroutines()
	for range 50 {
		if len(left) == 0 {
			break
		}
		_ = clock.System{}.Sleep(context.Background(), 100*time.Millisecond)
		left = goroutines()
	}
	if len(left) > 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines are left:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// goroutines returns the stacks of the goroutines of fleets and of go-redis.
func goroutines() (stacks []string) {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		if strings.Contains(stack, "awsretry/fleet.") || strings.Contains(stack, "go-redis") || strings.Contains(stack, "redisstore") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

const (
	processes = 4
	workers   = 3 // of each process and scope
	served    = 100.0
	latency   = 5 * time.Millisecond
	// longestWait is CallTimeout twice, for a first attempt and after it, the 0.5 s in which a restored state gives out no
	// slots, and what 12 workers wait for a rate that has just been cut.
	longestWait = 500*time.Millisecond + 500*time.Millisecond + 650*time.Millisecond
)

// service serves 100 requests a second, and saves up 10.
type service struct {
	mu             sync.Mutex
	tokens         float64
	last           time.Time
	good, throttle int
}

func (s *service) serve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.last.IsZero() {
		s.tokens = min(s.tokens+served*now.Sub(s.last).Seconds(), 10)
	}
	s.last = now
	if s.tokens < 1 {
		s.throttle++
		return false
	}
	s.tokens--
	s.good++
	return true
}

func (s *service) counts() (good, throttled int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.good, s.throttle
}

// process is one process of a fleet.
type process struct {
	fleet *fleet.Fleet

	mu     sync.Mutex
	events []fleet.Event
}

func (p *process) observe(e fleet.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
}

// world is a fleet whose workers send to a service for each scope as fast as they may.
type world struct {
	scopes    []retry.ScopeKey
	services  []*service
	processes []*process
	longest   []atomic.Int64 // wait of each scope, since the last look
	errs      chan error
}

// begin starts a fleet. If learn is set it does not know the limit, else about.
func begin(t *testing.T, options redis.UniversalOptions, learn bool, scopes ...string) *world {
	t.Helper()
	return beginWith(t, processes, workers, options, learn, scopes...)
}

// beginWith is begin with so many processes, and workers of each process and scope.
func beginWith(
	t *testing.T, processes, workers int, options redis.UniversalOptions, learn bool, scopes ...string,
) *world {
	t.Helper()
	w := &world{errs: make(chan error, 1000), longest: make([]atomic.Int64, len(scopes))}
	for _, scope := range scopes {
		w.scopes = append(w.scopes, retry.ScopeKey{Service: scope})
		w.services = append(w.services, &service{})
	}
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	for range processes {
		store, err := redisstore.New(redisstore.Config{Options: &options})
		require.NoError(t, err)
		p := &process{}
		config := fleet.Config{Store: store, Namespace: "test", Observer: p.observe}
		if !learn {
			config.Limit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: served} }
		}
		p.fleet, err = fleet.New(config)
		require.NoError(t, err)
		w.processes = append(w.processes, p)
		for i, scope := range w.scopes {
			limiter := p.fleet.NewLimiter(scope, clock.System{})
			for range workers {
				working.Go(func() { w.work(ctx, limiter, i) })
			}
		}
		t.Cleanup(func() {
			p.fleet.Close()
			require.NoError(t, store.Close())
		})
	}
	t.Cleanup(func() {
		cancel()
		working.Wait()
		close(w.errs)
		for err := range w.errs {
			require.NoError(t, err)
		}
	})
	return w
}

func (w *world) work(ctx context.Context, limiter adaptive.Limiter, scope int) {
	for ctx.Err() == nil {
		began := time.Now()
		sent, err := limiter.Acquire(ctx, ratelimit.Request{})
		if err != nil {
			if ctx.Err() == nil {
				w.errs <- err
			}
			return
		}
		waited := time.Since(began)
		for longest := &w.longest[scope]; ; {
			if old := longest.Load(); int64(waited) <= old || longest.CompareAndSwap(old, int64(waited)) {
				break
			}
		}
		good := w.services[scope].serve()
		_ = clock.System{}.Sleep(ctx, latency)
		limiter.Report(ratelimit.Response{Sent: sent, Throttled: !good})
	}
}

// rest lets the fleet work for so long.
func rest(t *testing.T, d time.Duration) {
	t.Helper()
	require.NoError(t, clock.System{}.Sleep(t.Context(), d))
}

// sane lets the fleet work for so long, and requires that each scope keeps to what its service
// serves and that no attempt waits too long.
func (w *world) sane(t *testing.T, when string, d time.Duration) {
	t.Helper()
	type counts struct{ good, throttled int }
	before := make([]counts, len(w.services))
	for i, s := range w.services {
		before[i].good, before[i].throttled = s.counts()
	}
	rest(t, d)
	for i, s := range w.services {
		good, throttled := s.counts()
		good, throttled = good-before[i].good, throttled-before[i].throttled
		perSecond, share := float64(good)/d.Seconds(), float64(throttled)/float64(good+throttled)
		waited := time.Duration(w.longest[i].Swap(0))
		text := fmt.Sprintf("%s: %s: %.0f served per second, %.1f %% throttled, longest wait %v",
			when, w.scopes[i].Service, perSecond, 100*share, waited.Round(time.Millisecond))
		t.Log(text)
		require.Greater(t, perSecond, 0.5*served, text)
		require.Less(t, share, 0.3, text)
		require.Less(t, waited, longestWait, text)
	}
}

// settled requires that all members of the scope come to the state.
func (w *world) settled(t *testing.T, scope int, state fleet.State) {
	t.Helper()
	in := func() bool {
		for _, p := range w.processes {
			for _, s := range p.fleet.Snapshot() {
				if s.Key == w.scopes[scope] && s.State != state {
					return false
				}
			}
		}
		return true
	}
	require.Eventually(t, in, 15*time.Second, 10*time.Millisecond, "not all members are in the state %v", state)
}

// warm brings the fleet to the limit. A fleet that has to learn it needs about 20 s: the members
// have cut each other to their least rates by then.
func (w *world) warm(t *testing.T) {
	t.Helper()
	at := func() bool {
		for _, p := range w.processes {
			members := p.fleet.Snapshot()
			if len(members) < len(w.scopes) {
				return false
			}
			for _, s := range members {
				if s.State != fleet.Slots || s.FleetRate < 0.75*served {
					return false
				}
			}
		}
		return true
	}
	require.Eventually(t, at, time.Minute, 10*time.Millisecond)
	rest(t, 4*time.Second) // what the service had saved up is used, and the rate is that of the last ten seconds
	for i := range w.longest {
		w.longest[i].Store(0)
	}
}

// survives requires that the fleet stays sane before, during and after a fault of the store of its
// first scope, keeps what it has learned, and that each process got these events of the fault and no
// others. fault returns what mends it.
func (w *world) survives(t *testing.T, during time.Duration, fault func() (mend func()), want ...fleet.EventKind) {
	t.Helper()
	w.warm(t)
	w.sane(t, "before", 2*time.Second)
	epoch := w.epoch(0)

	mend := fault()
	if during > 0 {
		w.sane(t, "during", during)
	}
	if mend != nil {
		mend()
	}
	rest(t, 2500*time.Millisecond) // members ask again after 2.4 s at the latest
	w.settled(t, 0, fleet.Slots)
	w.sane(t, "after", 3*time.Second)

	w.requireEvents(t, 0, want...)
	require.GreaterOrEqual(t, w.epoch(0), epoch, "what was learned is not lost")
}

// requireEvents requires that each process got these kinds of events of the scope, and no
// others, in this order. Limited does not count.
func (w *world) requireEvents(t *testing.T, scope int, kinds ...fleet.EventKind) {
	t.Helper()
	for _, p := range w.processes {
		p.mu.Lock()
		var got []fleet.EventKind
		var errs []error
		for _, e := range p.events {
			if e.Kind != fleet.Limited && e.Scope == w.scopes[scope] {
				got, errs = append(got, e.Kind), append(errs, e.Err)
			}
		}
		p.mu.Unlock()
		t.Logf("%s: %v %v", w.scopes[scope].Service, got, errs)
		require.Equal(t, kinds, got)
		for _, err := range errs {
			if err != nil {
				require.NotContains(t, err.Error(), password)
			}
		}
	}
}

// epoch returns the newest epoch that the members of the scope know.
func (w *world) epoch(scope int) (newest uint64) {
	for _, p := range w.processes {
		for _, s := range p.fleet.Snapshot() {
			if s.Key == w.scopes[scope] {
				newest = max(newest, s.Epoch)
			}
		}
	}
	return newest
}

func at(s *redistest.Server) redis.UniversalOptions {
	return redis.UniversalOptions{Addrs: []string{s.Addr}}
}

func newStore(t *testing.T, addr string) *redisstore.Store {
	t.Helper()
	store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: []string{addr}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}
