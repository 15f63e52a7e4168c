package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// Names of subjects that the report compares with.
const (
	sdk   = "aws-sdk-go-v2"
	limit = "limit"
)

// cell names a measurement: the benchmark, the number of goroutines and the contender.
type cell struct {
	table      string // the name of the benchmark without the two others
	goroutines string // empty if the benchmark does not say
	of         string
}

// results are the values of all rounds, by measurement and unit.
type results struct {
	tables []string // in the order in which they came
	of     map[string][]string
	values map[cell]map[string][]float64
	config map[string]string // where that was
}

// read reads what benchmarks printed. Lines that are none are skipped.
func read(path string) (*results, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(bytes.NewReader(text), path)
}

func parse(from io.Reader, name string) (*results, error) {
	r := &results{of: map[string][]string{}, values: map[cell]map[string][]float64{}, config: map[string]string{}}
	reader := benchfmt.NewReader(from, name)
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		for _, c := range result.Config {
			r.config[c.Key] = string(c.Value)
		}
		r.add(split(result.Name), result.Values)
	}
	return r, reader.Err()
}

// split takes a name apart. The number of processors at its end is dropped.
func split(name benchfmt.Name) cell {
	base, parts := name.Parts()
	c := cell{table: string(base)}
	for _, part := range parts {
		key, value, _ := strings.Cut(string(part), "=")
		switch {
		case strings.HasPrefix(key, "-"):
		case key == "/goroutines":
			c.goroutines = value
		case key == "/of":
			c.of = value
		default:
			c.table += string(part)
		}
	}
	return c
}

func (r *results) add(c cell, values []benchfmt.Value) {
	if !slices.Contains(r.tables, c.table) {
		r.tables = append(r.tables, c.table)
	}
	if !slices.Contains(r.of[c.table], c.of) {
		r.of[c.table] = append(r.of[c.table], c.of)
	}
	if r.values[c] == nil {
		r.values[c] = map[string][]float64{}
	}
	for _, v := range values {
		r.values[c][v.Unit] = append(r.values[c][v.Unit], v.Value)
	}
}

// rounds is how many values there are of what was measured most often.
func (r *results) rounds() int {
	most := 0
	for _, units := range r.values {
		for _, values := range units {
			most = max(most, len(values))
		}
	}
	return most
}

// median returns the median of all rounds with its confidence interval; ok is false
// if nothing was measured.
func (r *results) median(c cell, unit string) (summary benchmath.Summary, ok bool) {
	values := r.values[c][unit]
	if len(values) == 0 {
		return summary, false
	}
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, 0.95), true
}

// ratio is the median of one over that of the other, as text; empty if there is no
// such ratio.
func (r *results) ratio(c cell, to, unit string) string {
	mine, ok := r.median(c, unit)
	c.of = to
	theirs, found := r.median(c, unit)
	if !ok || !found || theirs.Center == 0 {
		return ""
	}
	return short(mine.Center / theirs.Center)
}

// short prints a ratio with three digits, or as many as stand before the point.
func short(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.3f", x)
	}
}
