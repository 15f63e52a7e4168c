//go:build !386 && !arm && !mips && !mipsle

package quota_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/line"
	"github.com/awsretry/awsretry/internal/quota"
)

// A float would round 2^53 + 1 tokens to 2^53. An int of 32 bits has neither.
func TestWaiterPaysTheWholeCostOrNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 1 << 53
		q := quota.New(quota.Config{Capacity: most + 1, Initial: most + 1, Waits: true}, time.Now(), clock.System{})
		require.Equal(t, line.ErrWaitLimit, waitFor(t.Context(), q, most+1, time.Minute))
		require.Equal(t, most+1, q.Available())
		require.NoError(t, waitFor(t.Context(), q, most, time.Minute))
		require.Equal(t, 1, q.Available())
	})
}
