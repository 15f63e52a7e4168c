package retry_test

import (
	"context"
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
