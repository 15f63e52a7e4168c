package awssdk

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// several is an error that cannot be compared.
type several []error

func (several) Error() string { return "several" }

func (several) Temporary() bool { return true }

func TestCallEndsWithTheErrorOfItsLastAttempt(t *testing.T) {
	t.Parallel()
	final, lost := errors.New("final"), temporary{errors.New("lost")}
	for name, c := range map[string]struct {
		errs  []error
		quota int
		want  error
	}{
		"success":                         {[]error{nil}, 500, nil},
		"success after two failures":      {[]error{lost, lost, nil}, 486, nil},
		"a failure that is not retried":   {[]error{final}, 500, final},
		"one after a retry":               {[]error{lost, final}, 486, final},
		"attempts used up":                {[]error{lost, lost, lost}, 472, lost},
		"errors that cannot be compared":  {[]error{several{}, several{}, final}, 472, final},
		"one value for several attempts":  {[]error{final}, 500, final},
		"a wrapped error of an older try": {[]error{lost, fmt.Errorf("again: %w", lost), nil}, 486, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := standard.New(standard.Config{Base: 1})
			require.NoError(t, err)
			made, err := inside(t, retryer(t, s), c.errs...)
			require.ErrorIs(t, err, c.want)
			require.Equal(t, over, made.phase)
			require.Equal(t, c.quota, s.Snapshot().Scopes[0].Quota)
			if made.last != nil {
				require.Nil(t, made.last.call.Load(), "an error that the caller keeps does not keep the call")
			}
			_, carries := errors.AsType[*attemptError](err)
			require.Equal(t, name == "attempts used up", carries, "the SDK has wrapped it")
			require.Equal(t, name == "attempts used up", errors.Is(err, retry.ErrAttemptsExhausted))
		})
	}
}

func TestPanicOfAClassifierEndsTheOperation(t *testing.T) {
	t.Parallel()
	ended := map[retry.EventKind]int{}
	s, err := standard.New(standard.Config{
		Classifier: classify.Func(func(error) bool { panic("classifier") }),
		Observer:   retry.ObserverFunc(func(_ context.Context, e retry.Event) { ended[e.Kind]++ }),
	})
	require.NoError(t, err)
	require.PanicsWithValue(t, "classifier", func() { _, _ = inside(t, retryer(t, s), temporary{errors.New("lost")}) })
	require.Equal(t, map[retry.EventKind]int{retry.AttemptEnded: 1, retry.OperationEnded: 1}, ended)
}

func TestRefusalInsideAnErrorDoesNotCount(t *testing.T) {
	t.Parallel()
	refusal := &retry.Error{Reason: retry.ErrCanceled}
	require.True(t, isReason(refusal, retry.ErrCanceled))
	require.False(t, isReason(fmt.Errorf("wrapped: %w", error(&retry.Error{Reason: retry.ErrQuotaExhausted, Last: refusal})), retry.ErrAborted))
	require.False(t, isReason(&retry.Error{Reason: retry.ErrQuotaExhausted, Last: refusal}, retry.ErrCanceled))
}

// denying is a strategy that has no tokens.
type denying struct{ retry.Strategy }

func (denying) AcquireInitialToken(context.Context, retry.Operation) (retry.Token, error) {
	return retry.Token{}, errors.New("denied")
}

func TestWithoutATokenThereIsOneAttempt(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{})
	require.NoError(t, err)
	first := temporary{errors.New("first")}
	_, err = inside(t, retryer(t, denying{s}), first)
	require.ErrorIs(t, err, first)
	require.ErrorContains(t, err, "denied", "why it was not retried")
	_, err = inside(t, retryer(t, denying{s}), nil)
	require.NoError(t, err)
}

func TestCallDoesNotBeginAfterTheEndOfItsOperation(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{})
	require.NoError(t, err)
	for _, s := range []retry.Strategy{s, denying{s}} {
		r, err := newRetryer(s, options{operation: func(_ context.Context, op retry.Operation, _ any) retry.Operation {
			op.NotAfter = time.Unix(1, 0)
			return op
		}})
		require.NoError(t, err)
		made, err := inside(t, r)
		require.Nil(t, made, "no attempt")
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
	}
}
