package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/awsretry/awsretry/internal/command/page"
	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/retry"
)

// figure is a number of the output, with so many digits as processors agree about. NaN does not
// apply, and is null.
type figure float64

// MarshalJSON writes a number, or null.
func (f figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) {
		return []byte("null"), nil
	}
	return json.Marshal(json.Number(f.text()))
}

// text is the number, or nothing.
func (f figure) text() string {
	if math.IsNaN(float64(f)) {
		return ""
	}
	return strconv.FormatFloat(math.Round(1e6*float64(f))/1e6, 'f', -1, 64)
}

// simulationOutput is the output with --json.
type simulationOutput struct {
	Version  string          `json:"version"`
	Seed     uint64          `json:"seed"`
	Duration figure          `json:"duration_s"`
	Limit    figure          `json:"limit_per_s"`
	Variants []variantOutput `json:"variants"`
	Drain    []drainOutput   `json:"drain_points"`
}

type variantOutput struct {
	Name            string `json:"name"`
	Goodput         figure `json:"goodput_per_s"`
	FailedShare     figure `json:"failed_share"`
	AttemptsPerCall figure `json:"attempts_per_call"`
	ThrottledShare  figure `json:"throttled_share"`
	LatencyP50      figure `json:"latency_p50_s"`
	LatencyP99      figure `json:"latency_p99_s"`
	LatencyMax      figure `json:"latency_max_s"`
	DelayPerCall    figure `json:"delay_per_call_s"`
	Recover         figure `json:"recover_s"`
	LowestQuota     int    `json:"lowest_quota"`
}

type drainOutput struct {
	Variant string `json:"variant"`
	Kind    string `json:"kind"`
	Share   figure `json:"share"`
}

func (p *played) json() simulationOutput {
	out := simulationOutput{Version: p.version, Seed: p.seed, Duration: figure(p.length().Seconds()), Limit: figure(p.limit())}
	for _, v := range p.variants {
		r := v.result
		out.Variants = append(out.Variants, variantOutput{
			Name: v.Name, Goodput: figure(r.Goodput), FailedShare: figure(r.FailedShare),
			AttemptsPerCall: figure(r.AttemptsPerCall), ThrottledShare: figure(r.ThrottledShare),
			LatencyP50: figure(r.LatencyP50), LatencyP99: figure(r.LatencyP99), LatencyMax: figure(r.LatencyMax),
			DelayPerCall: figure(r.DelayPerCall), Recover: figure(r.Recover), LowestQuota: r.LowestQuota,
		})
		for _, d := range drainPoints(v.plan) {
			out.Drain = append(out.Drain, drainOutput{v.Name, d.Kind, figure(d.Share)})
		}
	}
	return out
}

// length is how long the run took, or the longest one of a trace.
func (p *played) length() (longest time.Duration) {
	for _, v := range p.variants {
		longest = max(longest, v.result.Duration)
	}
	return longest
}

// limit is that of the service, a second.
func (p *played) limit() float64 {
	if p.trace != nil {
		return math.NaN()
	}
	return p.rate
}

// csv writes the variants with the columns of the JSON.
func (p *played) csv(to io.Writer) error {
	lines := [][]string{{
		"name", "goodput_per_s", "failed_share", "attempts_per_call", "throttled_share",
		"latency_p50_s", "latency_p99_s", "latency_max_s", "delay_per_call_s", "recover_s", "lowest_quota",
	}}
	for _, v := range p.json().Variants {
		line := []string{v.Name}
		for _, f := range []figure{
			v.Goodput, v.FailedShare, v.AttemptsPerCall, v.ThrottledShare,
			v.LatencyP50, v.LatencyP99, v.LatencyMax, v.DelayPerCall, v.Recover,
		} {
			line = append(line, f.text())
		}
		lines = append(lines, append(line, strconv.Itoa(v.LowestQuota)))
	}
	return csv.NewWriter(to).WriteAll(lines)
}

// drainPoints are those of all kinds. They do not apply where nothing is retried.
func drainPoints(p retry.Plan) []page.Drain {
	share := func(cost int) float64 {
		if p.MaxAttempts == 1 {
			return math.NaN()
		}
		return fourDigits(forecast.DrainPoint(p, cost))
	}
	return []page.Drain{
		{Kind: "transient", Share: share(p.RetryCost)},
		{Kind: "timeout", Share: share(p.TimeoutCost)},
		{Kind: "throttling", Share: share(p.ThrottlingCost)},
	}
}
