package main

import (
	"time"

	"github.com/awsretry/awsretry/ratelimit"
)

// maxRepeat limits the work of one step.
const maxRepeat = 1_000_000

// ratePlayer runs outcomes through a send rate, without a strategy. There are no send tokens and
// no backoff, and the time may go back.
type ratePlayer struct {
	zero time.Time
	rate ratelimit.SendRate
}

func newRatePlayer(start time.Duration) *ratePlayer {
	c := newReplayClock(start)
	return &ratePlayer{zero: c.zero, rate: ratelimit.NewSendRate(ratelimit.SendRateConfig{}, c.Now())}
}

// step reads a step with t_s and plays it.
func (p *ratePlayer) step(r *traceReader) (*sendRateLine, error) {
	var at *time.Duration
	throttled, repeat := false, 1
	present, err := r.object(func(member string) error {
		switch member {
		case "t_s":
			return assign(&at)(r.seconds())
		case "throttled":
			return assign(&throttled)(r.boolean())
		case "repeat":
			n, err := r.whole(1, maxRepeat)
			repeat = or(n, 1)
			return err
		default:
			return r.skip()
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !present:
		return nil, r.wrongType("an object", nil)
	case at == nil:
		return nil, r.failIn("t_s", "is missing")
	}
	for range repeat {
		p.rate.Report(p.zero.Add(*at), ratelimit.Response{Throttled: throttled})
	}
	state := p.rate.State()
	return &sendRateLine{
		MeasuredRate: float64(state.MeasuredRate), FillRate: float64(state.FillRate),
		MaxCapacity: state.Capacity, Tokens: state.Tokens, Enabled: state.Limited,
	}, nil
}
