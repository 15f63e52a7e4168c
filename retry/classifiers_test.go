package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// mute has no opinion of anything.
type mute struct{}

func (mute) Name() string                               { return "mute" }
func (mute) Classify(classify.Outcome) classify.Verdict { return classify.Verdict{} }

func TestAVerdictThatTheErrorCarriesCountsBeforeAllClassifiers(t *testing.T) {
	t.Parallel()
	judged := func(v classify.Verdict) error { return &classify.JudgedError{Verdict: v, Err: errServer} }
	again, forbidden := classify.RetryAs(classify.Client), classify.Forbidden()
	const retried, final = 3, 1
	for _, c := range []struct {
		name   string
		op     classify.Classifier
		answer error
		want   int
	}{
		{"a retry", nil, judged(again), retried},
		{"a retry, against the classifier of the operation", never{}, judged(again), retried},
		{"a retry, against what is added", classify.Also(never{}), judged(again), retried},
		{"a retry below a wrapping", never{}, fmt.Errorf("call: %w", judged(again)), retried},
		{"no retry", nil, judged(forbidden), final},
		{"no retry, against the classifier of the operation", always{}, fmt.Errorf("call: %w", judged(forbidden)), final},
		{"no retry below another loop", always{}, &retry.Error{Reason: retry.ErrAttemptsExhausted, Last: judged(forbidden)}, retried},
		{"no retry of one of two errors", always{}, errors.Join(errServer, judged(forbidden)), retried},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, attemptsFor(t, mode, c.op, c.answer))
			})
		}
	}
}

// attemptsFor returns how many attempts an operation makes that always gets the answer.
func attemptsFor(t *testing.T, mode string, op classify.Classifier, answer error) (attempts int) {
	t.Helper()
	clk := &clock.Fake{}
	clk.Run(func() {
		operation := retry.Operation{Classifier: op}
		_, _ = retry.Do(t.Context(), modes(t, clk, nil)[mode], operation, func(context.Context) (int, error) {
			attempts++
			return 0, answer
		})
	})
	return attempts
}

func TestClassifiersOfOneOperation(t *testing.T) {
	t.Parallel()
	const retried, final = 3, 1
	for _, c := range []struct {
		name   string
		op     classify.Classifier
		answer error
		want   int
	}{
		{"those of the strategy retry", nil, errServer, retried},
		{"those of the strategy do not", nil, errClient, final},
		{"another one replaces them", always{}, errClient, retried},
		{"another one replaces them and has no opinion", mute{}, errServer, final},
		{"none replaces them", classify.NewChain(), errServer, final},
		{"nothing is added", classify.Also(), errServer, retried},
		{"nil is added", classify.Also(nil), errServer, retried},
		{"one without an opinion is added", classify.Also(mute{}), errServer, retried},
		{"one that retries is added", classify.Also(always{}), errClient, retried},
		{"one that forbids is added", classify.Also(never{}), errServer, final},
		{"two are added", classify.Also(always{}, never{}), errClient, final},
		{"one is added to what replaces them", classify.NewChain(mute{}, always{}), errServer, retried},
		{"one is added to what is added", classify.Also(classify.Also(never{}), always{}), errServer, final},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, attemptsFor(t, mode, c.op, c.answer))
			})
		}
	}
}
