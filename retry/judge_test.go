package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

func TestStrategyJudgesWithoutAnOperation(t *testing.T) {
	t.Parallel()
	forBothObserved(t, nil, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
		t.Helper()
		before := s.Snapshot()
		require.Equal(t, classify.RetryAs(classify.Transient), s.Judge(retry.Operation{}, errServer))
		require.Equal(t, classify.RetryAs(classify.Throttling), s.Judge(table("orders"), errThrottled))
		require.False(t, s.Judge(retry.Operation{}, errClient).Retryable())
		require.False(t, s.Judge(retry.Operation{}, context.Canceled).Retryable())
		require.True(t, s.Judge(retry.Operation{}, retry.Permanent(errServer)).Forbids())
		own := retry.Operation{Classifier: judging{new(int)}}
		require.Equal(t, classify.RetryAs(classify.Throttling), s.Judge(own, errClient))
		require.Empty(t, r.events)
		require.Equal(t, before, s.Snapshot())
	})
}
