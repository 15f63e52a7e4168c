package instant_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/instant"
)

// A wait must be over before the deadline, less the room, and may be over at the last instant. The earlier of two ends counts.
func TestEndThatAWaitMisses(t *testing.T) {
	t.Parallel()
	const none = time.Duration(0)
	now := time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		deadline, room, last, wait time.Duration
		want                       instant.End
	}{
		{none, none, none, 1 << 62, instant.InTime},
		{10, none, none, 9, instant.InTime},
		{10, none, none, 10, instant.Deadline},
		{10, 3, none, 6, instant.InTime},
		{10, 3, none, 7, instant.Deadline},
		{10, 8, none, 4, instant.InTime}, // half of the time is enough
		{10, 8, none, 5, instant.Deadline},
		{none, none, 10, 10, instant.InTime},
		{none, none, 10, 11, instant.Last},
		{20, none, 10, 15, instant.Last},
		{20, none, 10, 30, instant.Last},
		{10, none, 20, 15, instant.Deadline},
		{10, none, 20, 30, instant.Deadline},
		{10, none, 10, 10, instant.Deadline},
		{10, none, 10, 30, instant.Deadline},
		{20, 8, 15, 18, instant.Deadline}, // which leaves room until 12
		{-5, none, none, 0, instant.Deadline},
		{none, none, -5, 0, instant.Last},
	} {
		ctx, last := context.Background(), time.Time{}
		if c.deadline != none {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, now.Add(c.deadline))
			defer cancel()
		}
		if c.last != none {
			last = now.Add(c.last)
		}
		require.Equal(t, c.want, instant.EndsOf(ctx, now, last, c.room).Missed(now, c.wait), "%+v", c)
	}
}
