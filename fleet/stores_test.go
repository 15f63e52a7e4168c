package fleet_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

var orders = retry.ScopeKey{Account: "111122223333", Service: "dynamodb", Region: "eu-central-1", Resource: "orders"}

// stock is a store that gives a member all the slots that it can use.
type stock struct{}

func (stock) Call(context.Context, string, fleet.Ask) (fleet.Reply, error) {
	return fleet.Reply{Epoch: 2, Rate: 1e9, Slots: 1e9, State: "-"}, nil
}

// withSlots returns a member with more slots in hand than a test can use.
func withSlots(tb testing.TB, clk clock.Clock) adaptive.Limiter {
	tb.Helper()
	f, err := fleet.New(fleet.Config{Store: stock{}, Namespace: "test"})
	require.NoError(tb, err)
	tb.Cleanup(f.Close)
	l := f.NewLimiter(orders, clk)
	_, err = l.Acquire(context.Background(), ratelimit.Request{})
	require.NoError(tb, err)
	return l
}

// replies is a store that a test answers for. It counts the calls.
type replies struct {
	call func(ctx context.Context, n int, ask fleet.Ask) (fleet.Reply, error)

	mu   sync.Mutex
	asks []fleet.Ask
}

func (r *replies) Call(ctx context.Context, _ string, ask fleet.Ask) (fleet.Reply, error) {
	r.mu.Lock()
	r.asks = append(r.asks, ask)
	n := len(r.asks)
	r.mu.Unlock()
	return r.call(ctx, n, ask)
}

// Asks returns what was asked so far.
func (r *replies) Asks() []fleet.Ask {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asks)
}

// storeFunc is a store that answers by key.
type storeFunc func(key string) (fleet.Reply, error)

func (f storeFunc) Call(_ context.Context, key string, _ fleet.Ask) (fleet.Reply, error) {
	return f(key)
}

// journal is an observer that keeps the events.
type journal struct {
	mu     sync.Mutex
	events []fleet.Event
}

func (j *journal) Observe(e fleet.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
}

// Kinds returns the kinds of the events so far.
func (j *journal) Kinds() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	kinds := make([]string, len(j.events))
	for i, e := range j.events {
		kinds[i] = e.Kind.String()
	}
	return strings.Join(kinds, " ")
}

// newFleet returns a fleet on the clock of the bubble that is closed at the end of the test.
func newFleet(tb testing.TB, config fleet.Config) *fleet.Fleet {
	tb.Helper()
	if config.Namespace == "" {
		config.Namespace = "test"
	}
	f, err := fleet.New(config)
	require.NoError(tb, err)
	tb.Cleanup(f.Close)
	return f
}

// send acquires, and reports an answer after 10 ms. It returns how long the attempt waited.
func send(tb testing.TB, l adaptive.Limiter, throttled bool) time.Duration {
	tb.Helper()
	clk := clock.System{}
	began := clk.Now()
	sent, err := l.Acquire(context.Background(), ratelimit.Request{})
	require.NoError(tb, err)
	waited := clk.Now().Sub(began)
	require.NoError(tb, clk.Sleep(context.Background(), 10*time.Millisecond))
	l.Report(ratelimit.Response{Sent: sent, Throttled: throttled})
	return waited
}

// source returns where the send rate of a limiter comes from.
func source(l adaptive.Limiter) string {
	state := l.State()
	return state.SendRateSource
}

// now is the time of the bubble.
func now() time.Time { return clock.System{}.Now() }
