package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/internal/command/trace"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func replayCommand() command {
	return command{
		name:     "replay",
		argument: "FILE",
		synopsis: "what a strategy does with a recorded trace",
		example:  "awsretry replay incident.json",
		notes:    replayNotes,
		define: func(*flags) func(context.Context, *call) error {
			return replay
		},
	}
}

const replayNotes = `FILE is a trace as JSON, or several one after the other; - is standard input. It
is replayed on a clock that only the trace moves, and prints one JSON object for
each step or operation; without --json a line before them names mode and
behavior. A trace is

  {"mode": "standard" or "adaptive", "behavior": "v2.1" or "v2.0", "start_s": 0,
   "given": {"max_attempts", "initial_quota", "quota_capacity", "jitter",
             "max_backoff_s", "service", "long_polling"},
   "steps": [...] or "operations": [...]}

with steps or operations of one of these forms:

  steps, {"request": "A", "response": R}
      The answer to an attempt of request A, at the instant it was sent.
      Without "request", a request takes steps until its outcome is not "retry".
  steps, {"t_s": 1.5, "throttled": true, "repeat": 3}
      An answer at t_s for the send rate of adaptive mode, three times.
  operations, {"start_s": 0, "latency_s": 0.1, "responses": [R, ...]}
      Operations one after the other, none before its start_s.

R is {"kind", "status", "error_code", "headers", "throttled_by"}. The kind is
success, transient, timeout, connect, throttling or clock_skew, or server or
client for a failure that is not retried; without it status and error_code
decide, and 2xx without error_code is a success. Only
the header x-amz-retry-after counts. throttled_by says what a throttle was
about, as [{"reach", "word", "quota"}, ...]; the reach is part, scope, wider,
other or unknown.

What is absent or null has its default: adaptive for the last two forms,
otherwise standard; v2.1; the service of --service; a jitter of 1, so that each
delay is the longest and each replay gives the same; initial_quota as the
capacity; else the strategy's default. Other members are ignored.
`

// replay plays the traces of a file, one after another.
func replay(ctx context.Context, c *call) error {
	traces, err := readTraces(c.argument, c.in, c.service)
	if err != nil {
		return err
	}
	if traces[0].Log {
		return &trace.Error{File: shownName(c.argument), Problem: "this is an access log, which says nothing of attempts: play it with awsretry simulate --trace"}
	}
	for i, t := range traces {
		if !c.json {
			if _, err := fmt.Fprintln(c.out, titleOf(t)); err != nil {
				return err
			}
		}
		play := c.replayResponses
		if t.Outcomes != nil {
			play = c.replayOutcomes
		}
		err := play(ctx, t)
		if wrong, ok := errors.AsType[*trace.Error](err); ok {
			wrong.File, wrong.Trace = shownName(c.argument), i+1
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// modeOf returns the mode of a trace.
func modeOf(t *trace.Trace) string {
	switch {
	case t.Mode != "":
		return t.Mode
	case t.Steps != nil:
		return trace.Standard
	default:
		return trace.Adaptive
	}
}

// titleOf describes the strategy that plays a trace.
func titleOf(t *trace.Trace) string {
	switch {
	case t.Outcomes != nil:
		return "send rate of adaptive mode, the same in every behavior"
	case t.Behavior == "":
		return modeOf(t) + " mode, behavior " + string(retry.V21) + ", the default"
	default:
		return modeOf(t) + " mode, behavior " + t.Behavior
	}
}

// stepLine is the output for a step with a response.
type stepLine struct {
	Request string         `json:"request,omitempty"`
	Attempt int            `json:"attempt"`
	Outcome string         `json:"outcome"`
	Delay   *trace.Seconds `json:"delay_s"`
	Quota   int            `json:"quota_after"`
	*rateLine
}

// rateLine is the output for a send rate.
type rateLine struct {
	MeasuredRate float64 `json:"measured_tx_rate"`
	FillRate     float64 `json:"fill_rate"`
	MaxCapacity  float64 `json:"max_capacity"`
	Tokens       float64 `json:"tokens"`
	Enabled      bool    `json:"enabled"`
}

// operationLine is the output for an operation.
type operationLine struct {
	Outcome      string          `json:"outcome"`
	Quota        int             `json:"quota_after"`
	SentAt       []trace.Seconds `json:"sent_at_s"`
	SendWait     []trace.Seconds `json:"send_wait_s"`
	End          trace.Seconds   `json:"end_t_s"`
	MeasuredRate *float64        `json:"measured_tx_rate,omitempty"`
	FillRate     *float64        `json:"fill_rate,omitempty"`
}

// replayResponses plays steps or operations, and prints a line for each.
func (c *call) replayResponses(ctx context.Context, t *trace.Trace) error {
	adapts, lines := modeOf(t) == trace.Adaptive, 0
	return sim.Replay(ctx, t, variantOf(t, adapts), func(d sim.Decision) error {
		field, i := "steps", lines
		if lines++; t.Operations != nil {
			field = "operations"
		}
		field = fmt.Sprintf("%s[%d]", field, i)
		outcome, err := outcomeOf(d.Err)
		switch {
		case trace.Seconds(d.At) > trace.MaxTime:
			return &trace.Error{Field: field, Problem: fmt.Sprintf("the time of the trace is beyond %s s", trace.MaxTime)}
		case errors.Is(d.Err, sim.ErrBeyond):
			made := len(d.Call.Attempts)
			return &trace.Error{Field: field + ".responses", Problem: fmt.Sprintf("there are %d, and the strategy asks for attempt %d", made-1, made)}
		case err != nil:
			return err
		case t.Operations != nil:
			return c.print(operationOf(t, d, outcome, adapts))
		default:
			return c.print(stepOf(t.Steps[i].Request, d, outcome, adapts))
		}
	})
}

func stepOf(request string, d sim.Decision, outcome string, adapts bool) stepLine {
	line := stepLine{Request: request, Attempt: d.Attempt, Outcome: outcome, Quota: d.State.Quota}
	if d.Delay > 0 || outcome == outcomeRetry {
		line.Delay = new(trace.Seconds(d.Delay))
	}
	if adapts {
		s := d.State
		line.rateLine = &rateLine{s.MeasuredRate, s.FillRate, s.SendCapacity, s.SendTokens, s.Limited}
	}
	return line
}

func operationOf(t *trace.Trace, d sim.Decision, outcome string, adapts bool) operationLine {
	line := operationLine{Outcome: outcome, Quota: d.State.Quota, End: trace.Seconds(d.At)}
	for _, a := range d.Call.Attempts {
		line.SentAt = append(line.SentAt, t.Start+trace.Seconds(a.Sent))
		line.SendWait = append(line.SendWait, trace.Seconds(a.SendWait))
	}
	if adapts {
		line.MeasuredRate, line.FillRate = &d.State.MeasuredRate, &d.State.FillRate
	}
	return line
}

const outcomeRetry = "retry"

// outcomeOf returns the word for a strategy's decision.
func outcomeOf(err error) (string, error) {
	switch refused, ok := errors.AsType[*retry.Error](err); {
	case err == nil:
		return "success", nil
	case errors.Is(err, sim.ErrRetried):
		return outcomeRetry, nil
	case !ok:
		return "not_retryable", nil
	case errors.Is(err, retry.ErrAttemptsExhausted):
		return "max_attempts_exceeded", nil
	case errors.Is(err, retry.ErrQuotaExhausted):
		return "quota_exceeded", nil
	default:
		return "", refused
	}
}

// variantOf returns the strategy of a trace.
func variantOf(t *trace.Trace, adapts bool) sim.Variant {
	return sim.Variant{New: func(p sim.Parts) (retry.Strategy, error) {
		config := standard.Config{
			Behavior: retry.Behavior(t.Behavior), Service: t.Given.Service,
			MaxAttempts: t.Given.Attempts(), MaxBackoff: time.Duration(t.Given.MaxBackoff),
			QuotaInitial: t.Given.InitialQuota, QuotaCapacity: t.Given.Capacity(),
			Clock: p.Clock, Random: p.Random, Observer: p.Observer,
		}
		if adapts {
			return adaptive.New(adaptive.Config{Standard: config})
		}
		return standard.New(config)
	}}
}

// replayOutcomes reports outcomes to a send rate, and prints a line for each.
func (c *call) replayOutcomes(_ context.Context, t *trace.Trace) error {
	at := func(s trace.Seconds) time.Time { return time.Unix(0, 0).Add(time.Duration(s)) }
	rate := sendrate.New(sendrate.Config{}, at(t.Start))
	for _, o := range t.Outcomes {
		for range o.Repeat {
			rate.Report(at(o.T), ratelimit.Response{Throttled: o.Throttled})
		}
		s := rate.State()
		if err := c.print(rateLine{s.MeasuredRate, s.FillRate, s.SendCapacity, s.SendTokens, s.Limited}); err != nil {
			return err
		}
	}
	return nil
}
