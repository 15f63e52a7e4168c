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

// take is a call of Take, and what it returns.
type take struct {
	now   int // ms
	cost  float64
	due   int // when the last slot that it needs is due; 0: not known
	epoch uint64
}

// play makes the calls; those with an epoch must get what they want.
func (r *runs) play(t *testing.T, calls ...take) {
	t.Helper()
	for _, c := range calls {
		due, epoch, ok := r.Take(at(c.now), c.cost)
		require.Equal(t, c.epoch > 0, ok, c)
		require.Equal(t, c.epoch, epoch, c)
		switch {
		case ok:
			require.Equal(t, at(c.now), due, c)
		case c.due == 0:
			require.True(t, due.IsZero(), c)
		default:
			require.Equal(t, at(c.due), due, c)
		}
	}
}

func TestRunsGiveOutEachSlotWhenItIsDue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list   []run
		lifted float64
		calls  []take
	}{
		"one after the other": {
			list: []run{runOf(1000, 100, 2, 3), runOf(1150, 100, 1, 4), runOf(9000, 100, 0, 9)}, // the last has no slot at all
			calls: []take{
				{999, 1, 1000, 0},
				{1000, 1, 0, 3},
				{1000, 1, 1100, 0},
				{1200, 1, 0, 3},
				{1200, 1, 0, 4},
				{1200, 1, 0, 0},
			},
		},
		"of one instant": {
			list:  []run{runOf(0, 0, 3, 1)},
			calls: []take{{100, 1, 0, 1}, {100, 1, 0, 1}, {100, 1, 0, 1}, {100, 1, 0, 0}},
		},
		"of two runs at the later one": {
			list:  []run{runOf(400, 0, 1, 1), runOf(300, 0, 1, 1)},
			calls: []take{{0, 1, 400, 0}, {0, 2, 400, 0}, {400, 2, 0, 1}},
		},
		"saved for the first in line": {
			list: []run{runOf(0, 400, 2, 1), runOf(800, 400, 4, 1)}, lifted: 5,
			calls: []take{{0, 7, 0, 0}, {800, 5, 1600, 0}, {1600, 5, 0, 1}, {1600, 1, 2000, 0}},
		},
		"in parts, which are lost as late": {
			list: []run{runOf(0, 1000, 2, 1)},
			calls: []take{
				{0, 0.25, 0, 1}, {0, 0.5, 0, 1}, {0, 0.25, 0, 1}, {0, 0.25, 1000, 0}, {1000, 0.25, 0, 1}, {1500, 0.25, 0, 1}, {2001, 0.25, 0, 0},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runs{lifted: c.lifted}
			for _, run := range c.list {
				r.Add(run)
			}
			r.play(t, c.calls...)
		})
	}
}

func TestRunsLoseSlotsThatAreLate(t *testing.T) {
	t.Parallel()
	var r runs
	r.Add(runOf(0, 100, 10, 1))
	for now, left := range map[int]float64{499: 10, 500: 9, 900: 5, 1400: 0} {
		copied := runs{list: append([]run(nil), r.list...)}
		require.InDelta(t, left, copied.InHand(at(now)), 0, now)
	}

	r.saveUntil = at(5000) // one for an attempt that does not wait
	require.InDelta(t, 1, r.InHand(at(4000)), 0)
	r.play(t, take{4999, 1, 0, 1})
	r.Add(runOf(5000, 100, 3, 1))
	require.InDelta(t, 0, r.InHand(at(9000)), 0, "that is over")
}

func TestRunsTakeBackWhatWasNotUsed(t *testing.T) {
	t.Parallel()
	var r runs
	r.Add(runOf(0, 0, 1, 1))
	r.play(t, take{0, 1, 0, 1})
	r.Give(at(10), 1)
	r.play(t, take{500, 1, 0, 1})
	r.Give(at(500), 1)
	r.play(t, take{1001, 1, 0, 0}) // too late
}

// However slots are taken, saved up, given back and lost, none is used twice, and none before
// it is due.
func TestRunsUseNoSlotTwice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var r runs
		now, added, used := 0, 0, 0.0
		var due []int
		for range 500 {
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
