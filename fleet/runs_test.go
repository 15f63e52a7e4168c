package fleet

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func at(ms int) time.Time { return time.UnixMilli(int64(ms)) }

func runOf(first, gap, left int, epoch uint64) run {
	return run{next: at(first), gap: time.Duration(gap) * time.Millisecond, left: left, epoch: epoch}
}

func TestRunsGiveOutEachSlotWhenItIsDue(t *testing.T) {
	t.Parallel()
	var r runs
	r.Add(runOf(1000, 100, 2, 3))
	r.Add(runOf(1150, 100, 1, 4))
	r.Add(runOf(9000, 100, 0, 9)) // no slot at all
	for _, step := range []struct {
		now   int
		due   int // when the slot is due; 0: not known
		epoch uint64
		ok    bool
	}{
		{now: 999, due: 1000},
		{now: 1000, due: 1000, epoch: 3, ok: true},
		{now: 1000, due: 1100},
		{now: 1200, due: 1200, epoch: 3, ok: true},
		{now: 1200, due: 1200, epoch: 4, ok: true},
		{now: 1200},
	} {
		due, epoch, ok := r.Take(at(step.now), 1)
		require.Equal(t, step.ok, ok, step.now)
		require.Equal(t, step.epoch, epoch, step.now)
		if step.due == 0 {
			require.True(t, due.IsZero())
			continue
		}
		require.Equal(t, at(step.due), due)
	}
}

func TestRunsLoseSlotsThatAreLate(t *testing.T) {
	t.Parallel()
	var r runs
	r.Add(runOf(0, 100, 10, 1))
	require.InDelta(t, 10, r.InHand(at(499)), 0)
	require.InDelta(t, 9, r.InHand(at(500)), 0)
	require.InDelta(t, 5, r.InHand(at(900)), 0)
	require.InDelta(t, 0, r.InHand(at(1400)), 0)
}

func TestRunsOfOneInstant(t *testing.T) {
	t.Parallel()
	var r runs
	r.Add(runOf(0, 0, 3, 1))
	for range 3 {
		_, _, ok := r.Take(at(100), 1)
		require.True(t, ok)
	}
	_, _, ok := r.Take(at(100), 1)
	require.False(t, ok)
}

func TestRunsServeCostsOfMoreThanOne(t *testing.T) {
	t.Parallel()
	var r runs
	r.Add(runOf(0, 400, 2, 1))
	r.lifted = 5 // the first in line waits for them
	due, _, ok := r.Take(at(0), 5)
	require.False(t, ok)
	require.True(t, due.IsZero(), "the other three are not known yet")
	r.Add(runOf(800, 400, 4, 1))
	due, _, ok = r.Take(at(800), 5)
	require.False(t, ok)
	require.Equal(t, at(1600), due, "the fifth slot")
	_, _, ok = r.Take(at(1600), 5)
	require.True(t, ok, "the first one was not too late for the first in line")
	r.lifted = 0
	require.InDelta(t, 1, r.InHand(at(1600)), 0)
}

func TestRunsServeCostsOfLessThanOne(t *testing.T) {
	t.Parallel()
	var r runs
	r.Add(runOf(0, 1000, 2, 1))
	for range 4 {
		_, _, ok := r.Take(at(0), 0.25)
		require.True(t, ok)
	}
	due, _, ok := r.Take(at(0), 0.25)
	require.False(t, ok)
	require.Equal(t, at(1000), due)
	_, _, ok = r.Take(at(1000), 0.25)
	require.True(t, ok)
	require.InDelta(t, 0, r.InHand(at(1501)), 0, "what is left of a slot is lost as late as a slot")
}

func TestRunsTakeBackWhatWasNotUsed(t *testing.T) {
	t.Parallel()
	var r runs
	r.Add(runOf(0, 0, 1, 1))
	_, _, ok := r.Take(at(0), 1)
	require.True(t, ok)
	r.Give(at(10), 1)
	_, _, ok = r.Take(at(500), 1)
	require.True(t, ok)
	r.Give(at(500), 1)
	_, _, ok = r.Take(at(1001), 1)
	require.False(t, ok, "too late")
}

// However slots are taken, saved up, given back and lost, none is used twice, and none before
// it is due.
func TestRunsUseNoSlotTwice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 1))
		var r runs
		now, added, used := 0, 0, 0.0
		var due []int
		for range 5000 {
			now += random.IntN(120)
			switch random.IntN(6) {
			case 0:
				first, gap, left := now+random.IntN(300), random.IntN(100), random.IntN(6)
				r.Add(runOf(first, gap, left, 1))
				for i := range left {
					due = append(due, first+i*gap)
				}
				added += left
			case 1:
				r.lifted = float64(random.IntN(2) * random.IntN(8))
			default:
				cost := float64(1+random.IntN(12)) / 4
				if _, _, ok := r.Take(at(now), cost); ok {
					used += cost
					if random.IntN(3) == 0 {
						r.Give(at(now), cost)
						used -= cost
					}
				}
			}
			come := 0
			for _, d := range due {
				if d <= now {
					come++
				}
			}
			require.LessOrEqual(t, used, float64(come))
			require.LessOrEqual(t, used+r.InHand(at(now)), float64(added)+1e-9)
		}
		require.Greater(t, used, float64(added)/4)
	}
}

func TestRunsKeepOneSlotForAttemptsThatDoNotWait(t *testing.T) {
	t.Parallel()
	var r runs
	r.saveUntil = at(5000)
	r.Add(runOf(0, 100, 3, 1))
	require.InDelta(t, 1, r.InHand(at(4000)), 0)
	_, _, ok := r.Take(at(4999), 1)
	require.True(t, ok)
	r.Add(runOf(5000, 100, 3, 1))
	require.InDelta(t, 0, r.InHand(at(9000)), 0, "that is over")
}
