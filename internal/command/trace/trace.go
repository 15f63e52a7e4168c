// Package trace has the types of recorded traces, which "awsretry replay" plays. The test vectors
// use the same types.
package trace

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/awsretry/awsretry/classify"
)

// Trace is a recording: the settings of the strategy, and steps, operations or outcomes.
type Trace struct {
	// An empty Mode means that the form of the trace decides; an empty Behavior means v2.1.
	Mode     string  `json:"mode"`
	Behavior string  `json:"behavior"`
	Start    Seconds `json:"start_s"` // when the recording begins
	Given    Given   `json:"given"`

	// Steps are the answers to attempts, in the order in which they were sent. They take no time.
	Steps []Step `json:"-"`
	// Operations run one after another in a replay; in a simulation, those that have a start begin at it.
	Operations []Operation `json:"-"`
	// Log is true for an access log, whose lines are the operations, sorted by time.
	Log bool `json:"-"`
	// Outcomes are the reports to a send rate, without a strategy.
	Outcomes []Outcome `json:"-"`
}

// Given is the configuration of the strategy. Nil and zero mean its defaults, except for the
// jitter.
type Given struct {
	MaxAttempts   *int    `json:"max_attempts"`
	InitialQuota  *int    `json:"initial_quota"`
	QuotaCapacity *int    `json:"quota_capacity"`
	Jitter        float64 `json:"jitter"` // multiplies all delays
	MaxBackoff    Seconds `json:"max_backoff_s"`
	Service       string  `json:"service"`
	LongPolling   bool    `json:"long_polling"`
}

// Attempts returns the limit of attempts, or 0 for the default of the strategy.
func (g Given) Attempts() int {
	if g.MaxAttempts == nil {
		return 0
	}
	return *g.MaxAttempts
}

// Capacity returns the capacity of the quota, or else the initial quota. It returns nil for the
// default of the strategy.
func (g Given) Capacity() *int {
	if g.QuotaCapacity == nil {
		return g.InitialQuota
	}
	return g.QuotaCapacity
}

// Step is the answer to an attempt of a request.
type Step struct {
	Request  string   `json:"request"`
	Response Response `json:"response"`
}

// Operation does not begin before Start. Each of its attempts takes Latency and gets the next of
// Responses.
type Operation struct {
	Name      string     `json:"-"` // of an access log
	Start     Seconds    `json:"start_s"`
	Latency   Seconds    `json:"latency_s"`
	Responses []Response `json:"responses"`
}

// Outcome is a report to a send rate at T, repeated. T may go back.
type Outcome struct {
	T         Seconds `json:"t_s"`
	Throttled bool    `json:"throttled"`
	Repeat    int     `json:"repeat"`
}

// Response is the answer to an attempt.
type Response struct {
	Status    int     `json:"status"`
	ErrorCode string  `json:"error_code"`
	Kind      string  `json:"kind"`
	Headers   Headers `json:"headers"`

	ThrottledBy []Reason `json:"throttled_by"`
}

// Reason is what a throttle was about, see [classify.Reason].
type Reason struct {
	Reach string `json:"reach"`
	Word  string `json:"word"`
	Quota string `json:"quota"`
}

// reaches returns the reaches by name.
func reaches() map[string]classify.Reach {
	all := map[string]classify.Reach{}
	for r := classify.ReachUnknown; r <= classify.ReachOther; r++ {
		all[r.String()] = r
	}
	return all
}

// Headers are the headers of a response by name, in upper or lower case. Only x-amz-retry-after
// counts, and only it must be a string.
type Headers map[string]string

const retryAfter = "x-amz-retry-after"

// UnmarshalJSON leaves out headers that are not strings.
func (h *Headers) UnmarshalJSON(text []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*h = make(Headers, len(values))
	for name, text := range values {
		var value string
		err := json.Unmarshal(text, &value)
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.EqualFold(name, retryAfter) {
			wrong.Field = name
			return wrong
		}
		if err == nil {
			(*h)[name] = value
		}
	}
	return nil
}

func (h Headers) retryAfter() string {
	for name, value := range h {
		if strings.EqualFold(name, retryAfter) {
			return value
		}
	}
	return ""
}
