package main

import (
	"errors"
	"io"
	"strconv"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// recording is a trace with what it says of the settings.
type recording struct {
	sim.Trace
	name     string // of the file
	place    string // of the settings
	given    []config.Candidate
	behavior retry.Behavior
	service  string
	quota    standard.Config // only what it says of the quota
}

// conditions are what a trace says of a strategy besides the settings.
func (r *recording) conditions() standard.Config {
	if r == nil {
		return standard.Config{}
	}
	return r.quota
}

// readRecording reads the only trace of a file.
func readRecording(name string, c *call) (*recording, error) {
	file, err := openTrace(name, c.in)
	if err != nil {
		return nil, err
	}
	defer file.close()
	header, err := readHeader(newTraceReader(file, 0), "")
	switch {
	case errors.Is(err, io.EOF):
		return nil, &traceError{File: file.name, Line: 1, Problem: "there is no trace"}
	case err != nil:
		return nil, err
	case header.form == formRate:
		return nil, newTraceReader(file, 0).fail("steps with t_s have no calls that could be counted")
	}
	r := &recording{name: file.name, place: "trace " + file.name}
	r.settings(header)
	if err := r.read(newTraceReader(file, 0), header); err != nil {
		return nil, err
	}
	rest := newTraceReader(file, header.end)
	if _, err := rest.token(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = rest.fail("there is another trace, and a report is of one")
		}
		return nil, err
	}
	return r, nil
}

// settings takes what the header says.
func (r *recording) settings(h *traceHeader) {
	r.Start, r.Jitter, r.LongPolling = h.start, h.jitter, h.longPolling
	r.behavior, r.service = h.config.Behavior, h.config.Service
	r.quota = standard.Config{QuotaInitial: h.config.QuotaInitial, QuotaCapacity: h.config.QuotaCapacity}
	give := func(key, value string) {
		r.given = append(r.given, config.Candidate{Raw: value, Origin: config.Origin{Kind: config.OriginOption, Name: r.place, Key: key}})
	}
	if h.mode != "" {
		give("retry_mode", h.mode)
	}
	if h.config.MaxAttempts > 0 {
		give("max_attempts", strconv.Itoa(h.config.MaxAttempts))
	}
	if h.config.MaxBackoff > 0 {
		give("max_backoff", h.config.MaxBackoff.String())
	}
}

// read reads the steps or the operations.
func (r *recording) read(from *traceReader, h *traceHeader) error {
	_, err := from.object(func(name string) error {
		if name != "steps" && name != "operations" {
			return from.skip()
		}
		_, err := from.list(func(int) error {
			if h.form == formOperations {
				return r.readOperation(from)
			}
			return r.readStep(from)
		})
		return err
	})
	return err
}

func (r *recording) readStep(from *traceReader) error {
	step, err := readStep(from)
	if err != nil {
		return err
	}
	r.Steps = append(r.Steps, sim.Step{Request: step.request, Err: step.response.failure()})
	return nil
}

func (r *recording) readOperation(from *traceReader) error {
	op, err := readOperation(from)
	if err != nil {
		return err
	}
	if len(op.responses) == 0 {
		return from.failIn("responses", "is empty")
	}
	played := sim.Operation{Start: op.start, Latency: op.latency}
	for _, got := range op.responses {
		played.Errs = append(played.Errs, got.failure())
	}
	r.Operations = append(r.Operations, played)
	return nil
}
