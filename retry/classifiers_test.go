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
	add, replace := retry.WithAddedClassifiers, retry.WithClassifier
	const retried, final = 3, 1
	for _, c := range []struct {
		name   string
		op     classify.Classifier
		opts   []retry.Option
		answer error
		want   int
	}{
		{"the strategy's, as nothing is added", nil, []retry.Option{add()}, errServer, retried},
		{"the strategy's besides one that is added", nil, []retry.Option{add(mute{})}, errServer, retried},
		{"one that is added", nil, []retry.Option{add(always{})}, errClient, retried},
		{"one that is added and forbids", nil, []retry.Option{add(forbids{})}, errServer, final},
		{"two that are added", nil, []retry.Option{add(always{}, forbids{})}, errClient, final},
		{"two that are added one by one", nil, []retry.Option{add(always{}), add(forbids{})}, errClient, final},
		{"a nil one", nil, []retry.Option{add(nil)}, errServer, retried},
		{"all are replaced by nobody", nil, []retry.Option{replace(classify.NewChain())}, errServer, final},
		{"all are replaced and one is added", nil, []retry.Option{replace(mute{}), add(always{})}, errServer, retried},
		{"what was added before is replaced too", nil, []retry.Option{add(always{}), replace(mute{})}, errServer, final},
		{"nil replaces nothing", nil, []retry.Option{add(always{}), replace(nil)}, errClient, retried},
		{"one is added to what the operation has", mute{}, []retry.Option{add(always{})}, errServer, retried},
		{"one is added to what the operation adds", classify.Add(forbids{}), []retry.Option{add(always{})}, errServer, final},
		{"what the operation adds", classify.Add(always{}), nil, errClient, retried},
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
					}, c.opts...)
				})
				require.Equal(t, c.want, attempts)
			})
		}
	}
}
