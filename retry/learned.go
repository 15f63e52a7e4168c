package retry

import (
	"fmt"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/internal/recent"
)

// Slower says which attempts a [LearnedTimeout] ends: those that take longer than Factor times a
// quantile of the recent attempts of their scope and operation. All fields must be set.
type Slower struct {
	// Quantile is the quantile, such as 0.9. It must be above 0 and below 1.
	Quantile float64
	// Factor times the quantile is how long an attempt may take. It must be 1 or more.
	Factor float64
	// Floor and Ceiling are the shortest and the longest timeout. Both must be more than zero, and
	// Ceiling must not be less than Floor. An answer that takes longer than Ceiling fails its attempt, so
	// Ceiling must be longer than the slowest answer that is worth having.
	Floor, Ceiling time.Duration
}

func (s *Slower) check() error {
	switch {
	case !(s.Quantile > 0 && s.Quantile < 1): // also NaN
		return fmt.Errorf("retry: Slower.Quantile %v: must be above 0 and below 1", s.Quantile)
	case !(s.Factor >= 1 && s.Factor <= math.MaxFloat64):
		return fmt.Errorf("retry: Slower.Factor %v: must be a finite number of 1 or more", s.Factor)
	case s.Floor <= 0:
		return fmt.Errorf("retry: Slower.Floor %v: must be more than zero", s.Floor)
	case s.Ceiling < s.Floor:
		return fmt.Errorf("retry: Slower.Ceiling %v: must not be less than Floor, which is %v", s.Ceiling, s.Floor)
	default:
		return nil
	}
}

const (
	// maxLearned is the number of scopes and operations for which a LearnedTimeout keeps times, in
	// 1.6 KB each.
	maxLearned = 1000
	// forgotten is how long it keeps times without new attempts: ten half-lives, after which
	// they weigh next to nothing.
	forgotten = 5 * time.Minute
	// renewed is how often the timeout of a scope is computed at most. In that time it hardly changes.
	renewed = 100 * time.Millisecond
)

// LearnedTimeout is a timeout that follows how long recent attempts took. [NewLearnedTimeout] makes
// one. It is safe for concurrent use. Clients that share one learn together.
//
// It learns for each scope and operation: account, service, region, resource or Scope, and Name of
// [Operation]. Successful attempts count, and attempts that it ended count as longer than their
// timeout. The weight of an attempt halves every 30 s. The timeout is Ceiling until the attempts
// weigh as much as 20 recent ones. It doubles with each further attempt of an operation.
//
// It ends an attempt only if another one follows, so that no call fails that only needed more time. At
// that instant it takes what the retry needs: quota, and in adaptive mode a send token. The attempt goes
// on until Ceiling if these are not there at once, if no attempt is left, if a classifier or a rule is
// against a retry, or if the end of the operation leaves no room. It also goes on where code of the program
// decides about the retry: a strategy or a retryer around one of this module, or a policy. It cannot know what
// a function makes of the end: one that hides the error of its context, or marks it against a retry,
// fails the call. The deadline must leave the next attempt four times its timeout, or Ceiling. Without the
// context of an attempt, see [AttemptFrom], every attempt has Ceiling. Ceiling itself is a bound: it ends
// the last attempt too. So does a [FixedTimeout].
//
// It ends at most one attempt in 20, and up to ten at once if it has ended fewer before. Other
// attempts go on until Ceiling, so that a service that is slow as a whole gets few repeats and the
// retry quota is left for failures. The timeout does not fall while more than a tenth of the attempts
// of a scope exceed theirs.
//
// Attempts never wait for each other. Of two that begin or end at the same instant, one may not count.
//
// It keeps the times of at most 1,000 scopes and operations, and drops those without an attempt for
// five minutes. Those without room have Ceiling.
type LearnedTimeout struct {
	slower Slower
	// scopes is never modified, only replaced, so that no attempt of a known scope takes a lock.
	scopes atomic.Pointer[map[ScopeKey]*learnedScope]
	swept  atomic.Int64 // when scopes were last forgotten, in Unix nanoseconds

	mu sync.Mutex // held to replace scopes; taken before that of a learnedScope
}

// NewLearnedTimeout returns a timeout that has learned nothing yet, or an error that names the field
// that is out of range.
func NewLearnedTimeout(s Slower) (*LearnedTimeout, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	t := &LearnedTimeout{slower: s}
	t.scopes.Store(&map[ScopeKey]*learnedScope{})
	return t, nil
}

func (*LearnedTimeout) attemptTimeout() {}

// learnedScope is what is known of a scope and operation. Its attempts never wait for each other: one that
// finds the lock taken uses the timeout that was computed before, does not count, and is not ended.
type learnedScope struct {
	limit    atomic.Int64 // the timeout in nanoseconds; 0 if too little is known
	computed atomic.Int64 // when, in Unix nanoseconds

	mu    sync.Mutex // guards times; held only for arithmetic
	times recent.Times
}

// scope returns what is known of an operation; nil if there is no room for it.
func (t *LearnedTimeout) scope(op *Operation, now time.Time) *learnedScope {
	key := op.Key()
	key.Name = op.Name
	known := *t.scopes.Load()
	s := known[key]
	full := s == nil && len(known) >= maxLearned
	if (s != nil || full) && !t.forgets(now, full) {
		return s
	}
	return t.newScope(key, now)
}

// forgets reports whether it is time to forget scopes. A full t looks more often, and after its clock has gone back.
func (t *LearnedTimeout) forgets(now time.Time, full bool) bool {
	age := time.Duration(now.UnixNano() - t.swept.Load())
	return age >= forgotten || full && (age >= forgotten/10 || age < 0)
}

// newScope forgets scopes without attempts if it is time, and adds one if there is room.
func (t *LearnedTimeout) newScope(key ScopeKey, now time.Time) *learnedScope {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed := maps.Clone(*t.scopes.Load())
	if t.forgets(now, len(changed) >= maxLearned) {
		t.swept.Store(now.UnixNano())
		// An attempt that is still under way may hold a forgotten scope; what it reports is then lost.
		maps.DeleteFunc(changed, func(_ ScopeKey, s *learnedScope) bool { return now.Sub(s.last()).Abs() >= forgotten })
	}
	s := changed[key]
	if s == nil && len(changed) < maxLearned {
		s = &learnedScope{times: recent.New(now)}
		changed[key.Clone()] = s
	}
	t.scopes.Store(&changed)
	return s
}

func (s *learnedScope) last() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times.Last()
}

// of returns the timeout of an attempt of the scope.
func (t *LearnedTimeout) of(s *learnedScope, attempt int, now time.Time) time.Duration {
	d := time.Duration(0)
	if s != nil {
		d = s.usual(&t.slower, now)
	}
	if d == 0 {
		return t.slower.Ceiling
	}
	grows := FixedTimeout{First: min(max(d, t.slower.Floor), t.slower.Ceiling), Factor: 2, Max: t.slower.Ceiling}
	return grows.of(attempt)
}

// usual returns the timeout without its bounds; 0 if too little is known.
func (s *learnedScope) usual(slower *Slower, now time.Time) time.Duration {
	d := time.Duration(s.limit.Load())
	if age := time.Duration(now.UnixNano() - s.computed.Load()); d > 0 && age >= 0 && age < renewed || !s.mu.TryLock() {
		return d
	}
	defer s.mu.Unlock()
	d, _ = s.times.Limit(now, slower.Quantile, slower.Factor)
	s.limit.Store(int64(d))
	s.computed.Store(now.UnixNano())
	return d
}

// took records an attempt that succeeded.
func (s *learnedScope) took(now time.Time, d time.Duration, over bool) {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		s.times.Took(now, d, over)
	}
}

// end ends an attempt that is over its timeout, unless too many have been ended or retry does not get what a
// retry needs. It holds no lock during that call.
func (s *learnedScope) end(now time.Time, after time.Duration, retry func() bool) (ended bool) {
	if !s.claim() {
		return false
	}
	defer func() { // also after a panic
		s.mu.Lock()
		defer s.mu.Unlock()
		if ended {
			s.times.Ended(now, after)
		} else {
			s.times.Unclaim()
		}
	}()
	return retry()
}

func (s *learnedScope) claim() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	return s.times.Claim()
}
