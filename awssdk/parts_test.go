package awssdk

import (
	"context"
	"errors"
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestHeaderTellsAttemptAndLimit(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][2]int{
		"attempt=1; max=3":                       {1, 3},
		"attempt=12; max=30; ttl=20260101T0000Z": {12, 30},
		"attempt=2":                              {2, math.MaxInt},
		"attempt=2; max=-1":                      {2, math.MaxInt},
		"attempt=-2; max=0":                      {0, 0},
		"attempt=0":                              {0, 0},
		"attempt=x; max=":                        {0, 0},
		"":                                       {0, 0},
	} {
		number, limit := parseAttempt(header)
		require.Equal(t, want, [2]int{number, limit}, header)
	}
	number, limit := new(shared).attemptOf(context.Background())
	require.Zero(t, number, "no loop")
	require.Zero(t, limit, "no loop")
}

func FuzzParseAttempt(f *testing.F) {
	f.Fuzz(func(t *testing.T, header string) {
		number, limit := parseAttempt(header)
		require.GreaterOrEqual(t, number, 0)
		require.GreaterOrEqual(t, limit, 0)
	})
}

// unhashable is an error that cannot be the key of a map.
type unhashable []string

func (unhashable) Error() string { return "several lines" }

func TestFailureIsFoundUnderWhatWrapsIt(t *testing.T) {
	t.Parallel()
	first, c := errors.New("first"), &call{}
	var f failures
	require.Nil(t, f.take(first))
	require.True(t, f.put(first, failure{call: c}))
	require.False(t, f.put(first, failure{call: &call{}}), "known already")
	require.False(t, f.put(unhashable(nil), failure{call: c}))
	require.Nil(t, f.take(unhashable(nil)))
	require.Same(t, c, f.take(&uniqueError{first}))
	require.Nil(t, f.take(first), "taken")
	require.True(t, f.put(first, failure{call: c, busy: true}))
	require.Nil(t, f.take(first), "its retry is being made")
	require.True(t, f.withdraw(first, c))
	self := &uniqueError{}
	self.error = self
	require.Nil(t, f.take(self), "wraps itself")
}

func retryer(t *testing.T, s retry.Strategy) *sdkRetryer {
	t.Helper()
	r, err := newRetryer(s, nil)
	require.NoError(t, err)
	return r
}

// inner returns what a retryer, or one around it, has in common with others.
func (r *sdkRetryer) inner() *shared { return r.shared }

// inside runs the loop of the SDK with the middlewares, and returns the call that they made.
func inside(t *testing.T, r interface {
	aws.Retryer
	inner() *shared
}, errs ...error,
) (c *call, err error) {
	t.Helper()
	stack := middleware.NewStack("Test", smithyhttp.NewStackRequest)
	require.NoError(t, stack.Finalize.Add(sdkretry.NewAttemptMiddleware(r, smithyhttp.RequestCloner), middleware.After))
	require.NoError(t, r.inner().addMiddlewares(stack))
	handler := middleware.HandlerFunc(func(ctx context.Context, _ any) (any, middleware.Metadata, error) {
		c = callFrom(ctx)
		err := errs[0]
		errs = errs[1:]
		return nil, middleware.Metadata{}, err
	})
	_, _, err = middleware.DecorateHandler(handler, stack).Handle(t.Context(), nil)
	return c, err
}

// answering is a retryer that retries every error and does not ask the one that it wraps.
type answering struct{ *sdkRetryer }

func (answering) IsErrorRetryable(error) bool { return true }

// correcting is a retryer that asks the one that it wraps, and then retries every error.
type correcting struct{ *sdkRetryer }

func (r correcting) IsErrorRetryable(err error) bool {
	_ = r.sdkRetryer.IsErrorRetryable(err)
	return true
}

func TestRetryerAroundMayOverruleTheStrategy(t *testing.T) {
	t.Parallel()
	for _, errs := range [][]error{
		{errors.New("first"), nil},
		{errors.New("first"), temporary{errors.New("second")}, errors.New("third"), nil},
		{errors.New("first"), errors.New("second"), errors.New("third"), errors.New("fourth")},
	} {
		s, err := standard.New(standard.Config{Base: 1, MaxAttempts: 4})
		require.NoError(t, err)
		r := correcting{retryer(t, s)}
		c, err := inside(t, r, errs...)
		require.ErrorIs(t, err, errs[len(errs)-1])
		require.Equal(t, over, c.phase)
		require.Zero(t, r.failures.kept())
	}
}

func TestNothingIsKeptOfACallThatHasEnded(t *testing.T) {
	t.Parallel()
	shared := errors.New("shared")
	for _, errs := range [][]error{
		{nil},
		{errors.New("first"), nil},
		{errors.New("first"), errors.New("second"), nil},
		{errors.New("first"), errors.New("second"), errors.New("third")},
		{shared, shared, shared},
		{unhashable(nil), unhashable(nil), nil},
	} {
		s, err := standard.New(standard.Config{Base: 1})
		require.NoError(t, err)
		r := retryer(t, s)
		wanted := errs[len(errs)-1]
		c, err := inside(t, answering{r}, errs...)
		require.Equal(t, wanted == nil, err == nil)
		require.Equal(t, over, c.phase)
		require.Zero(t, r.failures.kept())
	}
}

// TestManyCallsAtOnceGoOn has more calls than failures keeps. Another retryer decides about
// their errors.
func TestManyCallsAtOnceGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := standard.New(standard.Config{QuotaCapacity: new(1_000_000)})
		require.NoError(t, err)
		r := answering{retryer(t, s)}
		var lost atomic.Int64
		var calls sync.WaitGroup
		for range 2*maxFailures + 500 {
			calls.Go(func() {
				if _, err := inside(t, r, errors.New("first"), nil); err != nil {
					lost.Add(1)
				}
			})
		}
		calls.Wait()
		require.Zero(t, lost.Load())
	})
}

// TestCallsWithOneErrorAreToldApart has two calls that fail with the same error, and a retryer that
// looks each up twice.
func TestCallsWithOneErrorAreToldApart(t *testing.T) {
	t.Parallel()
	var s shared
	same := errors.New("same")
	first, second := &call{shared: &s, observed: true}, &call{shared: &s, observed: true}
	require.Equal(t, same, first.attempted(same))
	wrapped := second.attempted(same)
	require.NotEqual(t, same, wrapped, "the first call has it")
	for range 2 {
		require.Same(t, first, s.failures.take(same))
		require.Same(t, second, s.failures.take(wrapped))
	}
	first.forget()
	require.Nil(t, s.failures.take(same))
	require.Same(t, second, s.failures.take(wrapped))
	second.forget()
	require.Zero(t, s.failures.kept())
}

func TestOutcomeOfAnAttemptIsToldOnce(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{})
	require.NoError(t, err)
	r := retryer(t, s)
	release, err := r.GetAttemptToken(t.Context())
	require.NoError(t, err)
	require.NoError(t, release(nil))
	require.NoError(t, release(errors.New("late")))
	require.Zero(t, r.failures.kept())
}

// impatient is a retryer that gives attempt tokens of its own.
type impatient struct{ *sdkRetryer }

func (impatient) GetAttemptToken(context.Context) (func(error) error, error) { return released, nil }

func TestRetryerAroundMayWaitForAttemptsItself(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{Base: 1, MaxAttempts: 2})
	require.NoError(t, err)
	_, err = inside(t, impatient{retryer(t, s)}, temporary{errors.New("first")}, temporary{errors.New("second")})
	require.Error(t, err)
	require.Equal(t, 486, s.Snapshot().Scopes[0].Quota, "the strategy still decides about retries")
}

// temporary is an error that is retried.
type temporary struct{ error }

func (temporary) Temporary() bool { return true }

func (e temporary) Unwrap() error { return e.error }

// TestRefusalInsideAnErrorDoesNotCount: the error of an attempt may come from another
// strategy, for example that of the credentials.
func TestRefusalInsideAnErrorDoesNotCount(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{QuotaCapacity: new(0)})
	require.NoError(t, err)
	_, err = inside(t, retryer(t, s), temporary{&retry.Error{Reason: retry.ErrNotRetryable}})
	require.ErrorIs(t, err, retry.ErrQuotaExhausted)
}

type getItemInput struct {
	TableName *string
	Other     int
}

type batchInput struct{ RequestItems map[string]int }

type oddInput struct {
	TableName     string // no input of the SDK looks so
	RequestItems  []int
	TransactItems map[int]int
}

func TestResourceOfOddInputsIsEmpty(t *testing.T) {
	t.Parallel()
	var s shared
	name := "orders"
	require.Equal(t, "orders", s.resourceOf("dynamodb", &getItemInput{TableName: &name}))
	require.Empty(t, s.resourceOf("dynamodb", &getItemInput{}))
	require.Empty(t, s.resourceOf("dynamodb", (*getItemInput)(nil)))
	require.Empty(t, s.resourceOf("dynamodb", getItemInput{TableName: &name}))
	require.Empty(t, s.resourceOf("dynamodb", &name))
	require.Empty(t, s.resourceOf("dynamodb", nil))
	require.Empty(t, s.resourceOf("dynamodb", &oddInput{TableName: name}))
	require.Equal(t, "orders", s.resourceOf("dynamodb", &batchInput{map[string]int{"orders": 1}}))
	require.Empty(t, s.resourceOf("dynamodb", &batchInput{map[string]int{"orders": 1, "users": 1}}))
	require.Empty(t, s.resourceOf("dynamodb", &batchInput{}))
}

func TestRetryerIsSetWhereAClientHasOne(t *testing.T) {
	t.Parallel()
	made, err := standard.New(standard.Config{})
	require.NoError(t, err)
	r := retryer(t, made)
	require.NotPanics(t, func() {
		nameService("X", nil)
		nameService("X", 1)
		nameService("X", &struct{ Retryer int }{})
		nameService("X", (*struct{ Retryer int })(nil))
	})
	options := struct{ Retryer any }{r}
	nameService("X", &options)
	require.Same(t, r, options.Retryer, "of another type")
	require.Equal(t, "dynamodb streams", r.forService("DynamoDB Streams").scoped)
	require.Equal(t, reflect.TypeFor[*sdkRetryer](), reflect.TypeOf(r.forService("S3")))
}

func TestLongPollsAreThoseOfTheCrossChecks(t *testing.T) {
	t.Parallel()
	for _, poll := range vectors.ReadCrossChecks(t, "..").LongPolls {
		require.Equal(t, poll.LongPoll, isLongPolling(poll.Service, poll.Operation), poll.ID)
	}
}
