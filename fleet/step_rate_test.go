package fleet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
)

// The traps that the simulation of the design found, each without the rule against it. Those of
// waves and of runs that are shorter than the round trip have a run of the simulation besides.

// limited is a state of Step whose rate was cut to 90 a second when cut is zero, and the instant
// of the cut.
func limited(t *testing.T) (state string, cut time.Time) {
	t.Helper()
	cut = time.Unix(1e9, 0)
	state, _ = fleet.Step("", cut, fleet.Ask{Starting: 100})
	// A starting rate counts as the plateau, so that the cut is one of 10 %.
	state, _ = fleet.Step(state, cut, fleet.Ask{Starting: 100, Epoch: 3, OK: 5, Bad: 1})
	_, reply := fleet.Step(state, cut, fleet.Ask{})
	require.Equal(t, uint64(4), reply.Epoch)
	require.InDelta(t, 90, reply.Rate, 0.01)
	return state, cut
}

// passing makes asks that report nothing, so that time counts, as it does up to a second between
// two calls.
func passing(state string, from time.Time, d time.Duration) (next string, now time.Time) {
	const step = 100 * time.Millisecond
	for now = from; now.Before(from.Add(d)); {
		now = now.Add(step)
		state, _ = fleet.Step(state, now, fleet.Ask{})
	}
	return state, now
}

func TestAHandfulOfAnswersDoesNotHalveTheRate(t *testing.T) {
	t.Parallel()
	state, cut := limited(t)
	state, now := passing(state, cut, 1400*time.Millisecond)
	_, reply := fleet.Step(state, now, fleet.Ask{Epoch: 4, OK: 1, Bad: 1})
	require.Equal(t, uint64(4), reply.Epoch, "two answers say nothing")
	_, reply = fleet.Step(state, now, fleet.Ask{Epoch: 4, OK: 2, Bad: 2})
	require.Equal(t, uint64(5), reply.Epoch)
	require.Greater(t, reply.Rate, 70.0, "half of the answers were throttled, but there were four")
}

func TestThrottlesAreCountedBeforeTheNextCut(t *testing.T) {
	t.Parallel()
	state, cut := limited(t)
	state, now := passing(state, cut, 1100*time.Millisecond)
	state, reply := fleet.Step(state, now, fleet.Ask{Epoch: 4, Bad: 1})
	require.Equal(t, uint64(4), reply.Epoch, "the share of throttled answers is not known yet")
	state, now = passing(state, now, 100*time.Millisecond)
	_, reply = fleet.Step(state, now.Add(200*time.Millisecond), fleet.Ask{Epoch: 4, OK: 99})
	require.Equal(t, uint64(5), reply.Epoch)
	require.InDelta(t, 90*0.97, reply.Rate, 2, "one of a hundred, so the cut is one of 10 %")
}

func TestAnswersOfSlotsThatWereSoldBeforeTheCutDoNotCutAgain(t *testing.T) {
	t.Parallel()
	state, cut := limited(t)
	state, now := passing(state, cut, 900*time.Millisecond)
	state, _ = fleet.Step(state, now, fleet.Ask{Epoch: 4, OK: 50, Bad: 50})
	state, now = passing(state, now, 600*time.Millisecond)
	state, reply := fleet.Step(state, now, fleet.Ask{Epoch: 3, OK: 50, Bad: 50})
	require.Equal(t, uint64(4), reply.Epoch)
	_, now = passing(state, now, 600*time.Millisecond)
	_, reply = fleet.Step(state, now, fleet.Ask{})
	require.Equal(t, uint64(4), reply.Epoch)
}

func TestAFleetThatWasCutToItsFloorsFindsTheRate(t *testing.T) {
	t.Parallel()
	const service = 500
	c := newCrowd(service, 2)
	require.Less(t, c.reply.Rate, 0.02*service, "learned from two members at their floors")
	c.pass(40*time.Second, 5*service)
	accepted, throttled := c.pass(10*time.Second, 5*service)
	require.Greater(t, accepted, 0.9*10*service)
	require.Less(t, throttled/(accepted+throttled), 0.05)
}

func TestTheRateDoesNotGrowWhileItIsNotUsed(t *testing.T) {
	t.Parallel()
	const service = 500
	c := newCrowd(service, service)
	c.pass(time.Minute, 5*service)
	before := c.reply.Rate
	c.pass(2*time.Minute, service/10)
	require.Less(t, c.reply.Rate, 1.2*before)
	accepted, throttled := c.pass(10*time.Second, 5*service)
	require.Less(t, throttled/(accepted+throttled), 0.1)
}

// A climb that looks for a limit ends at a throttle, and little demand has none.
func TestAClimbDoesNotGoOnWhileItIsNotUsed(t *testing.T) {
	t.Parallel()
	const service = 1000
	c := newCrowd(service, service/10)
	c.pass(5*time.Minute, service/10)
	require.Less(t, c.reply.Rate, float64(service))
	accepted, throttled := c.pass(10*time.Second, 10*service)
	require.Less(t, throttled/(accepted+throttled), 0.2)
}

// A member alone with the service may get no run that is longer than its way to the store and
// back. It asks again as soon as its run is sold.
func TestRunsShorterThanTheRoundTripKeepMostOfTheRate(t *testing.T) {
	t.Parallel()
	const rate, roundTrip, calls = 1000, 60 * time.Millisecond, 200
	state, now := "", time.Unix(1e9, 0)
	var reply fleet.Reply
	sold := 0
	for range calls {
		state, reply = fleet.Step(state, now, fleet.Ask{Starting: rate, Ceiling: rate, Epoch: 3, OK: rate * roundTrip.Seconds(), Want: 5 * rate})
		sold += reply.Slots
		now = now.Add(roundTrip)
	}
	require.Greater(t, float64(sold), 0.75*rate*calls*roundTrip.Seconds())
}

// Sales come in waves. A run in one piece would hand the wave on to the next answers.
func TestARunIsSpreadOverTheTimeThatIsSoldAlready(t *testing.T) {
	t.Parallel()
	const rate = 100
	state, now := "", time.Unix(1e9, 0)
	var reply fleet.Reply
	for sold := 0.0; sold < 0.2; sold += float64(reply.Slots) / rate {
		state, reply = fleet.Step(state, now, fleet.Ask{Starting: rate, Want: 100})
	}
	_, reply = fleet.Step(state, now, fleet.Ask{Starting: rate, Want: 100})
	require.Greater(t, reply.Slots, 1)
	length := reply.Start + time.Duration(reply.Slots)*reply.Gap
	require.Greater(t, length, 200*time.Millisecond)
}

func TestAsksThatAreRefusedTogetherDoNotComeBackTogether(t *testing.T) {
	t.Parallel()
	const rate, members = 10, 100
	state, now := "", time.Unix(1e9, 0)
	var reply fleet.Reply
	var again []time.Duration
	for range members {
		state, reply = fleet.Step(state, now, fleet.Ask{Starting: rate, Want: 1})
		if reply.Slots == 0 {
			again = append(again, reply.Again)
		}
	}
	require.Greater(t, len(again), members*9/10)
	for i := range again[1:] {
		gap := again[i+1] - again[i]
		if again[i+1] < 9*time.Second {
			require.InDelta(t, 1.0/rate, gap.Seconds(), 0.2/rate, "appointments are about as far apart as slots")
		}
	}
}
