// Package record keeps what a registry of Prometheus shows while package outage plays.
package record

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/awsretry/awsretry/lab/telemetry/outage"
	"github.com/awsretry/awsretry/metrics/promretry"
)

// Recording is one outage as a registry shows it.
type Recording struct {
	// Every is the time between two samples.
	Every time.Duration
	// Families are the metrics, sorted by name.
	Families []*Family
	// End is what the registry showed at the end of the outage, before the services recovered.
	End []*dto.MetricFamily

	metrics  *promretry.Metrics
	registry *prometheus.Registry
	samples  int
	err      error
}

// Family is the series of one metric.
type Family struct {
	Name, Help, Type string
	Series           []*Series // in the order in which they came

	known map[string]*Series
}

// Series is one value for each sample.
type Series struct {
	// Name has the suffix of a histogram, and Labels is empty or like `{a="b",c="d"}`.
	Name, Labels string
	// Values are NaN where the series was not there.
	Values []float64
}

// New returns a recording that is empty.
func New(every time.Duration) *Recording {
	r := &Recording{Every: every, metrics: promretry.New(promretry.Config{}), registry: prometheus.NewRegistry()}
	r.registry.MustRegister(r.metrics)
	return r
}

// Play plays the outage and records it.
func Play(every time.Duration) (*Recording, error) {
	r := New(every)
	if err := outage.Run(r.Config()); err != nil {
		return nil, err
	}
	return r, r.Err()
}

// Config returns what outage.Run needs to fill the recording.
func (r *Recording) Config() outage.Config {
	return outage.Config{Observer: r.metrics, Watch: r.metrics.Watch, Every: r.Every, Sample: r.sample}
}

// Err returns the first error of the registry.
func (r *Recording) Err() error { return r.err }

func (r *Recording) sample(at time.Duration) {
	gathered, err := r.registry.Gather()
	if err != nil && r.err == nil {
		r.err = err
	}
	if at == outage.End {
		r.End = gathered
	}
	r.samples++
	for _, g := range gathered {
		i, found := slices.BinarySearchFunc(r.Families, g.GetName(), func(f *Family, name string) int {
			return strings.Compare(f.Name, name)
		})
		if !found {
			r.Families = slices.Insert(r.Families, i, &Family{
				Name: g.GetName(), Help: g.GetHelp(), Type: strings.ToLower(g.GetType().String()), known: map[string]*Series{},
			})
		}
		f := r.Families[i]
		Each(g, func(name, labels string, value float64) { f.add(name, labels, value, r.samples) })
		for _, s := range f.Series {
			s.fill(r.samples)
		}
	}
}

func (f *Family) add(name, labels string, value float64, samples int) {
	s := f.known[name+labels]
	if s == nil {
		s = &Series{Name: name, Labels: labels}
		f.known[name+labels] = s
		f.Series = append(f.Series, s)
	}
	s.fill(samples - 1)
	s.Values = append(s.Values, value)
}

func (s *Series) fill(samples int) {
	for len(s.Values) < samples {
		s.Values = append(s.Values, math.NaN())
	}
}

// Each calls f for each series of a metric, with the name and the labels that it has in a scrape.
func Each(g *dto.MetricFamily, f func(name, labels string, value float64)) {
	name := g.GetName()
	for _, m := range g.GetMetric() {
		labels := make([]string, 0, len(m.GetLabel())+1)
		for _, l := range m.GetLabel() {
			if l.GetValue() != "" { // an empty label is none
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
		}
		plain := Labels(labels...)
		h := m.GetHistogram()
		switch {
		case m.GetCounter() != nil:
			f(name, plain, m.GetCounter().GetValue())
		case m.GetGauge() != nil:
			f(name, plain, m.GetGauge().GetValue())
		case h != nil:
			for _, b := range h.GetBucket() {
				if !math.IsInf(b.GetUpperBound(), 1) {
					f(name+"_bucket", Labels(append(labels, `le="`+Number(b.GetUpperBound())+`"`)...), float64(b.GetCumulativeCount()))
				}
			}
			f(name+"_bucket", Labels(append(labels, `le="+Inf"`)...), float64(h.GetSampleCount()))
			f(name+"_sum", plain, h.GetSampleSum())
			f(name+"_count", plain, float64(h.GetSampleCount()))
		}
	}
}

// Labels returns labels of the form a="b" as one text.
func Labels(labels ...string) string {
	if len(labels) == 0 {
		return ""
	}
	return "{" + strings.Join(slices.Sorted(slices.Values(labels)), ",") + "}"
}

// WithTarget adds the labels that a Prometheus gives to what it scrapes to the labels of a [Series].
func WithTarget(labels string) string {
	const target = `instance="outage",job="shop"`
	if labels == "" {
		return "{" + target + "}"
	}
	return strings.Replace(labels, "{", "{"+target+",", 1)
}

// Number returns a number as Prometheus writes it.
func Number(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// WriteOpenMetrics writes all samples with their time, for promtool tsdb create-blocks-from.
func (r *Recording) WriteOpenMetrics(to io.Writer) error {
	w := bufio.NewWriter(to)
	for _, f := range r.Families {
		name := f.Name
		if f.Type == "counter" {
			name = strings.TrimSuffix(name, "_total")
		}
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, f.Help, name, f.Type)
		for _, s := range f.Series {
			labels := WithTarget(s.Labels)
			for i, v := range s.Values {
				if !math.IsNaN(v) {
					at := outage.Start().Add(time.Duration(i) * r.Every)
					fmt.Fprintf(w, "%s%s %s %d\n", s.Name, labels, Number(v), at.Unix())
				}
			}
		}
	}
	fmt.Fprintln(w, "# EOF")
	return w.Flush()
}
