package main

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// traceForm is the kind of the steps of a trace.
type traceForm int

const (
	formNone traceForm = iota
	formResponses
	formRate
	formOperations
)

const (
	modeStandard = "standard"
	modeAdaptive = "adaptive"
)

// traceHeader is a trace without its steps.
type traceHeader struct {
	form        traceForm
	mode        string
	start       time.Duration
	config      standard.Config // without a behavior that the trace does not name
	jitter      float64
	longPolling bool
	end         int64 // where in the file the trace ends
}

// readHeader reads a trace to its end. The error is io.EOF if there is no trace.
func readHeader(r *traceReader, service string) (*traceHeader, error) {
	h := &traceHeader{config: standard.Config{Service: service}, jitter: 1}
	present, err := r.object(func(name string) error { return h.member(r, name) })
	switch {
	case err != nil:
		return nil, err
	case !present:
		return nil, r.wrongType("an object", nil)
	case h.form == formNone:
		return nil, r.fail("there are neither steps nor operations")
	case h.form == formRate && h.mode == modeStandard:
		return nil, r.failIn("mode", "steps with t_s are about the send rate of the adaptive mode")
	}
	h.end = r.offset()
	return h, nil
}

// setMode sets the mode of a trace that does not name its own.
func (h *traceHeader) setMode() {
	switch {
	case h.mode != "":
	case h.form == formResponses:
		h.mode = modeStandard
	default:
		h.mode = modeAdaptive
	}
}

// title describes the strategy that plays the steps.
func (h *traceHeader) title() string {
	switch {
	case h.form == formRate:
		return "send rate of adaptive mode, the same in every behavior"
	case h.config.Behavior == "":
		return h.mode + " mode, behavior " + string(retry.V21) + ", the default"
	default:
		return h.mode + " mode, behavior " + string(h.config.Behavior)
	}
}

func (h *traceHeader) member(r *traceReader, name string) (err error) {
	switch name {
	case "mode":
		h.mode, err = r.oneOf(modeStandard, modeAdaptive)
	case "behavior":
		var behavior string
		behavior, err = r.oneOf(string(retry.V21), string(retry.V20))
		h.config.Behavior = retry.Behavior(behavior)
	case "start_s":
		var start *time.Duration
		start, err = r.seconds()
		h.start = or(start, 0)
	case "given":
		err = h.given(r)
	case "steps", "operations":
		err = h.findForm(r, name)
	default:
		err = r.skip()
	}
	return err
}

// given reads the configuration of the strategy.
func (h *traceHeader) given(r *traceReader) error {
	service := h.config.Service
	var initial, capacity *int
	_, err := r.object(func(name string) error {
		switch name {
		case "max_attempts":
			limit, err := r.whole(1, math.MaxInt32)
			h.config.MaxAttempts = or(limit, 0)
			return err
		case "initial_quota":
			return assign(&initial)(r.whole(0, math.MaxInt32))
		case "quota_capacity":
			return assign(&capacity)(r.whole(0, math.MaxInt32))
		case "jitter":
			value, err := r.number(0, 1)
			h.jitter = or(value, 1)
			return err
		case "max_backoff_s":
			return h.maxBackoff(r)
		case "service":
			value, err := r.text()
			h.config.Service = or(value, service)
			return err
		case "long_polling":
			return assign(&h.longPolling)(r.boolean())
		default:
			return r.skip()
		}
	})
	if capacity == nil {
		capacity = initial
	}
	h.config.QuotaInitial, h.config.QuotaCapacity = initial, capacity
	return err
}

func (h *traceHeader) maxBackoff(r *traceReader) error {
	longest, err := r.seconds()
	if err != nil {
		return err
	}
	if longest != nil && *longest == 0 {
		return r.fail("must be a nanosecond or more")
	}
	h.config.MaxBackoff = or(longest, 0)
	return nil
}

// findForm reads the steps to find out their kind. The first step decides.
func (h *traceHeader) findForm(r *traceReader, name string) error {
	if h.form != formNone {
		return r.fail("a trace has steps or operations, and has them once")
	}
	h.form = formOperations
	if name == "steps" {
		h.form = formResponses
	}
	present, err := r.list(func(i int) error {
		if i > 0 || h.form == formOperations {
			return r.skip()
		}
		return h.firstStep(r)
	})
	if err == nil && !present {
		h.form = formNone
	}
	return err
}

func (h *traceHeader) firstStep(r *traceReader) error {
	response, rate := false, false
	present, err := r.object(func(name string) error {
		response = response || name == "response"
		rate = rate || name == "t_s"
		return r.skip()
	})
	switch {
	case err != nil:
		return err
	case !present:
		return r.wrongType("an object", nil)
	case !response && !rate:
		return r.fail("there is neither response nor t_s")
	case !response:
		h.form = formRate
	}
	return nil
}

// assign returns a function that stores a value and returns the error beside it.
func assign[T any](into *T) func(value T, err error) error {
	return func(value T, err error) error {
		*into = value
		return err
	}
}
