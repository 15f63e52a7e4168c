package awssdk

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

func TestLongPollsAreThoseOfTheCrossChecks(t *testing.T) {
	t.Parallel()
	for _, poll := range vectors.ReadCrossChecks(t).LongPolls {
		require.Equal(t, poll.LongPoll, isLongPolling(poll.Service, poll.Operation), poll.ID)
	}
}
