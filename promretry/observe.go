package promretry

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/awsretry/awsretry/retry"
)

const (
	maxOperations = 1000 // combinations of service, name and region with series of their own
	maxErrorTypes = 200  // error codes with series of their own
	maxLabel      = 200  // bytes of a label

	// beyond stands for what came after a maximum was reached.
	beyond = "_OTHER"
)

// operationKey is the part of an operation that is in labels.
type operationKey struct{ service, name, region string }

// operation holds the metrics of an operation that every call has, so that no label is hashed by client_golang for them.
// Those of retries and waits are found in their vectors.
type operation struct {
	labels   operationKey
	attempts bounded[attemptKey, attempt]
	calls    bounded[string, prometheus.Observer] // by outcome
}

// attemptKey is how an attempt ended.
type attemptKey struct{ kind, errorType string }

type attempt struct {
	count    prometheus.Counter
	duration prometheus.Observer
}

func (m *Metrics) newOperation(key operationKey) (operationKey, *operation) {
	// The key must not keep the memory of a longer text.
	key = operationKey{strings.Clone(key.service), strings.Clone(key.name), strings.Clone(key.region)}
	service, name, region := clean(key.service), clean(key.name), clean(key.region)
	o := &operation{labels: operationKey{service, name, region}}
	o.attempts.limit = math.MaxInt // kinds and error types are bounded
	o.attempts.fresh = func(end attemptKey) (attemptKey, attempt) {
		return end, attempt{
			count:    m.attempts.WithLabelValues(service, name, region, end.kind, end.errorType),
			duration: m.attemptDuration.WithLabelValues(service, name, region, end.kind),
		}
	}
	o.calls.limit = math.MaxInt // outcomes are bounded
	o.calls.fresh = func(outcome string) (string, prometheus.Observer) {
		return outcome, m.callDuration.WithLabelValues(service, name, region, outcome)
	}
	return key, o
}

// Observe counts the event. Once the operation is known, a success allocates nothing.
func (m *Metrics) Observe(_ context.Context, e retry.Event) {
	switch e.Kind {
	case retry.AttemptEnded:
		m.attemptEnded(&e)
	case retry.OperationEnded:
		m.operationEnded(&e)
	case retry.RetryRefused:
		l := m.operation(&e).labels
		m.refused.WithLabelValues(l.service, l.name, l.region, e.Outcome()).Inc()
	case retry.SendWaitEnded:
		l := m.operation(&e).labels
		m.sendWait.WithLabelValues(l.service, l.name, l.region).Observe(seconds(e.Delay))
	default: // not in the metrics
	}
}

func (m *Metrics) attemptEnded(e *retry.Event) {
	end := attemptKey{kind: "ok"}
	if e.Err != nil {
		end = attemptKey{e.Verdict.Kind().String(), m.errorTypes.get(e.ErrorType())}
	}
	a := m.operation(e).attempts.get(end)
	a.count.Inc()
	a.duration.Observe(seconds(e.Elapsed))
}

func (m *Metrics) operationEnded(e *retry.Event) {
	o := m.operation(e)
	o.calls.get(e.Outcome()).Observe(seconds(e.Elapsed))
	l, retries, delay := o.labels, e.Attempt-1, e.BackoffWait+e.QuotaWait
	if retries > 0 {
		m.callRetries.WithLabelValues(l.service, l.name, l.region).Observe(float64(retries))
	}
	if retries > 0 || delay > 0 {
		m.callRetryDelay.WithLabelValues(l.service, l.name, l.region).Observe(seconds(delay))
	}
}

// operation returns the metrics of the operation of an event.
func (m *Metrics) operation(e *retry.Event) *operation {
	return m.operations.get(operationKey{cut(e.Operation.Service), cut(e.Operation.Name), cut(e.Operation.Region)})
}

// seconds never returns less than zero, so that no sum goes down.
func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }
