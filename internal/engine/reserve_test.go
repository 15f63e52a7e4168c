package engine_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// awaited is a classifier that waits for its answer.
type awaited <-chan classify.Verdict

func (awaited) Name() string { return "awaited" }

func (a awaited) Classify(classify.Outcome) classify.Verdict { return <-a }

// A classifier of a program may take its time. An attempt that ends meanwhile, and the operations after it, do not wait
// for it, and what it made the strategy take goes back.
func TestAttemptEndsWhileItsRetryIsBeingReserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan classify.Verdict)
		s, _ := newStandard(t, func(c *standard.Config) {
			c.Classifier = awaited(answer)
		})
		begin := func() token.Token {
			tok, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			require.NoError(t, tok.Wait(t.Context()))
			return token.Token(tok)
		}
		quota := func() int { return s.Snapshot().Scopes[0].Quota }
		full, reserving := quota(), 0
		reserve := func(tok token.Token) (ended chan bool) {
			ended = make(chan bool, 1)
			go func() {
				ended <- tok.Ref().Owner().Reserve(tok.Ref(), errServer, 0, func() bool {
					reserving = quota()
					return false // it has ended by itself
				})
			}()
			synctest.Wait()
			return ended
		}

		ended := begin()
		reserved := reserve(ended)
		require.NoError(t, s.RecordSuccess(retry.Token(ended), retry.Result{}))
		next := begin() // which may have the record of the first
		answer <- classify.RetryAs(classify.Transient)
		require.False(t, <-reserved)
		require.Zero(t, reserving, "it was not asked")
		require.Equal(t, full, quota())

		reserved = reserve(next)
		answer <- classify.RetryAs(classify.Transient)
		require.False(t, <-reserved)
		require.Less(t, reserving, full)
		require.Equal(t, full, quota())
		require.NoError(t, s.RecordSuccess(retry.Token(next), retry.Result{}))
	})
}

// A loop may sleep the delay itself, and not wait for a send token.
func TestSendTokenThatWasReservedForALoopThatDoesNotWaitGoesBack(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	s, _ := play.Adaptive(t, l.use)
	tok := play.Sent(t, s)
	ref := token.Token(tok).Ref()
	require.True(t, ref.Owner().Reserve(ref, errServer, 0, func() bool { return true }))
	next, err := s.RefreshRetryToken(t.Context(), tok, errServer)
	require.NoError(t, err)
	_, err = s.RefreshRetryToken(t.Context(), next, errServer)
	require.NoError(t, err)
	require.Len(t, l.requests, 2)
	require.Len(t, l.given, 1)
}
