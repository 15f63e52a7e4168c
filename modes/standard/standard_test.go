package standard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var (
	errServer   = vectors.Response{Status: 500, Kind: "transient"}.Err()
	errThrottle = vectors.Response{Status: 400, ErrorCode: "ThrottlingException", Kind: "throttling"}.Err()
	errTimeout  = vectors.Response{Kind: "timeout"}.Err()
	errClient   = vectors.Response{Status: 404, ErrorCode: "ResourceNotFoundException", Kind: "client"}.Err()
)

// answers returns a function that fails with each of the errors in turn, and then succeeds.
func answers(errs ...error) func(context.Context) (int, error) {
	n := 0
	return func(context.Context) (int, error) {
		n++
		if n <= len(errs) {
			return n, errs[n-1]
		}
		return n, nil
	}
}

// newStrategy returns a strategy on a fake clock, without jitter.
func newStrategy(t *testing.T, change func(c *standard.Config)) (retry.Strategy, *clock.Fake) {
	t.Helper()
	clk := &clock.Fake{}
	config := standard.Config{Clock: clk, Random: func() float64 { return 1 }}
	if change != nil {
		change(&config)
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	return s, clk
}

// do runs an operation on the fake clock of the strategy.
func do(ctx context.Context, clk *clock.Fake, s retry.Strategy, op retry.Operation, errs ...error) (attempts int, err error) {
	clk.Run(func() { attempts, err = retry.Do(ctx, s, op, answers(errs...)) })
	return attempts, err
}

type strategy interface {
	retry.Strategy
	Snapshot() retry.Snapshot
}

// scopes returns the quota of each scope.
func scopes(s strategy) map[string]int {
	quotas := map[string]int{}
	for _, scope := range s.Snapshot().Scopes {
		quotas[scope.Scope] = scope.Quota
	}
	return quotas
}

func begin(t *testing.T, s retry.Strategy, scope string) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{Scope: scope})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	return token
}

func TestDoOnAFakeClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		change    func(c *standard.Config)
		answers   []error
		wantValue int // the number of attempts, as answers counts them
		wantErr   error
		wantWaits []time.Duration
		wantQuota int
	}{
		{
			name:      "success at the first attempt",
			wantValue: 1, wantWaits: []time.Duration{}, wantQuota: 500,
		},
		{
			name:      "success after retries",
			answers:   []error{errServer, errTimeout},
			wantValue: 3, wantWaits: []time.Duration{50 * time.Millisecond, 100 * time.Millisecond}, wantQuota: 486,
		},
		{
			name:      "attempt limit",
			answers:   []error{errServer, errServer, errServer, errServer},
			wantValue: 3, wantErr: retry.ErrAttemptsExhausted,
			wantWaits: []time.Duration{50 * time.Millisecond, 100 * time.Millisecond}, wantQuota: 472,
		},
		{
			name:      "one attempt allowed",
			change:    func(c *standard.Config) { c.MaxAttempts = 1 },
			answers:   []error{errThrottle},
			wantValue: 1, wantErr: retry.ErrAttemptsExhausted, wantWaits: []time.Duration{}, wantQuota: 500,
		},
		{
			name:      "empty quota",
			change:    func(c *standard.Config) { c.QuotaInitial = new(20) },
			answers:   []error{errServer, errServer},
			wantValue: 2, wantErr: retry.ErrQuotaExhausted, wantWaits: []time.Duration{50 * time.Millisecond}, wantQuota: 6,
		},
		{
			name:      "quota without capacity",
			change:    func(c *standard.Config) { c.QuotaCapacity = new(0) },
			answers:   []error{errServer},
			wantValue: 1, wantErr: retry.ErrQuotaExhausted, wantWaits: []time.Duration{}, wantQuota: 0,
		},
		{
			name:      "not retryable",
			answers:   []error{errClient},
			wantValue: 1, wantErr: errClient, wantWaits: []time.Duration{}, wantQuota: 500,
		},
		{
			name:      "not retryable after a retry",
			answers:   []error{errTimeout, errClient},
			wantValue: 2, wantErr: errClient, wantWaits: []time.Duration{50 * time.Millisecond}, wantQuota: 486,
		},
		{
			name:      "quota that time refills",
			change:    func(c *standard.Config) { c.QuotaInitial, c.QuotaRefill = new(14), 80 },
			answers:   []error{errServer, errServer, errServer},
			wantValue: 2, wantErr: retry.ErrQuotaExhausted, wantWaits: []time.Duration{50 * time.Millisecond}, wantQuota: 4,
		},
		{
			name:      "numbers of v2.0",
			change:    func(c *standard.Config) { c.Behavior, c.Service = retry.V20, "dynamodb" },
			answers:   []error{errServer, errTimeout, errThrottle},
			wantValue: 3, wantErr: retry.ErrAttemptsExhausted,
			wantWaits: []time.Duration{time.Second, 2 * time.Second}, wantQuota: 500 - 5 - 10,
		},
		{
			name:      "numbers for DynamoDB",
			change:    func(c *standard.Config) { c.Service = "dynamodb" },
			answers:   []error{errServer, errThrottle, errServer},
			wantValue: 4,
			wantWaits: []time.Duration{25 * time.Millisecond, 2 * time.Second, 100 * time.Millisecond},
			wantQuota: 500 - 14 - 5,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, clk := newStrategy(t, c.change)
			value, err := do(t.Context(), clk, s, retry.Operation{}, c.answers...)
			require.Equal(t, c.wantValue, value)
			if c.wantErr == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, c.wantErr)
				require.ErrorIs(t, err, c.answers[c.wantValue-1], "the service's own error")
			}
			require.Equal(t, c.wantWaits, append([]time.Duration{}, clk.Waits()...))
			require.Equal(t, c.wantQuota, s.Snapshot().Scopes[0].Quota)
		})
	}
}

func TestCancelWhileWaitingEndsTheOperation(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	cause := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	clk.AfterFunc(20*time.Millisecond, func() { cancel(cause) }) // of a backoff of 50
	_, err := do(ctx, clk, s, retry.Operation{}, errServer)
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, cause)
	serviceError, ok := errors.AsType[*vectors.ServiceError](err)
	require.True(t, ok)
	require.Equal(t, 500, serviceError.HTTPStatusCode())
	require.Zero(t, clk.Waiters())
}

func TestDeadlineShorterThanTheWaitIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	ctx, cancel := clk.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	// No goroutine moves the clock: a wait would hang.
	_, err := retry.Do(ctx, s, retry.Operation{Name: "GetItem"}, answers(errServer))
	require.ErrorIs(t, err, retry.ErrDeadline)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, ok := errors.AsType[*vectors.ServiceError](err)
	require.True(t, ok)
	require.Empty(t, clk.Waits())
	require.Equal(t, 500, s.Snapshot().Scopes[0].Quota, "a retry that is not made costs nothing")
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, 1, refusal.Attempts)
	require.Equal(t, 50*time.Millisecond, refusal.Wait)
}

func TestCallersOwnEndIsNeitherRetriedNorHidden(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	var err error
	clk.Run(func() {
		err = retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
			if n++; n == 1 {
				return errServer
			}
			cancel()
			return ctx.Err()
		})
	})
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, errServer, "what the service said before")
	require.Equal(t, 2, n)
}

func TestScopesHaveQuotasOfTheirOwn(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) { c.QuotaCapacity = new(14) })
	do := func(op retry.Operation) error {
		_, err := do(t.Context(), clk, s, op, errServer, errServer)
		return err
	}
	orders := retry.Operation{Service: "dynamodb", Region: "eu-west-1", Resource: "orders"}
	require.ErrorIs(t, do(orders), retry.ErrQuotaExhausted)
	require.ErrorContains(t, do(orders), `(1 attempt, 0 of 14 quota tokens, scope "dynamodb/eu-west-1/orders")`)
	require.ErrorContains(t, do(retry.Operation{Scope: "by name"}), "(2 attempts")
	require.ErrorContains(t, do(retry.Operation{}), "(2 attempts")
	names := []string{}
	for _, scope := range s.Snapshot().Scopes {
		names = append(names, scope.Scope)
	}
	require.Equal(t, []string{"", "by name", "dynamodb/eu-west-1/orders"}, names)
}

func TestClassifierOfTheUserDecides(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.Classifier = classify.NewChain(forbidAll{}, classify.Status())
	})
	_, err := do(t.Context(), clk, s, retry.Operation{}, errServer)
	require.Equal(t, errServer, err)
}

type forbidAll struct{}

func (forbidAll) Name() string { return "forbid-all" }

func (forbidAll) Classify(classify.Outcome) classify.Verdict { return classify.Forbidden() }
