package main

import (
	"context"
	"time"
)

// operationLine is the output for an operation.
type operationLine struct {
	Outcome      string         `json:"outcome"`
	Quota        int            `json:"quota_after"`
	SentAt       []exactSeconds `json:"sent_at_s"`
	SendWait     []exactSeconds `json:"send_wait_s"`
	End          exactSeconds   `json:"end_t_s"`
	MeasuredRate *float64       `json:"measured_tx_rate,omitempty"`
	FillRate     *float64       `json:"fill_rate,omitempty"`
}

// recorded is an operation of a trace.
type recorded struct {
	start, latency time.Duration
	responses      []response
}

// operation reads an operation and plays it.
func (p *player) operation(ctx context.Context, r *traceReader) (*operationLine, error) {
	op, err := readOperation(r)
	if err != nil {
		return nil, err
	}
	if err := p.clock.Sleep(ctx, op.start-p.clock.elapsed()); err != nil {
		return nil, err
	}
	line, err := p.operate(ctx, r, op)
	if err != nil {
		return nil, err
	}
	return line, p.checkTime(r)
}

func readOperation(r *traceReader) (op recorded, err error) {
	present, err := r.object(func(member string) error { return op.member(r, member) })
	switch {
	case err != nil:
		return op, err
	case !present:
		return op, r.wrongType("an object", nil)
	case op.responses == nil:
		return op, r.failIn("responses", "is missing")
	default:
		return op, nil
	}
}

func (op *recorded) member(r *traceReader, name string) error {
	switch name {
	case "start_s":
		start, err := r.seconds()
		op.start = or(start, 0)
		return err
	case "latency_s":
		latency, err := r.seconds()
		op.latency = or(latency, 0)
		return err
	case "responses":
		op.responses = nil
		present, err := r.list(func(int) error {
			var got response
			present, err := got.read(r)
			if err == nil && !present {
				err = r.wrongType("an object", nil)
			}
			op.responses = append(op.responses, got)
			return err
		})
		if present && op.responses == nil {
			op.responses = []response{}
		}
		return err
	default:
		return r.skip()
	}
}

// operate makes the attempts of an operation, as retry.Do does.
func (p *player) operate(ctx context.Context, r *traceReader, op recorded) (*operationLine, error) {
	line := &operationLine{}
	token, err := p.strategy.AcquireInitialToken(ctx, p.op)
	if err != nil {
		return nil, err
	}
	for _, got := range op.responses {
		asked := p.clock.elapsed()
		if err := token.Wait(ctx); err != nil {
			return nil, err
		}
		sent := p.clock.elapsed()
		line.SentAt = append(line.SentAt, exactSeconds(sent))
		line.SendWait = append(line.SendWait, exactSeconds(sent-asked-token.Delay()))
		if err := p.clock.Sleep(ctx, op.latency); err != nil {
			return nil, err
		}
		outcome, next, err := p.answer(ctx, token, got.failure())
		if err != nil {
			return nil, err
		}
		if outcome != outcomeRetry {
			line.Outcome = outcome
			p.finish(line)
			return line, nil
		}
		token = next
	}
	return nil, r.failIn("responses", "there are %d, and the strategy asks for attempt %d", len(op.responses), len(op.responses)+1)
}

// finish adds what is known when the operation has ended.
func (p *player) finish(line *operationLine) {
	state := p.state()
	line.Quota, line.End = state.Quota, exactSeconds(p.clock.elapsed())
	if p.adaptive {
		line.MeasuredRate, line.FillRate = &state.MeasuredRate, &state.FillRate
	}
}
