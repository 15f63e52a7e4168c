package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// forbids has the lowest priority and refuses every retry.
type forbids struct{}

func (forbids) Name() string                               { return "forbids" }
func (forbids) Classify(classify.Outcome) classify.Verdict { return classify.Forbidden() }
func (forbids) Priority() classify.Priority                { return classify.Before(classify.StatusPriority()) }

// mute has no opinion of anything.
type mute struct{}

func (mute) Name() string                               { return "mute" }
func (mute) Classify(classify.Outcome) classify.Verdict { return classify.None() }

func TestClassifiersOfOneCall(t *testing.T) {
	t.Parallel()
	const retried, final = 3, 1
	for _, c := range []struct {
		name   string
		op     classify.Classifier
		answer error
		want   int
	}{
		{"the strategy's, as nothing is added", classify.Add(), errServer, retried},
		{"the strategy's besides one that is added", classify.Add(mute{}), errServer, retried},
		{"one that is added", classify.Add(always{}), errClient, retried},
		{"one that is added and forbids", classify.Add(forbids{}), errServer, final},
		{"two that are added", classify.Add(always{}, forbids{}), errClient, final},
		{"a nil one", classify.Add(nil), errServer, retried},
		{"all are replaced by none", classify.NewChain(), errServer, final},
		{"all are replaced by one", mute{}, errServer, final},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				attempts := 0
				moving(t, clk, func() {
					op := retry.Operation{Classifier: c.op}
					_, _ = retry.Do(t.Context(), modes(t, clk, nil)[mode], op, func(context.Context) (int, error) {
						attempts++
						return 0, c.answer
					})
				})
				require.Equal(t, c.want, attempts)
			})
		}
	}
}
