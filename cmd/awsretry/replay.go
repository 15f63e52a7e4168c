package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

func replayCommand() command {
	return command{
		name:     "replay",
		argument: "FILE",
		synopsis: "what a strategy does with the responses of a recorded trace",
		example:  "awsretry replay incident.json",
		notes:    replayNotes,
		define: func(*flags) func(context.Context, *call) error {
			return replay
		},
	}
}

const replayNotes = `FILE is a trace as JSON, or several one after the other; - is standard input. It
is replayed on a clock that only moves by what the trace says, and prints one
JSON object for each step or operation; without --json a line before them says
which mode and behavior they follow. A trace is

  {"mode": "standard" or "adaptive", "behavior": "v2.1" or "v2.0", "start_s": 0,
   "given": {"max_attempts", "initial_quota", "quota_capacity", "jitter",
             "max_backoff_s", "service", "long_polling"},
   "steps": [...] or "operations": [...]}

with steps or operations of one of these forms:

  steps, {"request": "A", "response": R}
      What an attempt of request A got, at the instant at which it was sent.
      Without request, a request takes steps until its outcome is not "retry".
  steps, {"t_s": 1.5, "throttled": true, "repeat": 3}
      What the send rate of the adaptive mode was told at t_s, three times.
  operations, {"start_s": 0, "latency_s": 0.1, "responses": [R, ...]}
      Operations one after the other, each not before its start_s.

R is {"kind", "status", "error_code", "headers"}. The kind is success,
transient, timeout, connect, throttling or clock_skew, or server or client for a
failure that is not retried; without it status and error_code decide, and 2xx
without error_code is a success. Of the headers x-amz-retry-after counts.

What is absent or null has its default: adaptive for the last two forms,
otherwise standard; v2.1; the service of --service; a jitter of 1, so that
delays are the longest and each replay gives the same; initial_quota as the
capacity; and for the rest the default of the strategy. Other members are
ignored.
`

// replay runs the traces of a file, one after the other. It reads each trace twice: first the
// header, which may stand behind the steps, and then the steps.
func replay(ctx context.Context, c *call) error {
	file, err := openTrace(c.argument, c.in)
	if err != nil {
		return err
	}
	defer file.close()
	for offset, first := int64(0), true; ; first = false {
		header, err := readHeader(newTraceReader(file, offset), c.service)
		switch {
		case errors.Is(err, io.EOF) && first:
			return &traceError{File: file.name, Line: 1, Problem: "there is no trace"}
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		header.setMode()
		if err := runTrace(ctx, c, newTraceReader(file, offset), header); err != nil {
			return err
		}
		offset = header.end
	}
}

// runTrace reads the steps of a trace and plays them.
func runTrace(ctx context.Context, c *call, r *traceReader, h *traceHeader) error {
	if !c.json {
		if _, err := fmt.Fprintln(c.out, h.title()); err != nil {
			return err
		}
	}
	if h.form == formRate {
		return eachStep(c, r, newRatePlayer(h.start).step)
	}
	p, err := newPlayer(h)
	if err != nil {
		return err
	}
	p.clock.Run(func() {
		if h.form == formOperations {
			err = eachStep(c, r, func(r *traceReader) (*operationLine, error) { return p.operation(ctx, r) })
		} else {
			err = eachStep(c, r, func(r *traceReader) (*stepLine, error) { return p.step(ctx, r) })
		}
	})
	return err
}

// eachStep reads a trace and prints what play returns for each step.
func eachStep[T any](c *call, r *traceReader, play func(r *traceReader) (T, error)) error {
	_, err := r.object(func(name string) error {
		if name != "steps" && name != "operations" {
			return r.skip()
		}
		_, err := r.list(func(int) error {
			line, err := play(r)
			if err != nil {
				return err
			}
			return c.print(line)
		})
		return err
	})
	return err
}
