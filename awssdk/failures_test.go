package awssdk

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

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

func TestNothingIsKeptOfACallThatPanicked(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{Base: 1})
	require.NoError(t, err)
	r := retryer(t, s)
	require.Panics(t, func() { _, _ = inside(t, r, temporary{errors.New("first")}) }) // there is no second error
	require.Zero(t, r.failures.kept())
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
