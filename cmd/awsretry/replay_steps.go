package main

import (
	"context"

	"github.com/awsretry/awsretry/retry"
)

// stepLine is the output for a step with a response.
type stepLine struct {
	Request string        `json:"request,omitempty"`
	Attempt int           `json:"attempt"`
	Outcome string        `json:"outcome"`
	Delay   *exactSeconds `json:"delay_s"`
	Quota   int           `json:"quota_after"`
	*sendRateLine
}

// sendRateLine is the output for a send rate.
type sendRateLine struct {
	MeasuredRate float64 `json:"measured_tx_rate"`
	FillRate     float64 `json:"fill_rate"`
	MaxCapacity  float64 `json:"max_capacity"`
	Tokens       float64 `json:"tokens"`
	Enabled      bool    `json:"enabled"`
}

// step reads a step with a response and plays it.
func (p *player) step(ctx context.Context, r *traceReader) (*stepLine, error) {
	step, err := readStep(r)
	if err != nil {
		return nil, err
	}
	line, err := p.attempt(ctx, step.request, step.response.failure())
	if err != nil {
		return nil, err
	}
	return line, p.checkTime(r)
}

// recordedStep is a step with a response.
type recordedStep struct {
	request  string
	response response
}

func readStep(r *traceReader) (step recordedStep, err error) {
	answered := false
	present, err := r.object(func(member string) error {
		switch member {
		case "request":
			value, err := r.text()
			step.request = or(value, "")
			return err
		case "response":
			step.response = response{}
			return assign(&answered)(step.response.read(r))
		default:
			return r.skip()
		}
	})
	switch {
	case err != nil:
		return step, err
	case !present:
		return step, r.wrongType("an object", nil)
	case !answered:
		return step, r.failIn("response", "is missing")
	default:
		return step, nil
	}
}

// attempt makes the next attempt of a request. Its backoff begins when the retry is granted,
// whatever other requests do in the meantime.
func (p *player) attempt(ctx context.Context, name string, failure error) (*stepLine, error) {
	current, known := p.requests[name]
	if !known {
		token, err := p.strategy.AcquireInitialToken(ctx, p.op)
		if err != nil {
			return nil, err
		}
		current.token = token
	}
	if err := p.clock.Sleep(ctx, current.due.Sub(p.clock.Now())); err != nil {
		return nil, err
	}
	if err := current.token.WithoutDelay().Wait(ctx); err != nil {
		return nil, err
	}
	granted := p.clock.Now()
	outcome, next, err := p.answer(ctx, current.token, failure)
	if err != nil {
		return nil, err
	}
	if outcome == outcomeRetry {
		p.requests[name] = request{token: next, due: granted.Add(next.Delay())}
	} else {
		delete(p.requests, name)
	}
	return p.line(name, current.token.Attempt(), outcome, next), nil
}

func (p *player) line(name string, attempt int, outcome string, next retry.Token) *stepLine {
	state := p.state()
	line := &stepLine{Request: name, Attempt: attempt, Outcome: outcome, Quota: state.Quota}
	if outcome == outcomeRetry || next.Delay() > 0 {
		line.Delay = new(exactSeconds(next.Delay()))
	}
	if p.adaptive {
		line.sendRateLine = &sendRateLine{
			MeasuredRate: state.MeasuredRate, FillRate: state.FillRate,
			MaxCapacity: state.SendCapacity, Tokens: state.SendTokens, Enabled: state.Limited,
		}
	}
	return line
}
