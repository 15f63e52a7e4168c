// Package promretry exports what awsretry's retry strategies do as Prometheus metrics.
//
// [New] returns [Metrics]: an observer that strategies report attempts and operations to, and a
// collector that a client_golang registry reads at each scrape. [Metrics.Watch] adds the quotas and
// send rates of a strategy. The metrics are those of package otelretry, under their Prometheus names.
package promretry

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/awsretry/awsretry/internal/metrics"
	"github.com/awsretry/awsretry/retry"
)

// Config says which scopes have gauges of their own, and how the metrics are labeled. The zero value
// is ready to use.
type Config struct {
	// Scopes is how many of the hottest scopes have gauges of their own: those with the most waiting
	// attempts and, if these are equal, the most quota used. A scope with gauges gives way
	// only to one that is clearly hotter. All others add up in
	// "other". Zero means 20; a negative number puts all scopes in "other".
	Scopes int
	// ScopeName returns the name of a scope in the gauges. Scopes with the same name count as one;
	// those with an empty name are in "other". Nil means the text of the key, and "(all)" for the
	// scope of a strategy as a whole. ScopeName is called for each scope at each scrape. It must be
	// safe for concurrent use and must not panic.
	ScopeName func(retry.ScopeKey) string
	// SDKServices spells rpc_service as the AWS SDKs do in their own metrics, so that queries can join
	// both: "DynamoDB" instead of "dynamodb". A name that is not an AWS service id stays as it is.
	SDKServices bool
	// NativeHistograms adds native buckets to the classic ones. A server that scrapes the protobuf format
	// gets both, but drops the classic ones, which the dashboard and the alerts need, unless
	// always_scrape_classic_histograms is set. Recording takes longer, and the first value in a native
	// bucket allocates.
	NativeHistograms bool
}

// Metrics counts what strategies do. It is a [retry.Observer] and a [prometheus.Collector], and is
// safe for concurrent use. Any number of strategies may share it. The zero value is not usable; call
// [New].
//
// Counters and histograms have the labels rpc_service, rpc_method and cloud_region: Service, Name
// and Region of the [retry.Operation]. The first 1,000 combinations have series of their own; later
// ones count under "_OTHER" in all three labels. So do error codes and limit names after the first 200.
// Texts are cut after 200 bytes, and invalid UTF-8 is replaced. awsretry_attempts_total has the most
// series: one for each combination, kind and error code that occur together.
type Metrics struct {
	config Config

	callDuration    *prometheus.HistogramVec
	callRetries     *prometheus.HistogramVec
	callRetryDelay  *prometheus.HistogramVec
	attempts        *prometheus.CounterVec
	attemptDuration *prometheus.HistogramVec
	throttles       *prometheus.CounterVec
	entries         *prometheus.CounterVec
	refused         *prometheus.CounterVec
	sendWait        *prometheus.HistogramVec
	gauges          gauges
	scopes          *metrics.Scopes

	operations bounded[labels, *operation]
	near       [64]atomic.Pointer[operation] // some of operations, see find
	errorTypes bounded[string, string]

	mu         sync.Mutex
	strategies []retry.Strategy // guarded by mu; the slice is never changed, only replaced
}

var (
	_ retry.Observer       = (*Metrics)(nil)
	_ prometheus.Collector = (*Metrics)(nil)
)

// New returns Metrics with all counts at zero. Give them to a strategy as observer, call
// [Metrics.Watch], and register them.
func New(c Config) *Metrics {
	c.Scopes = cmp.Or(c.Scopes, 20)
	with := func(more ...string) []string {
		return append([]string{"rpc_service", "rpc_method", "cloud_region"}, more...)
	}
	histogram := func(name, help string, buckets []float64, labels []string) *prometheus.HistogramVec {
		options := prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}
		if c.NativeHistograms {
			// Each bucket is at most 10 % wider than the one before, and there are at most 160, as many as an exponential
			// histogram of OpenTelemetry has by default. One that needs more begins anew, once an hour at most, or else
			// gets wider buckets.
			options.NativeHistogramBucketFactor = 1.1
			options.NativeHistogramMaxBucketNumber, options.NativeHistogramMinResetDuration = 160, time.Hour
		}
		return prometheus.NewHistogramVec(options, labels)
	}
	counter := func(name, help string, labels []string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	// Those that OpenTelemetry recommends for rpc.client.call.duration, and four longer ones.
	seconds := []float64{.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 30, 60, 120}
	m := &Metrics{
		config: c,
		gauges: newGauges(),
		scopes: &metrics.Scopes{Limit: c.Scopes, Name: c.ScopeName},
		callDuration: histogram("awsretry_call_duration_seconds",
			"Duration of operations, with all attempts and waits.", seconds, with("awsretry_outcome")),
		callRetries: histogram("awsretry_call_retries",
			"Retries of operations that made at least one.", []float64{1, 2, 3, 4, 5, 10}, with()),
		callRetryDelay: histogram("awsretry_call_retry_delay_seconds",
			"Time that an operation waited for the backoff and the retry quota, if it made a retry or waited.",
			seconds, with()),
		attempts: counter("awsretry_attempts_total",
			"Attempts that ended, by the kind of the failure and the error code.", with("awsretry_kind", "error_type")),
		attemptDuration: histogram("awsretry_attempt_duration_seconds",
			"Duration of attempts, without any wait.", seconds, with("awsretry_kind")),
		throttles: counter("awsretry_throttles_total",
			"Attempts that were throttled, by how much the limit is about and its name.", with("awsretry_reach", "awsretry_limit")),
		entries: counter("awsretry_entries_throttled_total",
			"Entries of batches that were throttled inside of a success or a canceled transaction.", with()),
		refused: counter("awsretry_retries_refused_total",
			"Retries and attempts that were refused, by the reason.", with("awsretry_reason")),
		sendWait: histogram("awsretry_send_wait_seconds",
			"Time that an attempt waited for the send rate, if it had to wait.", seconds, with()),
	}
	_, others := m.newOperation(labels{beyond, beyond, beyond})
	m.operations.limit, m.operations.others, m.operations.fresh = maxOperations, others, m.newOperation
	m.errorTypes.limit, m.errorTypes.others = maxErrorTypes, beyond
	m.errorTypes.fresh = func(code string) (string, string) { code = strings.Clone(code); return code, code }
	return m
}

// vectors returns the metrics that count events.
func (m *Metrics) vectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.callDuration, m.callRetries, m.callRetryDelay, m.attempts, m.attemptDuration, m.throttles, m.entries, m.refused,
		m.sendWait,
	}
}

// Watch adds gauges of the quotas and send rates of the strategies. Watching a strategy again changes
// nothing. If [retry.CheckStrategy] rejects one, Watch returns its error and adds none of them. The
// Metrics keep watched strategies alive.
func (m *Metrics) Watch(strategies ...retry.Strategy) error {
	for _, s := range strategies {
		if err := retry.CheckStrategy(s); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	watched := slices.Clone(m.strategies)
	for _, s := range strategies {
		if !slices.ContainsFunc(watched, func(w retry.Strategy) bool { return same(w, s) }) {
			watched = append(watched, s)
		}
	}
	m.strategies = watched
	return nil
}
