package sendrate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// The zero time is more than a Duration away from any time that a clock shows.
func TestSendRateThatBeginsCenturiesAgoBeginsWhenItIsFirstUsed(t *testing.T) {
	t.Parallel()
	for _, start := range []time.Time{{}, time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)} {
		for _, config := range []sendrate.Config{
			{},
			{StartingRate: 20},
			{Ceiling: 30},
			{Controller: ratelimit.Steady},
		} {
			late, fresh := sendrate.New(config, start), sendrate.New(config, at(100))
			_, lateOK := late.Take(at(100), 1)
			_, freshOK := fresh.Take(at(100), 1)
			require.Equal(t, freshOK, lateOK)
			for i := range 400 {
				r := ratelimit.Response{Throttled: i == 100}
				now := at(100 + float64(i)/20)
				require.Equal(t, fresh.Report(now, r), late.Report(now, r))
				require.Equal(t, fresh.State(), late.State(), "%+v from %v, answer %d", config, start, i)
			}
			require.Greater(t, float64(late.Fill()), 10.0)
		}
	}
}
