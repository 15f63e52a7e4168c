package retry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

type statusError int

func (statusError) Error() string         { return "status" }
func (e statusError) HTTPStatusCode() int { return int(e) }

const (
	errServer    = statusError(500)
	errClient    = statusError(404)
	errThrottled = statusError(429)
)

var (
	errBoom     = errors.New("boom")
	errNotReady = errors.New("not ready")
)

// codeError has the code of a service.
type codeError string

func (codeError) Error() string       { return "made up" }
func (e codeError) ErrorCode() string { return string(e) }

// circle is an error that wraps itself.
type circle struct{}

func (circle) Error() string   { return "circle" }
func (c circle) Unwrap() error { return c }

var errRule = errors.New("rule: not sent again")

// ruled returns an error that a rule keeps from being retried.
func ruled(err error) error {
	return &classify.JudgedError{Verdict: classify.Forbidden(), Err: err, Reason: errRule}
}

// modes returns one strategy of each mode on the clock, without jitter and with
// delays of 1 s, 2 s, ... whatever the failure.
func modes(t *testing.T, clk clock.Clock, change func(c *standard.Config)) map[string]retry.Strategy {
	t.Helper()
	config := standard.Config{Clock: clk, Base: time.Second, Random: func() float64 { return 1 }}
	if change != nil {
		change(&config)
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	a, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	return map[string]retry.Strategy{"standard": s, "adaptive": a}
}

// forBoth runs a test for each mode.
func forBoth(t *testing.T, clk clock.Clock, test func(t *testing.T, s retry.Strategy)) {
	t.Helper()
	for mode, s := range modes(t, clk, nil) {
		t.Run(mode, func(t *testing.T) { test(t, s) })
	}
}

// forBothObserved plays a test in each mode, with an observer.
func forBothObserved(t *testing.T, play func(t *testing.T, s retry.Strategy, clk *clock.Fake, r *recorder)) {
	t.Helper()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk, r := &clock.Fake{}, &recorder{}
			play(t, modes(t, clk, func(c *standard.Config) { c.Observer = r })[mode], clk, r)
		})
	}
}

// recorder is an observer that keeps the events.
type recorder struct {
	mu     sync.Mutex
	events []retry.Event // guarded by mu
}

func (r *recorder) Observe(_ context.Context, e retry.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// of returns the events of a kind.
func (r *recorder) of(kind retry.EventKind) (found []retry.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// ordersTable is an operation on a table, which has a scope of its own.
func ordersTable() retry.Operation {
	return retry.Operation{
		Account: "111122223333", Service: "dynamodb", Region: "eu-west-1", Name: "GetItem", Resource: "orders",
	}
}

func acquire(t *testing.T, s retry.Strategy) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	return token
}

// sent begins an operation whose attempt has not come back yet.
func sent(t *testing.T, s retry.Strategy, op retry.Operation) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), op)
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	return token
}

// throttle makes one attempt that is throttled.
func throttle(t *testing.T, s retry.Strategy, op retry.Operation) {
	t.Helper()
	require.NoError(t, s.RecordFailure(sent(t, s, op), errThrottled))
}

func failing(err error) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return 0, err }
}

// gone returns a context that has ended.
func gone(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func same(ctx context.Context) context.Context { return ctx }

// counting counts the calls that a strategy accepts.
type counting struct {
	retry.Strategy
	mu                                              sync.Mutex
	acquired, granted, refused, successes, failures int
	ends                                            int // calls that end an operation, also those that the strategy refuses
}

func (c *counting) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	c.count(&c.acquired)
	return c.Strategy.AcquireInitialToken(ctx, op)
}

func (c *counting) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	next, err := c.Strategy.RefreshRetryToken(ctx, t, failure)
	if err == nil {
		c.count(&c.granted)
	} else {
		c.count(&c.refused)
	}
	return next, err
}

func (c *counting) RecordSuccess(t retry.Token, r retry.Result) error {
	c.count(&c.ends)
	c.count(&c.successes)
	return c.Strategy.RecordSuccess(t, retry.Result{})
}

func (c *counting) RecordFailure(t retry.Token, failure error) error {
	c.count(&c.ends)
	err := c.Strategy.RecordFailure(t, failure)
	if err == nil {
		c.count(&c.failures)
	}
	return err
}

func (c *counting) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

// denying gives no tokens.
type denying struct{ retry.Strategy }

func (denying) Clock() clock.Clock { return clock.System{} }

func (denying) AcquireInitialToken(context.Context, retry.Operation) (retry.Token, error) {
	return retry.Token{}, errDenied
}

var errDenied = errors.New("no token today")

// foreign is a strategy of another module around one of this module.
type foreign struct {
	retry.Strategy
	acquire func() error
	refresh func(t retry.Token, failure error) (retry.Token, error)
}

func (f foreign) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	if f.acquire != nil {
		return retry.Token{}, f.acquire()
	}
	return f.Strategy.AcquireInitialToken(ctx, op)
}

func (f foreign) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	if f.refresh != nil {
		return f.refresh(t, failure)
	}
	return f.Strategy.RefreshRetryToken(ctx, t, failure)
}

// wrapped is a strategy by another author.
type wrapped struct{ retry.Strategy }

type always struct{}

func (always) Name() string                               { return "always" }
func (always) Classify(classify.Outcome) classify.Verdict { return classify.RetryAs(classify.Client) }

type never struct{}

func (never) Name() string                               { return "never" }
func (never) Classify(classify.Outcome) classify.Verdict { return classify.Forbidden() }

// mute has no opinion of anything.
type mute struct{}

func (mute) Name() string                               { return "mute" }
func (mute) Classify(classify.Outcome) classify.Verdict { return classify.Verdict{} }

// judging is a classifier that counts its calls.
type judging struct{ calls *int }

func (judging) Name() string { return "judging" }

func (j judging) Classify(classify.Outcome) classify.Verdict {
	*j.calls++
	return classify.RetryAs(classify.Throttling)
}

// hotKeyError is a throttle of one key.
type hotKeyError struct{ reasons []classify.Reason }

func (hotKeyError) Error() string                    { return "hot key" }
func (hotKeyError) ErrorCode() string                { return "ThrottlingException" }
func (e hotKeyError) ThrottledBy() []classify.Reason { return e.reasons }
