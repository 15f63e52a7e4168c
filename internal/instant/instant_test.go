package instant_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
)

func TestReadingsLieBetweenThoseOfTheSystem(t *testing.T) {
	t.Parallel()
	readings := instant.NewReadings(clock.System{})
	for range 1000 {
		before := time.Now()
		got := readings.Now()
		after := time.Now()
		require.False(t, got.Before(before))
		require.False(t, got.After(after))
		require.Contains(t, got.String(), " m=", "the monotonic part is there")
	}
}

// A strategy may be built outside of a bubble and used inside.
func TestReadingsMadeOutsideOfABubbleFollowItsTime(t *testing.T) {
	t.Parallel()
	readings := instant.NewReadings(clock.System{})
	synctest.Test(t, func(t *testing.T) {
		start, direct := readings.Now(), time.Now()
		require.Zero(t, start.Sub(direct), "the two can be compared")
		require.NoError(t, clock.System{}.Sleep(t.Context(), time.Minute))
		require.Equal(t, time.Minute, readings.Now().Sub(start))
		require.Equal(t, time.Minute, readings.Now().Sub(direct))
		mark := readings.Mark()
		require.NoError(t, clock.System{}.Sleep(t.Context(), time.Hour))
		require.Equal(t, time.Hour, readings.Since(mark))
	})
}

func TestReadingsOfAnotherClockAreItsOwn(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	readings := instant.NewReadings(clk)
	require.Equal(t, clk.Now(), readings.Now())
	mark := readings.Mark()
	clk.Advance(time.Hour)
	require.Equal(t, clk.Now(), readings.Now())
	require.Equal(t, time.Hour, readings.Since(mark))
}

func TestInstantsThatAreFarApartAreOfTwoClocks(t *testing.T) {
	t.Parallel()
	newest := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		now  time.Time
		want bool
	}{
		{newest, false},
		{newest.Add(-365 * 24 * time.Hour), false},
		{newest.Add(-365*24*time.Hour - 1), true},
		{newest.Add(math.MaxInt64), false},
		{newest.Add(math.MaxInt64).Add(2), true},
		{time.Time{}, true},
	} {
		require.Equal(t, tt.want, instant.OfAnotherClock(tt.now, newest), tt.now)
	}
	require.True(t, instant.OfAnotherClock(newest, time.Time{}))
}

func BenchmarkReading(b *testing.B) {
	readings := instant.NewReadings(clock.System{})
	for name, read := range map[string]func(){
		"System.Now":    func() { _ = clock.System{}.Now() },
		"Readings.Now":  func() { _ = readings.Now() },
		"Readings.Mark": func() { _ = readings.Mark() },
	} {
		b.Run("of="+name, func(b *testing.B) {
			for b.Loop() {
				read()
			}
		})
	}
}

func TestClockThatHasGoneBackIsToldFromALateCaller(t *testing.T) {
	t.Parallel()
	newest := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for back, want := range map[time.Duration]bool{
		-time.Hour: false, 0: false, time.Second: false, 5 * time.Second: false, 5*time.Second + 1: true, time.Hour: true,
	} {
		require.Equal(t, want, instant.WentBack(newest.Add(-back), newest), "%v", back)
	}
}

func TestForwardNeverGoesBack(t *testing.T) {
	t.Parallel()
	const second = time.Second
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var forward instant.Forward
	for _, tt := range []struct {
		what            string
		reading, passed time.Duration
	}{
		{"begins at the first reading", 0, 0},
		{"goes on", 10 * second, 10 * second},
		{"stands still for a reading that is late", 5 * second, 10 * second},
		{"goes on from there", 12 * second, 12 * second},
		{"stands still when the clock goes back", -time.Hour, 12 * second},
		{"and goes on from there", -time.Hour + second, 13 * second},
		{"also the second time", -24 * time.Hour, 13 * second},
		{"and as fast as the clock", -23 * time.Hour, 13*second + time.Hour},
		{"also when the clock is set right again", 0, 13*second + 24*time.Hour},
	} {
		now := forward.At(start.Add(tt.reading))
		require.Equal(t, tt.passed, now.Sub(start), tt.what)
		if tt.reading != 5*second { // which is late
			require.Equal(t, start.Add(tt.reading), forward.Reading(now), tt.what)
		}
		require.Equal(t, now, forward.Of(forward.Reading(now)), tt.what)
	}
	require.Zero(t, forward.Reading(time.Time{}))
	require.Zero(t, forward.Of(time.Time{}))
}

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
