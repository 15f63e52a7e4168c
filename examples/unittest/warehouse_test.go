package unittest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/examples/unittest"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// answers is a service that gives one answer after the other.
type answers []answer

type answer struct {
	status     int
	retryAfter string
	body       string
}

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	if len(*a) == 0 {
		return nil, errors.New("an attempt too many")
	}
	next := (*a)[0]
	*a = (*a)[1:]
	return &http.Response{
		StatusCode: next.status,
		Header:     http.Header{"Retry-After": {next.retryAfter}},
		Body:       io.NopCloser(strings.NewReader(next.body)),
	}, nil
}

// newWarehouse returns a Warehouse on a clock that the test moves, with delays that
// are always the longest.
func newWarehouse(t *testing.T, clk *clock.Fake, service *answers) *unittest.Warehouse {
	t.Helper()
	strategy, err := standard.New(standard.Config{Clock: clk, Random: func() float64 { return 1 }})
	require.NoError(t, err)
	warehouse, err := unittest.NewWarehouse("http://warehouse", strategy, service)
	require.NoError(t, err)
	return warehouse
}

func TestStock(t *testing.T) {
	t.Parallel()
	throttled := answer{status: http.StatusTooManyRequests}
	for _, c := range []struct {
		name    string
		service answers
		waits   []time.Duration
		want    int
		err     error
	}{
		{"in stock", answers{{status: 200, body: "12"}}, nil, 12, nil},
		{"unknown, which is final", answers{{status: 404}}, nil, 0, unittest.ErrUnknownItem},
		{"throttled twice", answers{throttled, throttled, {status: 200, body: "3"}}, []time.Duration{time.Second, 2 * time.Second}, 3, nil},
		{"as late as the service asks", answers{{status: 503, retryAfter: "4"}, {status: 200, body: "1"}}, []time.Duration{4400 * time.Millisecond}, 1, nil},
		{"throttled too often", answers{throttled, throttled, throttled}, []time.Duration{time.Second, 2 * time.Second}, 0, retry.ErrAttemptsExhausted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			warehouse := newWarehouse(t, clk, &c.service)
			clk.Run(func() {
				count, err := warehouse.Stock(t.Context(), "chair")
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.want, count)
			})
			require.Equal(t, c.waits, clk.Waits())
			require.Empty(t, c.service)
		})
	}
}

// A wait whose end the caller would not see does not begin.
func TestStockWithLittleTimeLeft(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	service := answers{{status: 503}}
	warehouse := newWarehouse(t, clk, &service)
	clk.Run(func() {
		ctx, cancel := clk.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := warehouse.Stock(ctx, "chair")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		said, ok := errors.AsType[*httpretry.ResponseError](err)
		require.True(t, ok)
		require.Equal(t, http.StatusServiceUnavailable, said.Status)
	})
	require.Empty(t, clk.Waits())
}

// The caller cancels during the second wait, which would last until 3 s.
func TestStockThatIsCanceled(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	start := clk.Now()
	service := answers{{status: 429}, {status: 429}}
	warehouse := newWarehouse(t, clk, &service)
	ctx, cancel := context.WithCancel(t.Context())
	clk.AfterFunc(1500*time.Millisecond, cancel)
	clk.Run(func() {
		_, err := warehouse.Stock(ctx, "chair")
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 1500*time.Millisecond, clk.Now().Sub(start))
	})
	require.Empty(t, service)
}
