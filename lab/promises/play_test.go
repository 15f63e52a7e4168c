package promises

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// clk is the clock of a bubble of testing/synctest.
var clk clock.System

// play is a run of one cell: callers, a strategy with a feature, and a service. All that it measures it sees from outside:
// when a caller came, and when each of its attempts began and ended.
type play struct {
	*testing.T
	config   adaptive.Config      // of the row, then of the column
	use      func(p *play)        // of the column
	op       retry.Operation      // of all callers, unless the row has its own
	timeout  retry.AttemptTimeout // or nil
	through  door
	narrow   bool                           // the service throttles one key, not the table
	loses    bool                           // some first attempts lose their connection
	rate     float64                        // attempts a second that it allows; 0 for any number
	before   func(p *play)                  // what the column does before the callers call
	beside   func(p *play)                  // and while they call
	service  func(caller, number int) error // answers the attempt of that number of a caller
	latency  time.Duration                  // of an attempt
	others   atomic.Int64                   // calls of others
	strategy retry.Strategy
	client   *dynamodb.Client // of throughSDK
	plain    *dynamodb.Client // of throughPlainSDK

	makeClient, makePlain sync.Once

	mu       sync.Mutex
	attempts []attempt
	waits    []interval
	ended    map[uint64]int // times that an operation has ended
}

// attempt is one attempt that the service has seen.
type attempt struct {
	caller, number int
	ready          time.Time // when the caller could have made it: it had come, or its attempt before had ended
	begin, end     time.Time
	throttled      bool
}

// interval is a time in which a caller waited before an attempt, or before it was refused.
type interval struct{ from, to time.Time }

// begin lets the column set what it needs, and builds the strategy. Backoffs are zero, so a caller that makes no attempt
// waits for tokens.
func (p *play) begin() {
	p.Helper()
	p.use(p)
	p.ended = map[uint64]int{}
	p.config.Standard.Random = func() float64 { return 0 }
	p.config.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.OperationEnded {
			p.mu.Lock()
			p.ended[e.OperationID]++
			p.mu.Unlock()
		}
	})
	var err error
	p.strategy, err = adaptive.New(p.config)
	require.NoError(p, err)
	if p.before != nil {
		p.before(p)
	}
}

// call makes a call and returns its error.
func (p *play) call(ctx context.Context, caller int) error { return p.callAs(ctx, p.op, caller) }

func (p *play) callAs(ctx context.Context, op retry.Operation, caller int) error {
	ready, number := time.Now(), 0
	err := p.through(ctx, p, op, func(ctx context.Context) error {
		number++
		made := attempt{caller: caller, number: number, ready: ready, begin: time.Now()}
		err := clk.Sleep(ctx, p.latency)
		switch {
		case err != nil:
		case p.lost(caller, number):
			err = errLost
		default:
			err = p.service(caller, number)
		}
		made.end = time.Now()
		failed, ok := errors.AsType[*failure](err)
		made.throttled = ok && failed.status == http.StatusBadRequest
		ready = made.end
		p.mu.Lock()
		defer p.mu.Unlock()
		p.attempts = append(p.attempts, made)
		p.waits = append(p.waits, interval{made.ready, made.begin})
		return err
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits = append(p.waits, interval{ready, time.Now()})
	return err
}

// lost reports whether an attempt loses its connection.
func (p *play) lost(caller, number int) bool { return p.loses && number == 1 && caller%7 == 3 }

// callers makes n calls, which begin gap apart, and returns their errors when all have ended.
func (p *play) callers(n int, gap time.Duration, call func(caller int) error) []error {
	p.Helper()
	ctx, cancel := context.WithCancel(p.Context())
	defer cancel()
	if p.beside != nil {
		var others sync.WaitGroup
		defer others.Wait()
		defer cancel()
		others.Go(func() {
			for clk.Sleep(ctx, 13*time.Millisecond) == nil {
				p.beside(p)
			}
		})
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_ = clk.Sleep(p.Context(), time.Duration(i)*gap)
			errs[i] = call(i)
		})
	}
	wg.Wait()
	return errs
}

// waitingAt returns how many callers waited at an instant: those who had come before it and were served after it.
func (p *play) waitingAt(at time.Time) (n int) {
	for _, w := range p.waits {
		if w.from.Before(at) && w.to.After(at) {
			n++
		}
	}
	return n
}

// inOrder returns the attempts in the order in which they could have been made.
func (p *play) inOrder() []attempt {
	return slices.SortedFunc(slices.Values(p.attempts), func(a, b attempt) int { return a.ready.Compare(b.ready) })
}

// failures returns how many of the errors are errors.
func failures(errs []error) (n int) {
	for _, err := range errs {
		if err != nil {
			n++
		}
	}
	return n
}

// unlimited returns the errors without those of a limit on debt, which refuses the retries of many throttles on purpose.
func unlimited(errs []error) []error {
	return slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return errors.Is(err, retry.ErrDebtLimit) })
}

// bucket is a service that allows so many attempts a second, one of which it saves up.
func (p *play) bucket(rate float64) func(caller, number int) error {
	var mu sync.Mutex
	tokens, last := 1.0, time.Now()
	return func(int, int) error {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		tokens, last = min(1, tokens+rate*now.Sub(last).Seconds()), now
		if tokens < 1 {
			return p.throttle()
		}
		tokens--
		return nil
	}
}
