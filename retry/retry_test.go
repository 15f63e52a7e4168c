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
	"github.com/awsretry/awsretry/internal/testonly/play"
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
	errBusy      = statusError(503)
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

// world is a test of a strategy of [modes] on a clock of its own. The calls of the strategy are counted, and its observer
// keeps the events.
type world struct {
	*testing.T
	*counting
	*play.Recorder
	clk  *clock.Fake
	mode string
}

// inBoth plays a test in each mode. change may be nil.
func inBoth(t *testing.T, name string, change func(c *standard.Config), test func(t world)) {
	t.Helper()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(name+"/"+mode, func(t *testing.T) {
			t.Parallel()
			test(newWorld(t, mode, change))
		})
	}
}

func newWorld(t *testing.T, mode string, change func(c *standard.Config)) world {
	t.Helper()
	w := world{T: t, Recorder: &play.Recorder{}, clk: &clock.Fake{}, mode: mode}
	w.counting = &counting{Strategy: modes(t, w.clk, func(c *standard.Config) {
		if c.Observer = w.Recorder; change != nil {
			change(c)
		}
	})[mode]}
	return w
}

// do makes an operation, and returns how many attempts there were. Each is told its number, from 1.
func (w world) do(
	ctx context.Context, op retry.Operation, fn func(ctx context.Context, n int) error, opts ...retry.Option,
) (attempts int, err error) {
	w.clk.Run(func() {
		err = retry.DoErr(ctx, w, op, func(ctx context.Context) error {
			attempts++
			return fn(ctx, attempts)
		}, opts...)
	})
	return attempts, err
}

// grant asks for a retry that the strategy grants.
func (w world) grant(token retry.Token) retry.Token {
	next, err := w.RefreshRetryToken(w.Context(), token, errServer)
	require.NoError(w, err)
	return next
}

// quota returns what is in the quota of the strategy as a whole.
func (w world) quota() int { return w.Snapshot().Scopes[0].Quota }

// kinds are those of the failures of attempts.
func (w world) kinds() (kinds []classify.Kind) {
	for _, e := range w.Of(retry.AttemptEnded) {
		kinds = append(kinds, e.Verdict.Kind())
	}
	return kinds
}

// always returns attempts that end with an error.
func always(err error) func(context.Context, int) error {
	return func(context.Context, int) error { return err }
}

// ordersTable is an operation on a table, which has a scope of its own.
func ordersTable() retry.Operation {
	return retry.Operation{
		Account: "111122223333", Service: "dynamodb", Region: "eu-west-1", Name: "GetItem", Resource: "orders",
	}
}

// acquire begins an operation.
func acquire(t *testing.T, s retry.Strategy) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	return token
}

// sent begins an operation whose attempt has not come back yet.
func sent(ctx context.Context, t *testing.T, s retry.Strategy, op retry.Operation) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(ctx, op)
	require.NoError(t, err)
	require.NoError(t, token.Wait(ctx))
	return token
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
	ends                                            int // also those that the strategy refuses
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
	return c.Strategy.RecordSuccess(t, r)
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

// judge is a classifier that is no part of a chain.
type judge func(o classify.Outcome) classify.Verdict

func (judge) Name() string                                   { return "judge" }
func (j judge) Classify(o classify.Outcome) classify.Verdict { return j(o) }

// saying returns a classifier with one opinion.
func saying(v classify.Verdict) judge { return func(classify.Outcome) classify.Verdict { return v } }

// hotKeyError is a throttle of one key.
type hotKeyError struct{ reasons []classify.Reason }

func (hotKeyError) Error() string                    { return "hot key" }
func (hotKeyError) ErrorCode() string                { return "ThrottlingException" }
func (e hotKeyError) ThrottledBy() []classify.Reason { return e.reasons }
