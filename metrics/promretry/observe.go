package promretry

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/metrics"
	"github.com/awsretry/awsretry/internal/serviceid"
	"github.com/awsretry/awsretry/retry"
)

const (
	maxOperations = 1000
	maxErrorTypes = 200

	// beyond is the label of what came after a maximum was reached.
	beyond = "_OTHER"
)

// labels are what counters and histograms say of an operation.
type labels struct{ service, name, region string }

// operation has the metrics of a success, which are made at the first success, so that
// client_golang does not hash the labels of each one. It does so for failures and waits.
type operation struct {
	labels
	key     labels // what the operation itself says
	ok      func() attempt
	success func() prometheus.Observer
}

// attempt has the metrics of attempts that end in the same way.
type attempt struct {
	count    prometheus.Counter
	duration prometheus.Observer
}

// Observe counts the event. It allocates nothing unless the event begins a new series.
func (m *Metrics) Observe(_ context.Context, e retry.Event) {
	switch e.Kind {
	case retry.AttemptEnded:
		m.attemptEnded(&e)
	case retry.OperationEnded:
		m.operationEnded(&e)
	case retry.RetryRefused:
		o := m.find(&e)
		m.refused.WithLabelValues(o.service, o.name, o.region, e.Outcome()).Inc()
	case retry.SendWaitEnded:
		o := m.find(&e)
		m.sendWait.WithLabelValues(o.service, o.name, o.region).Observe(seconds(e.Delay))
	default: // The other kinds have no metrics.
	}
}

func (m *Metrics) attemptEnded(e *retry.Event) {
	o := m.find(e)
	var a attempt
	if e.Err == nil {
		a = o.ok()
	} else {
		kind := e.Verdict.Kind().String()
		a = m.attempt(o.labels, kind, m.errorType(e, kind))
	}
	if e.Verdict.Kind() == classify.Throttling && e.Err != nil {
		m.throttles.WithLabelValues(o.service, o.name, o.region, reachOf(e.Verdict), m.word(e.LimitName())).Inc()
	}
	if e.EntriesThrottled > 0 {
		m.entries.WithLabelValues(o.service, o.name, o.region).Add(float64(e.EntriesThrottled))
	}
	a.count.Inc()
	a.duration.Observe(seconds(e.Elapsed))
}

func (m *Metrics) operationEnded(e *retry.Event) {
	o := m.find(e)
	if e.Reason == nil {
		o.success().Observe(seconds(e.Elapsed))
	} else {
		m.call(o.labels, e.Outcome()).Observe(seconds(e.Elapsed))
	}
	retried, delay := e.Attempt > 1, e.BackoffWait+e.QuotaWait
	if retried {
		m.callRetries.WithLabelValues(o.service, o.name, o.region).Observe(float64(e.Attempt - 1))
	}
	if retried || delay > 0 {
		m.callRetryDelay.WithLabelValues(o.service, o.name, o.region).Observe(seconds(delay))
	}
}

// errorType returns a text that is kept already. Kinds need no place among the error codes, because
// there are few.
func (m *Metrics) errorType(e *retry.Event, kind string) string {
	if word := e.ErrorType(); word != kind {
		return m.word(word)
	}
	return kind
}

// word returns a text that is kept already.
func (m *Metrics) word(word string) string {
	switch word {
	case "":
		return ""
	case beyond:
		return beyond
	default:
		return m.errorTypes.get(word)
	}
}

// reachOf returns how much a throttle is about. A hard quota has a word of its own.
func reachOf(v classify.Verdict) string {
	if v.HardQuota() {
		return "hard_quota"
	}
	return v.Reach().String()
}

func (m *Metrics) attempt(l labels, kind, errorType string) attempt {
	return attempt{
		count:    m.attempts.WithLabelValues(l.service, l.name, l.region, kind, errorType),
		duration: m.attemptDuration.WithLabelValues(l.service, l.name, l.region, kind),
	}
}

func (m *Metrics) call(l labels, outcome string) prometheus.Observer {
	return m.callDuration.WithLabelValues(l.service, l.name, l.region, outcome)
}

// find returns the operation of an event. To hash three texts for the map takes as long as a
// histogram, so find first looks in a place that the lengths of the texts and a letter choose.
// The first operation of a place keeps it.
func (m *Metrics) find(e *retry.Event) *operation {
	key := labels{e.Operation.Service, e.Operation.Name, e.Operation.Region}
	place := 3*len(key.service) + 5*len(key.name) + 7*len(key.region)
	if key.name != "" {
		place += int(key.name[0])
	}
	near := &m.near[place%len(m.near)]
	first := near.Load()
	if first != nil && first.key == key {
		return first
	}
	o := m.operations.get(labels{metrics.Label(key.service), metrics.Label(key.name), metrics.Label(key.region)})
	if first == nil && o.key == key {
		near.Store(o)
	}
	return o
}

// newOperation keeps copies of the texts, which may be parts of longer ones.
func (m *Metrics) newOperation(key labels) (labels, *operation) {
	key = labels{strings.Clone(key.service), strings.Clone(key.name), strings.Clone(key.region)}
	shown := labels{m.service(key.service), key.name, key.region}
	return key, &operation{
		labels:  shown,
		key:     key,
		ok:      sync.OnceValue(func() attempt { return m.attempt(shown, "ok", "") }),
		success: sync.OnceValue(func() prometheus.Observer { return m.call(shown, retry.Event{}.Outcome()) }),
	}
}

// service returns the label of a service.
func (m *Metrics) service(service string) string {
	if service = metrics.Label(service); m.config.SDKServices {
		return serviceid.Spelled(service)
	}
	return service
}

// seconds never returns less than zero, so that no sum goes down.
func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }
