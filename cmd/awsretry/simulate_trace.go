package main

import (
	"strconv"
	"time"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/command/trace"
	"github.com/awsretry/awsretry/modes/standard"
)

// recording is the trace that simulate plays.
type recording struct {
	*trace.Trace

	name string // of the file
}

// place names the trace as the origin of its settings.
func (r *recording) place() string { return "trace " + r.name }

// conditions returns the strategy configuration of the trace, apart from the settings.
func (r *recording) conditions() standard.Config {
	if r == nil {
		return standard.Config{}
	}
	return standard.Config{QuotaInitial: r.Given.InitialQuota, QuotaCapacity: r.Given.Capacity()}
}

// given returns the settings of the trace.
func (r *recording) given() (all []config.Candidate) {
	give := func(key, value string) {
		all = append(all, config.Candidate{Raw: value, Origin: config.Origin{Kind: "option", Name: r.place(), Key: key}})
	}
	if r.Mode != "" {
		give("retry_mode", r.Mode)
	}
	if n := r.Given.Attempts(); n > 0 {
		give("max_attempts", strconv.Itoa(n))
	}
	if longest := time.Duration(r.Given.MaxBackoff); longest > 0 {
		give("max_backoff", longest.String())
	}
	return all
}

// readRecording reads the only trace of a file.
func readRecording(name string, c *call) (*recording, error) {
	traces, err := readTraces(name, c.in, "")
	if err != nil {
		return nil, err
	}
	r := &recording{Trace: traces[0], name: shownName(name)}
	switch {
	case len(traces) > 1:
		return nil, &trace.Error{File: r.name, Trace: 2, Problem: "there is another trace, and a report is of one"}
	case r.Outcomes != nil:
		return nil, &trace.Error{File: r.name, Problem: "steps with t_s have no calls that could be counted"}
	}
	return r, nil
}
