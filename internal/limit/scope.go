package limit

import (
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Scope is what operations with the same key share. It is safe for concurrent use.
type Scope struct {
	use         atomic.Uint32
	ended       atomic.Int64          // when an operation last ended while the quota was not full, or the scope was made, since Config.Start
	next        atomic.Pointer[Scope] // in its bucket
	hash        uint64                // of the key
	Quota       *Quota
	Limiter     ratelimit.Limiter // nil in standard mode
	known       bool              // whether a new limiter has the tokens of a known limit
	Err         error             // what is wrong with the limiter, or nil
	batches     Batches
	AttemptTime AttemptTime // for attempts while the send rate is limited
	Key         retry.ScopeKey
	strained    atomic.Uint64 // operations that ended while the quota was not full
	refused     atomic.Uint64 // operations that failed for lack of quota
	name        string
	place       int // index in Table.scopes; guarded by Table.mu
}

// The values of Scope.use.
const (
	unused uint32 = iota // since the last visit of the cursor
	used
	gone // from the table: the next operation with the key makes another scope
)

// newScope makes the scope of a key.
func (t *Table) newScope(key retry.ScopeKey) *Scope {
	key = key.Clone()
	s := &Scope{Key: key, name: key.String(), hash: t.hash(&key)}
	config := t.config.Quota
	if key != (retry.ScopeKey{}) { // a strategy without scopes has only the quota of the AWS SDKs
		config.Pool = t.Pool
	}
	s.Quota = NewQuota(config, t.config.Start, t.config.Clock)
	s.use.Store(used)
	s.ended.Store(int64(t.config.Clock.Now().Sub(t.config.Start)))
	if t.config.NewLimiter != nil {
		s.Limiter, s.known, s.Err = t.config.NewLimiter(key, t.config.Start)
	}
	return s
}

// Touch marks the scope as used, and reports whether it is still in the table. An operation that
// began before its scope was removed continues with it.
func (s *Scope) Touch() bool {
	if use := s.use.Load(); use != unused {
		return use == used
	}
	return s.use.CompareAndSwap(unused, used) || s.use.Load() == used
}

// Snapshot returns the state of the scope.
func (s *Scope) Snapshot() retry.ScopeSnapshot {
	var got retry.ScopeSnapshot
	if s.Limiter != nil {
		got = s.Limiter.State()
	}
	got.Key, got.Scope = s.Key, s.name
	got.Quota, got.QuotaCapacity, got.Debt = s.Quota.Available(), s.Quota.Capacity(), s.Quota.Debt()
	got.DebtLimit = s.Quota.DebtLimit()
	got.StrainedCalls, got.RefusedCalls = s.strained.Load(), s.refused.Load()
	return got
}

// Throttled is Batches.Throttled. Most answers have no batch, and nothing to say about those before.
func (s *Scope) Throttled(throttled, entries int) bool {
	return (throttled > 0 || entries > 0 || s.batches.missing.Load() > 0) && s.batches.Throttled(throttled, entries)
}

// Ended counts an operation that ended, and whether with a success of the first attempt, or for lack of quota. Healthy traffic
// writes nothing here, as in the quota.
func (t *Table) Ended(s *Scope, first, lacked bool) {
	if !lacked && s.Quota.Full() {
		return
	}
	if first {
		s.Quota.Helped()
	}
	s.strained.Add(1)
	if lacked {
		s.refused.Add(1)
	}
	s.ended.Store(int64(t.config.Clock.Now().Sub(t.config.Start)))
	if s.use.Load() == gone && s != t.overflow.Load() {
		t.keepCounts(s)
	}
}

// keepCounts takes over the counts of a scope that is gone. Who counts in it looks afterwards whether it is, so that none is lost.
func (t *Table) keepCounts(s *Scope) {
	t.strained.Add(s.strained.Swap(0))
	t.refused.Add(s.refused.Swap(0))
}

// AttemptTime estimates how long the attempts of a scope take, so that no send token is spent on an attempt
// that the deadline of its caller cuts short. It is the estimate of round-trip times of RFC 6298,
// section 2, but it begins without a deviation and adds the deviation twice, not four times, because
// a caller refused by mistake loses its call.
//
// It is safe for concurrent use. If two attempts end at once, one of them may not count.
type AttemptTime struct{ mean, deviation atomic.Int64 }

// longest is the longest time of an attempt that counts; sums of a few do not overflow.
const longest = int64(24 * time.Hour)

// Note counts a successful attempt.
func (t *AttemptTime) Note(took time.Duration) {
	last, mean, deviation := min(max(int64(took), 0), longest), t.mean.Load(), t.deviation.Load()
	if mean == 0 {
		t.mean.Store(last)
		return
	}
	t.deviation.Store(deviation + (max(last-mean, mean-last)-deviation)/4)
	t.mean.Store(mean + (last-mean)/8)
}

// Needed returns the time that most attempts take; 0 if it is unknown.
func (t *AttemptTime) Needed() time.Duration {
	return time.Duration(t.mean.Load() + 2*t.deviation.Load())
}
