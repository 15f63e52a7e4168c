package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/retry"
)

// figure is a number of the output, with as many digits as processors agree on. NaN means that it
// does not apply, and is null in JSON.
type figure float64

// MarshalJSON writes a number, or null.
func (f figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) {
		return []byte("null"), nil
	}
	return json.Marshal(json.Number(f.text()))
}

// text returns the number, or an empty text.
func (f figure) text() string {
	if math.IsNaN(float64(f)) {
		return ""
	}
	return strconv.FormatFloat(math.Round(1e6*float64(f))/1e6, 'f', -1, 64)
}

// simulationOutput is the output with --json.
type simulationOutput struct {
	Version  string          `json:"version"`
	Seeds    []uint64        `json:"seeds"`
	Duration figure          `json:"duration_s"`
	Limit    figure          `json:"limit_per_s"`
	Within   figure          `json:"within_s"`
	Answer   []string        `json:"answer"`
	Variants []variantOutput `json:"variants"`
	Drain    []drainOutput   `json:"drain_points"`
}

// variantOutput has the medians of all runs, and the lowest and highest values if they differ.
type variantOutput struct {
	Name    string               `json:"name"`
	Same    string               `json:"same_as,omitempty"`
	Figures []figureOutput       `json:"-"`
	Ranges  map[string][2]figure `json:"ranges,omitempty"`
}

type figureOutput struct {
	key   string
	value figure
}

// MarshalJSON writes the figures as members, in order.
func (v variantOutput) MarshalJSON() ([]byte, error) {
	type rest variantOutput
	text, err := json.Marshal(rest(v))
	if err != nil {
		return nil, err
	}
	var figures bytes.Buffer
	for _, f := range v.Figures {
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&figures, ",%q:%s", f.key, value)
	}
	at := bytes.Index(text, []byte(`,"ranges":`))
	if at < 0 {
		at = len(text) - 1
	}
	return slices.Concat(text[:at], figures.Bytes(), text[at:]), nil
}

type drainOutput struct {
	Variant string `json:"variant"`
	Kind    string `json:"kind"`
	Share   figure `json:"share"`
}

func (res *result) json() simulationOutput {
	out := simulationOutput{
		Version: res.version, Seeds: res.seeds(), Duration: figure(res.scenario().Duration.Seconds()), Limit: figure(res.rate),
		Within: figure(res.within.Seconds()), Answer: res.answer(),
	}
	for _, v := range res.variants {
		one := variantOutput{Name: v.Name, Same: v.same}
		for _, f := range page.Figures(res.within) {
			s := v.of(f.Value)
			one.Figures = append(one.Figures, figureOutput{f.Key, figure(s.Median)})
			if s.Low < s.High {
				if one.Ranges == nil {
					one.Ranges = map[string][2]figure{}
				}
				one.Ranges[f.Key] = [2]figure{figure(s.Low), figure(s.High)}
			}
		}
		out.Variants = append(out.Variants, one)
		for _, d := range drainPoints(v.plan) {
			out.Drain = append(out.Drain, drainOutput{v.Name, d.Kind, figure(d.Share)})
		}
	}
	return out
}

// drainPoints returns the drain points of all kinds. They do not apply if nothing is retried.
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
