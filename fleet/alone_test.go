package fleet

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAloneHoldsTheRate(t *testing.T) {
	t.Parallel()
	var a alone
	a.begin(at(0), 10, 0.5)
	due, ok := a.Take(at(0), 1)
	require.False(t, ok)
	require.Equal(t, at(50), due, "half of a tenth of a second")
	taken := 0
	for ms := range 60_000 {
		if _, ok := a.Take(at(ms), 1); ok {
			taken++
		}
	}
	require.Equal(t, 600, taken)
}

func TestAloneFallsWithThrottles(t *testing.T) {
	t.Parallel()
	var a alone
	a.begin(at(0), 10, 0)
	require.False(t, a.Throttle(at(10), at(-5)), "sent before the loss")
	require.True(t, a.Throttle(at(1000), at(900)))
	require.InDelta(t, 7, a.Rate(at(1000)), 1e-9)
	require.False(t, a.Throttle(at(1100), at(950)), "sent before the cut")
	require.InDelta(t, 8.5, a.Rate(at(6000)), 1e-9)
	require.True(t, a.Throttle(at(6000), at(5000)))
	require.InDelta(t, 8.5*0.7, a.Rate(at(6000)), 1e-9)
	require.InDelta(t, 10, a.Rate(at(16_000)), 1e-9)
}

func TestAloneAsksForMoreAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	var a alone
	a.begin(at(0), 10, 0)
	for minutes, rate := range map[int]float64{4: 10, 5: 20, 9: 20, 10: 40, 15: 80} {
		require.InDelta(t, rate, a.Rate(at(minutes*60_000)), 1e-9)
	}
	require.False(t, math.IsInf(a.Rate(at(0).Add(1<<62)), 0))
}

func TestAloneIsNotZeroForAMemberThatHasSentNothing(t *testing.T) {
	t.Parallel()
	var a alone
	a.begin(at(0), 0, 1)
	due, ok := a.Take(at(0), 1)
	require.False(t, ok)
	require.Equal(t, at(10_000), due)
}

func TestAloneSavesUpHalfASecondAtMost(t *testing.T) {
	t.Parallel()
	var a alone
	a.begin(at(0), 10, 0)
	taken := 0
	for {
		if _, ok := a.Take(at(60_000), 1); !ok {
			break
		}
		taken++
	}
	require.Equal(t, 6, taken, "five of half a second, and one")
	a.Give(at(60_000), 1)
	_, ok := a.Take(at(60_000), 1)
	require.True(t, ok, "what is given back")
}

func TestMemberThatIsBackAsksForNoMoreThanItHasSentAlone(t *testing.T) {
	t.Parallel()
	var a alone
	require.Equal(t, at(3), a.Again(at(3), 5), "the store was never lost")
	a.begin(at(0), 10, 0)
	a.Back(at(60_000))
	require.Equal(t, at(60_500), a.Again(at(60_000), 5))
	require.Equal(t, at(62_500), a.Again(at(62_000), 50), "by then the others are back")
	require.Equal(t, at(63_000), a.Again(at(63_000), 50))
}
