// Package promretry shows what the retry strategies of awsretry do as metrics of Prometheus.
//
// [New] makes the metrics. They are an observer, which a strategy tells of every attempt and operation, and a
// collector, which a registry asks at every scrape. [Metrics.Watch] names the strategies whose quotas and send rates are
// gauges. The names of the metrics are those of package otelretry in the spelling of Prometheus.
package promretry

import (
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/awsretry/awsretry/retry"
)

// Config says which scopes have gauges of their own. The zero value is ready for use.
type Config struct {
	// Scopes is how many scopes have gauges of their own: the hottest ones, see [retry.Hottest]. The others are one
	// scope, "other", which is their sum. Zero means 20. With a negative number all scopes are "other".
	Scopes int
	// ScopeName returns the name of a scope in the gauges. Scopes with the same name count as one, and a scope without a
	// name belongs to "other". Nil means the text of the key. A scrape calls ScopeName for each scope, and scrapes may
	// run at the same time.
	ScopeName func(retry.ScopeKey) string
}

// defaultScopes is how many scopes have gauges of their own where a Config does not say.
const defaultScopes = 20

// Metrics counts what strategies do. It is a [retry.Observer] and a [prometheus.Collector]. It is safe for concurrent
// use. The zero value is not usable: [New] makes Metrics.
//
// Counters and histograms are about operations: service, name and region of [retry.Operation]. Of these, 1,000
// combinations have series of their own, and later ones are counted as "_OTHER". So are error codes after the first 200.
// Labels longer than 200 bytes are cut.
type Metrics struct {
	config Config

	callDuration    *prometheus.HistogramVec
	callRetries     *prometheus.HistogramVec
	callRetryDelay  *prometheus.HistogramVec
	attempts        *prometheus.CounterVec
	attemptDuration *prometheus.HistogramVec
	refused         *prometheus.CounterVec
	sendWait        *prometheus.HistogramVec
	gauges          gauges

	operations bounded[operationKey, *operation]
	errorTypes bounded[string, string]

	mu         sync.Mutex
	strategies []retry.Strategy // guarded by mu; never changed, only replaced
}

var (
	_ retry.Observer       = (*Metrics)(nil)
	_ prometheus.Collector = (*Metrics)(nil)
)

// New returns metrics that have counted nothing yet. They belong to one registry, and to any number of strategies.
func New(c Config) *Metrics {
	if c.Scopes == 0 {
		c.Scopes = defaultScopes
	}
	operation := []string{"rpc_service", "rpc_method", "aws_region"}
	with := func(labels ...string) []string { return slices.Concat(operation, labels) }
	histogram := func(name, help string, buckets []float64, labels []string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	counter := func(name, help string, labels []string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	// Those of rpc.client.call.duration in the semantic conventions of OpenTelemetry, and four longer ones.
	seconds := []float64{.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 30, 60, 120}
	m := &Metrics{
		config: c,
		gauges: newGauges(),
		callDuration: histogram("awsretry_call_duration_seconds",
			"Duration of operations with all attempts and waits.", seconds, with("awsretry_outcome")),
		callRetries: histogram("awsretry_call_retries",
			"Retries of operations that made at least one.", []float64{1, 2, 3, 4, 5, 10}, with()),
		callRetryDelay: histogram("awsretry_call_retry_delay_seconds",
			"Time that operations waited for backoff and retry quota, without operations that had neither a retry nor a wait.",
			seconds, with()),
		attempts: counter("awsretry_attempts_total",
			"Attempts that ended, by the kind of the failure or ok.", with("awsretry_kind", "error_type")),
		attemptDuration: histogram("awsretry_attempt_duration_seconds",
			"Duration of attempts without waits.", seconds, with("awsretry_kind")),
		refused: counter("awsretry_retries_refused_total",
			"Retries and attempts that the strategy refused.", with("awsretry_reason")),
		sendWait: histogram("awsretry_send_wait_seconds",
			"Time that attempts waited for the send rate, without attempts that did not wait.", seconds, with()),
	}
	_, other := m.newOperation(operationKey{beyond, beyond, beyond})
	m.operations.limit, m.operations.other, m.operations.fresh = maxOperations, other, m.newOperation
	m.errorTypes.limit, m.errorTypes.other = maxErrorTypes, beyond
	m.errorTypes.fresh = func(code string) (string, string) { code = strings.Clone(code); return code, code }
	return m
}

// vecs returns the counters and histograms.
func (m *Metrics) vecs() []prometheus.Collector {
	return []prometheus.Collector{
		m.callDuration, m.callRetries, m.callRetryDelay, m.attempts, m.attemptDuration, m.refused, m.sendWait,
	}
}

// Watch adds strategies whose quotas, send rates and scopes are gauges from now on. A strategy that is watched already
// counts once. The error is that of [retry.CheckStrategy], and then Watch adds none of them.
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
