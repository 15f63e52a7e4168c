package awssdk

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

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

// answering is a retryer that retries every error and does not ask the one that it wraps.
type answering struct{ *sdkRetryer }

func (answering) IsErrorRetryable(error) bool { return true }

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

func TestNothingIsKeptOfACallThatPanicked(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{Base: 1})
	require.NoError(t, err)
	r := retryer(t, s)
	require.Panics(t, func() { _, _ = inside(t, r, temporary{errors.New("first")}) }) // there is no second error
	require.Zero(t, r.failures.kept())
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

// registering is a context that counts the functions which wait for its end.
type registering struct {
	context.Context //nolint:containedctx // it is a context
	waiting         *int
}

func (registering) Done() <-chan struct{} { return make(chan struct{}) }

func (c registering) AfterFunc(func()) (stop func() bool) {
	*c.waiting++
	return func() bool {
		*c.waiting--
		return true
	}
}

// TestCallsThatAreDroppedLeaveTheirContext: a retryer around ours gives up in RetryDelay, so that
// no method is called for the retry that was granted.
func TestCallsThatAreDroppedLeaveTheirContext(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{QuotaCapacity: new(1_000_000)})
	require.NoError(t, err)
	r, waiting := retryer(t, s), 0
	for range 3 * maxFailures {
		_, err := r.GetRetryToken(registering{t.Context(), &waiting}, temporary{errors.New("made up")})
		require.NoError(t, err)
	}
	require.Equal(t, 2*maxFailures, waiting)
	require.Equal(t, 1_000_000-14*2*maxFailures, s.Snapshot().Scopes[0].Quota, "a retry that is dropped gives back what it took")
}

// TestRetryOutlastsErrorsOfOtherCalls: a retryer around ours does not ask about those.
func TestRetryOutlastsErrorsOfOtherCalls(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{})
	require.NoError(t, err)
	r := retryer(t, s)
	for _, others := range []int{maxFailures, 3 * maxFailures} {
		goOn, err := r.GetRetryToken(t.Context(), temporary{errors.New("first")})
		require.NoError(t, err)
		require.Equal(t, 486, s.Snapshot().Scopes[0].Quota)
		for range others {
			release, err := r.GetAttemptToken(t.Context())
			require.NoError(t, err)
			require.NoError(t, release(temporary{errors.New("other")}))
		}
		require.Equal(t, others > maxFailures, s.Snapshot().Scopes[0].Quota == 500, "dropped: it counts as not made")
		require.NoError(t, goOn(nil))
		require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
	}
}

// kept returns how many errors there are.
func (f *failures) kept() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.young) + len(f.old)
}
