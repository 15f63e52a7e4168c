package fleet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
)

// Simulations of the design found these traps. Each test fails without the rule against its trap.
// Package sim also plays waves of sales and runs that are shorter than the round trip.

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

// crowd is a fleet without members: it asks [fleet.Step] itself, uses the slots at their
// instants, and hears of the answers at once.
type crowd struct {
	state   string
	now     time.Time
	reply   fleet.Reply // the last one
	service float64     // what the service allows, per second, with a burst of 1 s
	tokens  float64
	slots   []slot // that are not due yet
	ask     fleet.Ask
}

type slot struct {
	due   time.Time
	epoch uint64
}

// crowdStep is the time between two asks.
const crowdStep = 20 * time.Millisecond

// newCrowd returns one that was throttled for the first time, and that sends at a rate of its own
// while the store learns. Every fifth attempt is throttled.
func newCrowd(service, own float64) *crowd {
	c := &crowd{now: time.Unix(1e9, 0), service: service, tokens: service, ask: fleet.Ask{Bad: 1}}
	c.call()
	for attempts := 0.0; c.reply.Rate == 0; attempts += own * crowdStep.Seconds() {
		if attempts >= 5 {
			c.ask.Bad, attempts = 1, 0
		}
		c.now = c.now.Add(crowdStep)
		c.ask.OK += 0.8 * own * crowdStep.Seconds()
		c.call()
	}
	return c
}

func (c *crowd) call() {
	c.state, c.reply = fleet.Step(c.state, c.now, c.ask)
	if c.reply.Epoch != c.ask.Epoch {
		c.ask = fleet.Ask{Epoch: c.reply.Epoch, Want: c.ask.Want}
	}
	c.ask.OK, c.ask.Bad = 0, 0
	for i := range c.reply.Slots {
		due := c.now.Add(c.reply.Start + time.Duration(i)*c.reply.Gap)
		c.slots = append(c.slots, slot{due, c.reply.Epoch})
	}
	c.ask.Want = max(c.ask.Want-float64(c.reply.Slots), 0)
}

// pass lets time pass in which the crowd wants so many slots a second, and returns how many
// attempts were accepted and throttled.
func (c *crowd) pass(d time.Duration, demand float64) (accepted, throttled float64) {
	for end := c.now.Add(d); c.now.Before(end); {
		c.now = c.now.Add(crowdStep)
		c.tokens = min(c.tokens+c.service*crowdStep.Seconds(), c.service)
		later := c.slots[:0]
		for _, s := range c.slots {
			switch {
			case s.due.After(c.now):
				later = append(later, s)
				continue
			case c.tokens >= 1:
				c.tokens--
				accepted++
			default:
				throttled++
				if s.epoch == c.ask.Epoch {
					c.ask.Bad++
				}
				continue
			}
			if s.epoch == c.ask.Epoch {
				c.ask.OK++
			}
		}
		c.slots = later
		c.ask.Want = min(c.ask.Want+demand*crowdStep.Seconds(), demand)
		c.call()
	}
	return accepted, throttled
}
