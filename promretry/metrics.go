// Package promretry shows what the retry strategies of awsretry do as metrics of Prometheus.
//
// [New] makes [Metrics]. They are an observer, which a strategy tells of its attempts and
// operations, and a collector, which a registry of client_golang asks at each scrape. The quotas
// and send rates of a strategy are metrics too once [Metrics.Watch] knows the strategy. The
// metrics are those of package otelretry, with the names that Prometheus gives to them.
package promretry

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/awsretry/awsretry/internal/hottest"
	"github.com/awsretry/awsretry/retry"
)

// Config says which scopes have gauges of their own. Its zero value is ready for use.
type Config struct {
	// Scopes is how many scopes have gauges of their own: the hottest ones, in which most
	// attempts wait or, where as many wait, most of the quota is used. A scope keeps its gauges for
	// five minutes after it was last among the hottest, unless another one is clearly hotter. The other
	// scopes add up to one that is called "other". Zero means 20, and with a negative number all scopes
	// are in "other".
	Scopes int
	// ScopeName returns the name of a scope in the gauges. Scopes with the same name count as
	// one, and scopes with an empty name are in "other". Nil means the text of the key, and
	// "(all)" for the scope of a strategy as a whole. ScopeName is called for each scope at each
	// scrape. It must be safe for concurrent use, and it must not panic.
	ScopeName func(retry.ScopeKey) string
	// SDKServices spells rpc_service as the SDKs of AWS do in their own metrics, so that both can be joined:
	// "DynamoDB" instead of "dynamodb". What is the id of no service stays as it is.
	SDKServices bool
	// NativeHistograms gives the histograms native buckets beside the classic ones. A server that scrapes
	// the protobuf format gets both, but keeps the classic ones, which the dashboard and the alerts ask
	// for, only if always_scrape_classic_histograms is set. A recording takes longer, and the first one
	// in a native bucket allocates.
	NativeHistograms bool
}

// Metrics counts what strategies do. It is a [retry.Observer] and a [prometheus.Collector], and
// safe for concurrent use. Any number of strategies may have the same Metrics as observer. The
// zero value is not usable, see [New].
//
// Counters and histograms have the labels rpc_service, rpc_method and aws_region: Service, Name
// and Region of the [retry.Operation]. The first 1,000 combinations of the three have series of
// their own. Later ones are counted together, with "_OTHER" in all three labels, and so is each
// error code and name of a limit after the first 200. Texts are cut after 200 bytes. What is not UTF-8 is replaced.
// The most series are those of awsretry_attempts_total: one for each combination with each kind and
// error code of its failures.
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
	scopes          *hottest.Scopes

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

// New returns metrics that have counted nothing yet.
func New(c Config) *Metrics {
	c.Scopes = cmp.Or(c.Scopes, 20)
	with := func(more ...string) []string {
		return append([]string{"rpc_service", "rpc_method", "aws_region"}, more...)
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
		scopes: hottest.New(c.Scopes, c.ScopeName),
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
			"Entries of batches that were throttled inside of a success.", with()),
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

// Watch makes gauges of the quotas and send rates of the strategies from now on. A strategy that
// is watched already does not count twice. Watch returns the error of [retry.CheckStrategy] for the
// first strategy that has one, and then adds none. The Metrics keep the strategies that they watch.
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
