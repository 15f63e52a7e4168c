package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Config configures a [Fleet]. Store and Namespace are required.
type Config struct {
	// Store keeps the send rates. All members must use the same one.
	Store Store
	// Namespace separates fleets in one store: members with the same one share. Include the stage
	// and the account, such as "prod/111122223333".
	Namespace string
	// Share says which scopes have a shared send rate. Nil means all but two: the scope of the
	// strategy as a whole, and the one of [retry.OverflowKey]. It must be safe for concurrent use.
	Share func(scope retry.ScopeKey) bool
	// Limit returns the known limit of a scope, for the whole fleet. Nil means that no limit is
	// known. Rates below 0.05 a second count as 0.05; rates that are negative, above 1e9 or not a
	// number count as zero, and Burst does not count. A Starting above the Ceiling counts as the
	// Ceiling. It should be the same in all members. It must be safe for concurrent use.
	Limit func(scope retry.ScopeKey) adaptive.SendLimit

	// JoinWait is how long the first attempts of a scope wait for the store to say whether the
	// scope is limited. Zero means CallTimeout; a negative one means no wait. Without the wait, a
	// new member has no limit until the answer comes.
	JoinWait time.Duration
	// CallTimeout is how long a member waits for the store. It must be longer than a round trip.
	// Zero means 250 ms; a negative one is an error.
	CallTimeout time.Duration

	// Clock is the clock that the members wait on; nil means the clock of the strategy. A
	// [clock.Fake] stands still during a call of the store, so the store must not wait on it. For the members
	// a clock that goes back stands still, or goes on from there if it goes back by more than 5 seconds.
	Clock clock.Clock
	// Random returns a number from 0 to 1, for the phases of members that have lost the store.
	// Nil means that of math/rand/v2. Any other number, and a panic, count as 0.5. It must be
	// safe for concurrent use.
	Random func() float64
	// Observer receives the events of the members, with no lock held, in a goroutine that no
	// attempt waits for; nil means none. Lost and Rejected repeat while they last, each at most
	// once a minute for the whole Fleet: [Fleet.Snapshot] says which members are affected. It must
	// be safe for concurrent use. Its panics are recovered.
	Observer func(Event)
}

// Fleet makes the members of one process. Use [New]. It is safe for concurrent use.
type Fleet struct {
	config Config

	lost, rejected minutely
	away           atomic.Bool // the observer got Lost or Rejected, and no Back since

	ending atomic.Bool
	ctx    context.Context //nolint:containedctx // of all calls of the store, ended by Close
	cancel context.CancelFunc

	mu      sync.Mutex // guards what follows
	calls   int
	idle    chan struct{} // closed by the last call after Close
	used    uint64        // members used so far
	members map[weak.Pointer[limiter]]struct{}
}

// errClosed is the error of a call of the store after [Fleet.Close].
var errClosed = errors.New("fleet: closed")

// New returns a fleet, or an error that names the wrong field. It does not call the store and
// starts no goroutine.
func New(config Config) (*Fleet, error) {
	var errs []error
	if config.Store == nil {
		errs = append(errs, errors.New("fleet: Store is nil"))
	}
	if config.Namespace == "" {
		errs = append(errs, errors.New("fleet: Namespace is empty"))
	}
	if config.CallTimeout < 0 {
		errs = append(errs, fmt.Errorf("fleet: CallTimeout %v: must not be negative", config.CallTimeout))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if config.CallTimeout == 0 {
		config.CallTimeout = 250 * time.Millisecond
	}
	if config.JoinWait == 0 {
		config.JoinWait = config.CallTimeout
	}
	if config.Random == nil {
		config.Random = rand.Float64
	}
	f := &Fleet{config: config, members: map[weak.Pointer[limiter]]struct{}{}, idle: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f, nil
}

// Config returns c with a NewLimiter that makes members of the fleet. Until the fleet has a limit
// for a scope, the Controller, SendCost and SendLimit of c govern it in this process.
// In a scope with a limit, NoSendWait refuses attempts without a slot in hand. The refusal asks for
// a slot, so if attempts are rare, every second one is refused. For scopes that the fleet does not
// share, c is unchanged.
func (f *Fleet) Config(c adaptive.Config) adaptive.Config {
	own := c
	c.NewLimiter = func(scope retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
		if l := f.limiter(scope, clk, own); l != nil {
			return l
		}
		if own.NewLimiter != nil {
			return own.NewLimiter(scope, clk)
		}
		return nil
	}
	return c
}

// NewLimiter returns a member for the scope, for use without a strategy; nil if the fleet does not
// share the scope. A nil clk means [clock.System]. A member calls the store only from its first
// Acquire or Report on, and only while it is used.
func (f *Fleet) NewLimiter(scope retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
	if l := f.limiter(scope, clk, adaptive.Config{}); l != nil {
		return l
	}
	return nil
}

func (f *Fleet) limiter(scope retry.ScopeKey, clk clock.Clock, own adaptive.Config) *limiter {
	shares := scope != (retry.ScopeKey{}) && scope != retry.OverflowKey()
	if f.config.Share != nil {
		shares = f.config.Share(scope)
	}
	if !shares {
		return nil
	}
	if f.config.Clock != nil {
		clk = f.config.Clock
	}
	if clk == nil {
		clk = clock.System{}
	}
	l := &limiter{fleet: f, scope: scope.Clone(), key: f.key(scope), clock: clk}
	if f.config.Limit != nil {
		l.limit = f.config.Limit(scope)
	}
	l.limit.Starting, l.limit.Ceiling = known(l.limit.Starting), known(l.limit.Ceiling)
	if l.limit.Starting == 0 {
		l.limit.Starting = l.limit.Ceiling
	}
	local := l.limit
	if own.SendLimit != nil {
		if local = own.SendLimit(scope); local.Validate() != nil {
			local = adaptive.SendLimit{} // as in the strategy, which reports it
		}
	}
	config := sendrate.Config{
		Controller: own.Controller, Cost: own.SendCost, StartingRate: local.Starting, Ceiling: local.Ceiling,
		Burst: local.Burst,
	}
	l.member.fresh = func(now time.Time) sendrate.SendRate { return sendrate.New(config, now) }
	l.member.local = l.member.fresh(l.time.At(clk.Now()))
	l.line = limit.NewLine(account{l}, clk)
	return l
}

// known returns the rate to use for a rate of Config.Limit.
func known(rate ratelimit.Rate) ratelimit.Rate {
	if !(rate > 0 && rate <= 1e9) {
		return 0
	}
	return max(rate, leastRate)
}

// key is the key of a scope in the store. It escapes each part of the scope, because two scopes may
// have the same text.
func (f *Fleet) key(scope retry.ScopeKey) string {
	parts := []string{scope.Scope, scope.Account, scope.Service, scope.Region, scope.Name, scope.Resource}
	for i, part := range parts {
		parts[i] = url.QueryEscape(part)
	}
	return version() + ":" + f.config.Namespace + ":" + strings.Join(parts, "/")
}

// Close ends the calls of the store that are in progress and prevents new ones. The members go on
// alone, and their strategies remain usable. Close returns when the last call has returned, or
// after CallTimeout if the store does not return when its context ends.
func (f *Fleet) Close() {
	f.ending.Store(true)
	f.mu.Lock()
	if f.calls == 0 && f.ctx.Err() == nil {
		close(f.idle)
	}
	f.cancel()
	f.mu.Unlock()
	clk := f.config.Clock
	if clk == nil {
		clk = clock.System{}
	}
	ctx, cancel := clock.WithTimeout(context.Background(), clk, f.config.CallTimeout)
	defer cancel()
	select {
	case <-f.idle:
	case <-ctx.Done():
	}
}

func (f *Fleet) closed() bool { return f.ending.Load() }

// begin counts a call of the store as in progress until done is called.
func (f *Fleet) begin() (ctx context.Context, done func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil, nil, errClosed
	}
	f.calls++
	return f.ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.calls--; f.calls == 0 && f.ctx.Err() != nil {
			close(f.idle)
		}
	}, nil
}

// random returns a number from 0 to 1.
func (f *Fleet) random() (number float64) {
	defer func() {
		if recover() != nil || !(number >= 0 && number <= 1) {
			number = 0.5
		}
	}()
	return f.config.Random()
}

// emit passes an event to the observer.
func (f *Fleet) emit(e Event) {
	if f.config.Observer == nil {
		return
	}
	defer func() { _ = recover() }()
	f.config.Observer(e)
}
