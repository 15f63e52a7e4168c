package classify_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestStatusOfEveryNumber(t *testing.T) {
	t.Parallel()
	judge := func(status int) classify.Verdict {
		return classify.Status().Classify(classify.Outcome{Err: statusError(status)})
	}
	got := map[int]classify.Verdict{}
	for status := -1; status <= 1000; status++ {
		if v := judge(status); v != (classify.Verdict{}) {
			got[status] = v
		}
	}
	require.Equal(t, map[int]classify.Verdict{
		429: classify.RetryAs(classify.Throttling),
		500: classify.RetryAs(classify.Transient),
		502: classify.RetryAs(classify.Transient),
		503: classify.RetryAs(classify.Transient),
		504: classify.RetryAs(classify.Transient),
	}, got)
	require.Equal(t, classify.Verdict{}, judge(math.MaxInt))
	require.Equal(t, classify.Verdict{}, judge(math.MinInt))
}

func TestOtherErrorsAreNoneOfTheClassifiersBusiness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		classifier classify.Classifier
		err        error
	}{
		{classify.Status(), codeError("SlowDown")},
		{classify.Status(), timeoutError{}},
		{classify.Code(), statusError(503)},
		{classify.Code(), timeoutError{}},
		{classify.Transport(), statusError(503)},
		{classify.Transport(), codeError("SlowDown")},
	} {
		require.Equal(t, classify.Verdict{}, c.classifier.Classify(classify.Outcome{Err: c.err}), "%s, %v", c.classifier.Name(), c.err)
	}
}
