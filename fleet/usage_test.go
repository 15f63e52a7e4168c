package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUsageCountsTheLastSeconds(t *testing.T) {
	t.Parallel()
	for _, began := range []time.Time{at(0), time.Unix(-1e9, 0)} {
		var u usage
		for i := range 200 { // ten a second for twenty seconds
			u.Add(began.Add(time.Duration(i)*100*time.Millisecond), 1)
		}
		now := began.Add(19_900 * time.Millisecond)
		require.InDelta(t, 10, u.Sum(now, time.Second), 0)
		require.InDelta(t, 100, u.Sum(now, 10*time.Second), 0)
		require.InDelta(t, 50, u.Sum(now.Add(5*time.Second), 10*time.Second), 0)
		u.Add(now.Add(-time.Minute), 1) // a clock that goes back
		require.InDelta(t, 1, u.Sum(now, time.Second), 0, "counts as now, which is five seconds later")
		require.InDelta(t, 0, u.Sum(now.Add(time.Hour), 10*time.Second), 0)
	}
}

func TestWhatIsGivenBackWasNotSent(t *testing.T) {
	t.Parallel()
	var m member
	_, ok := m.Take(at(0), 3)
	require.True(t, ok)
	m.Give(at(10), 3)
	require.Zero(t, m.own(at(10)))
}
