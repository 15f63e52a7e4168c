//go:build long

package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The figures are those that make fleet-tables prints, with room for single runs that are half as bad again.
func TestFleetReachesItsFigures(t *testing.T) {
	t.Parallel()
	const short = time.Second / 10
	fleet := func(rate float64, members int, burst time.Duration) run {
		return run{rate: rate, members: members, burst: burst}
	}
	hundred, ten := fleet(100, 100, time.Second), fleet(100, 10, time.Second)
	even, versions, tenth, far := hundred, hundred, fleet(100, 40, time.Second), fleet(100, 60, time.Second)
	even.even, versions.versions, tenth.starting, far.roundTrip = true, 2, 10, 110*time.Millisecond
	modest := fleet(100, 20, time.Second) // wants less than the service allows, and gives up after ten seconds
	modest.deadline, modest.wants = 10*time.Second, slices.Repeat([]demand{{rate: 4, workers: 1}}, 20)

	held := bounds{goodput: 0.93, throttled: 0.02} // a fleet without its store
	after := func(seconds float64) []bounds {
		return []bounds{{settled: seconds}, {goodput: 0.9, throttled: 0.05}}
	}
	for name, c := range map[string]reach{
		"nothing happens":                {hundred, steady, []bounds{{goodput: 0.97, throttled: 0.02, jain: 0.99, calls: 1.3 * 167}}},
		"with a short burst":             {fleet(100, 100, short), steady, []bounds{{goodput: 0.97, throttled: 0.02, jain: 0.99}}},
		"with one worker each":           {even, steady, []bounds{{throttled: 0.015, calls: 1.3 * 212}}},
		"with far more members than R":   {fleet(20, 400, time.Second), steady, []bounds{{goodput: 0.95, throttled: 0.025, calls: 80}}},
		"with two versions of the rules": {versions, steady, []bounds{{goodput: 0.95, throttled: 0.5}}}, // of twice the rate half is
		"from a starting rate of R/10":   {tenth, steady, []bounds{{}, {settled: 20}}},

		"R doubles":              {hundred, rateTimes(2, 1), []bounds{{goodput: 0.82, throttled: 0.0315, settled: 27}}},
		"R halves":               {hundred, rateTimes(0.5, 1), []bounds{{goodput: 0.95, throttled: 0.0705, settled: 10}}},
		"R x5":                   {fleet(20, 20, time.Second), rateTimes(5, 5), after(20)},
		"R x10":                  {fleet(20, 100, time.Second), rateTimes(10, 10), after(20)},
		"a brown-out at R 5":     {fleet(5, 20, time.Second), brownOut(5), after(60)},
		"a brown-out of a while": {fleet(20, 100, time.Second), brownOut(30), after(10)},
		"a brown-out":            {fleet(100, 20, time.Second), brownOut(1), after(10)},
		"a brown-out refuses":    {modest, brownOut(10), []bounds{{refused: 20}}},

		"the store refuses": {hundred, gone(false), []bounds{held, {goodput: 0.505, throttled: 0.0705}}},
		"the store hangs":   {hundred, gone(true), []bounds{held, {goodput: 0.505, throttled: 0.0705}}},
		// Members that are back first must not get the whole rate while the others still hold theirs: 0.66 R.
		"the store comes back":   {fleet(100, 100, short), gone(false), []bounds{{}, {goodput: 0.8}}},
		"the store is flushed":   {hundred, flushed, []bounds{{goodput: 0.95, throttled: 0.025}}},
		"a failover":             {ten, failover, []bounds{{goodput: 0.95, throttled: 0.02}}},
		"half are cut off":       {ten, halfCutOff, []bounds{{goodput: 0.95, throttled: 0.03}, {goodput: 0.95, throttled: 0.06}}},
		"a lull":                 {ten, lull, []bounds{{goodput: 0.95, throttled: 0.087}}},
		"all are replaced":       {hundred, replaced, []bounds{{goodput: 0.95, throttled: 0.0285}}},
		"fifty join ten":         {fleet(100, 60, time.Second), joined, []bounds{{throttled: 0.15}, {throttled: 0.05}}},
		"fifty join ten, 110 ms": {far, joined, []bounds{{throttled: 0.15}, {throttled: 0.05}}},
	} {
		t.Run(name, c.holds)
	}
}

// The service and the demand are those of the figures if members alone do as badly here.
func TestMembersAloneAreThrottledForAThird(t *testing.T) {
	t.Parallel()
	r := run{rate: 100, members: 100, even: true, burst: time.Second, alone: true}
	got := steady.play(t, r)[0]
	require.InDelta(t, 1, got.goodput, 0.01)
	require.InDelta(t, 0.36, got.throttled, 0.03)
}
