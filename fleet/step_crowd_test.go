package fleet_test

import (
	"time"

	"github.com/awsretry/awsretry/fleet"
)

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
