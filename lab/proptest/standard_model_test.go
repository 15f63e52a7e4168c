package proptest_test

import (
	"slices"
	"time"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// standardModel is the standard mode as its rules S01 to S23 say it, one after the
// other, for one goroutine.
type standardModel struct {
	config standard.Config // what the strategy was given, defaults not filled in
	jitter int             // what the random source returns, in parts of jitterParts
	ticks  int             // since the strategy was built
	scopes map[string]*scopeModel
	pool   int // in tokens
}

const jitterParts = 1024

func newStandardModel(config standard.Config, jitter int) *standardModel {
	m := &standardModel{config: config, jitter: jitter, scopes: map[string]*scopeModel{}}
	if config.NoQuota {
		m.pool = m.poolCapacity()
	}
	return m
}

// The quota is counted in parts of a token, so that a refill of eighths of a token
// a second and ticks of 1/512 s are whole numbers.
const (
	tick       = time.Second / 512
	tokenParts = 8 * 512
)

// scopeModel is a quota and its books.
type scopeModel struct {
	parts               int
	paid, back, brought int // in parts: by retries, by what gives back, by time
}

// operationModel is one operation.
type operationModel struct {
	op      retry.Operation
	attempt int
	paid    int       // what the last granted retry cost
	pooled  bool      // the pool has paid that
	made    bool      // the token of the attempt has been waited for
	until   time.Time // no attempt begins later; zero if there is no such limit
}

// mayBegin reports whether an attempt may begin now.
func (o *operationModel) mayBegin(now time.Time) bool { return o.until.IsZero() || !now.After(o.until) }

// Outcomes of a failure.
const (
	retried         = "retry"
	notRetryable    = "not retryable"
	tooManyAttempts = "attempts exhausted"
	noQuota         = "quota exhausted"
	canceled        = "canceled"
	beyondDeadline  = "beyond the deadline"
	tooLate         = "maximum elapsed time"
)

// limits are what the caller's context allows.
type limits struct {
	now      time.Time
	canceled bool
	room     time.Duration // until the deadline; zero means that there is none
}

// fail is what becomes of an operation whose attempt failed.
func (m *standardModel) fail(o *operationModel, f *failure, l limits) (outcome string, wait time.Duration) {
	switch {
	case f.kind == final: // S07, S19, and S14: a hint makes nothing retryable
		return notRetryable, 0
	case o.attempt >= m.attempts(o.op): // S08, S22
		return tooManyAttempts, 0
	case l.canceled:
		return canceled, 0
	}
	scope, cost := m.scope(o.op), m.cost(f)
	bare, delay := m.delays(o, f)
	if l.room > 0 && delay >= l.room || !o.mayBegin(l.now.Add(delay)) {
		delay = bare // S14: a hint fails no call
	}
	covered := scope.parts/tokenParts >= cost
	pooled := !covered && o.op.Key() != (retry.ScopeKey{}) && m.pool >= cost // S23
	if !covered && !pooled {                                                 // S09
		if m.config.BackoffWhenEmpty || o.op.LongPolling && m.v21() { // S15, S20
			return noQuota, delay
		}
		return noQuota, 0
	}
	if l.room > 0 && delay >= l.room {
		return beyondDeadline, 0
	}
	if !o.mayBegin(l.now.Add(delay)) {
		return tooLate, 0
	}
	if pooled {
		m.pool -= cost
	} else {
		scope.parts -= cost * tokenParts
		scope.paid += cost * tokenParts
	}
	o.paid, o.pooled, o.made = cost, pooled, false
	o.attempt++
	return retried, delay
}

// succeed gives back to the quota, S05 and S06, up to the capacity, S01.
func (m *standardModel) succeed(o *operationModel) {
	back := o.paid
	if o.attempt == 1 {
		back = 1
	}
	m.giveBack(o, back)
}

// end is the end of an operation without success. It gives nothing back, S07, but
// for a retry that was granted and not made.
func (m *standardModel) end(o *operationModel) {
	if !o.made {
		m.giveBack(o, o.paid)
	}
}

func (m *standardModel) giveBack(o *operationModel, tokens int) {
	beyond := tokens
	if !o.pooled {
		scope := m.scope(o.op)
		before := scope.parts
		beyond -= min(tokens, m.capacity()-before/tokenParts)
		scope.parts = min(before+tokens*tokenParts, m.capacity()*tokenParts)
		scope.back += scope.parts - before
	}
	if o.op.Key() != (retry.ScopeKey{}) { // S23
		m.pool = min(m.pool+beyond, m.poolCapacity())
	}
}

// pass is time in which nothing happens but the refill.
func (m *standardModel) pass(ticks int) {
	m.ticks += ticks
	for _, scope := range m.scopes {
		m.refill(scope, ticks)
	}
}

func (m *standardModel) refill(scope *scopeModel, ticks int) {
	before := scope.parts
	scope.parts = min(scope.parts+ticks*int(m.config.QuotaRefill*8), m.capacity()*tokenParts)
	scope.brought += scope.parts - before
}

// scope is the quota that all operations of a key share, S18. It begins when the
// strategy does.
func (m *standardModel) scope(op retry.Operation) *scopeModel {
	key := op.Key().String()
	if m.scopes[key] == nil {
		scope := &scopeModel{parts: m.initial() * tokenParts}
		m.refill(scope, m.ticks)
		m.scopes[key] = scope
	}
	return m.scopes[key]
}

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
	case m.config.NoQuota:
		return 0
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
	if m.config.Backoff != nil {
		bare = min(m.config.Backoff(o.attempt, f.err()), longest)
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
