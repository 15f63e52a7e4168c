package proptest_test

import (
	"slices"
	"time"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func (m *standardModel) v21() bool { return m.config.Behavior != retry.V20 }

func (m *standardModel) service(op retry.Operation) string { return or(op.Service, m.config.Service) }

// dynamoDB reports whether the defaults of S17 hold, which S17b leaves out of v2.0.
func (m *standardModel) dynamoDB(op retry.Operation) bool {
	return m.v21() && slices.Contains([]string{"dynamodb", "dynamodb-streams"}, m.service(op))
}

func (m *standardModel) attempts(op retry.Operation) int {
	byDefault := 3
	if m.dynamoDB(op) {
		byDefault = 4
	}
	return max(or(op.MaxAttempts, m.config.MaxAttempts, byDefault), 1)
}

func (m *standardModel) capacity() int {
	if m.config.QuotaCapacity == nil {
		return 500
	}
	return *m.config.QuotaCapacity
}

// poolCapacity is that of S23.
func (m *standardModel) poolCapacity() int {
	retryCost := m.cost(&failure{kind: ordinary})
	return min(m.capacity(), max(m.capacity()/5, 2*retryCost))
}

func (m *standardModel) initial() int {
	if m.config.QuotaInitial == nil {
		return m.capacity()
	}
	return min(*m.config.QuotaInitial, m.capacity())
}

// cost is that of S02, S03, S04 and S21.
func (m *standardModel) cost(f *failure) int {
	switch {
	case f.kind == throttle:
		return or(m.config.ThrottlingCost, 5)
	case f.kind == timeout && m.v21():
		return or(m.config.TimeoutCost, 14)
	case f.kind == timeout:
		return or(m.config.TimeoutCost, 10)
	case m.v21():
		return or(m.config.RetryCost, 14)
	default:
		return or(m.config.RetryCost, 5)
	}
}

// delays are the backoff of S10 to S13, and the delay of S14 and S14b with the hint of the server, with
// MaxHint in place of the limits on hints.
func (m *standardModel) delays(o *operationModel, f *failure) (bare, delay time.Duration) {
	longest := or(m.config.MaxBackoff, 20*time.Second)
	bare = min(m.base(o.op, f), longest)
	for range o.attempt - 1 {
		bare = min(2*bare, longest)
	}
	if m.config.Jitter == standard.Full { // to the nearest nanosecond
		bare = (2*bare*time.Duration(m.jitter) + jitterParts) / (2 * jitterParts)
	}
	bare = max(bare, m.config.MinDelay)
	hint, hinted := f.hintOf()
	switch {
	case !hinted:
		return bare, bare
	case m.config.MaxHint > 0:
		return bare, max(bare, min(hint, m.config.MaxHint))
	case m.v21():
		return bare, min(max(hint, bare), bare+5*time.Second)
	default:
		return bare, max(bare, min(hint, longest))
	}
}

// base follows the failure at hand, S12.
func (m *standardModel) base(op retry.Operation, f *failure) time.Duration {
	switch {
	case f.kind == throttle:
		return or(m.config.ThrottlingBase, time.Second)
	case m.dynamoDB(op):
		return or(m.config.Base, 25*time.Millisecond)
	case m.v21():
		return or(m.config.Base, 50*time.Millisecond)
	default:
		return or(m.config.Base, time.Second)
	}
}

// or returns the first value that is not zero.
func or[T comparable](values ...T) T {
	var zero T
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}
