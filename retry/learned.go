package retry

import (
	"fmt"
	"math"
	"sync"
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
	// Ceiling must not be less than Floor.
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
)

// LearnedTimeout is a timeout that follows how long recent attempts took. [NewLearnedTimeout] makes
// one. It is safe for concurrent use. Clients that share one learn together.
//
// It learns for each scope and operation: account, service, region, resource or Scope, and Name of
// [Operation]. Successful attempts count, and attempts that it ended count as longer than their
// timeout. The weight of an attempt halves every 30 s. The timeout is Ceiling until the attempts
// weigh as much as 20 recent ones. It doubles with each further attempt of an operation. The last
// possible attempt has Ceiling, so that no call fails that only needed more time.
//
// It ends at most one attempt in 20, and up to ten at once if it has ended fewer before. Other
// attempts go on until Ceiling, so that a service that is slow as a whole gets few repeats and the
// retry quota is left for failures. The timeout does not fall while more than a tenth of the attempts
// of a scope exceed theirs.
//
// It keeps the times of at most 1,000 scopes and operations, and drops those without an attempt for
// five minutes. Those without room have Ceiling.
type LearnedTimeout struct {
	slower Slower

	mu     sync.Mutex // guards all below; taken before that of a learnedScope
	scopes map[ScopeKey]*learnedScope
	swept  time.Time
}

// NewLearnedTimeout returns a timeout that has learned nothing yet, or an error that names the field
// that is out of range.
func NewLearnedTimeout(s Slower) (*LearnedTimeout, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return &LearnedTimeout{slower: s, scopes: map[ScopeKey]*learnedScope{}}, nil
}

func (*LearnedTimeout) attemptTimeout() {}

// learnedScope is what is known of a scope and operation.
type learnedScope struct {
	mu    sync.Mutex // guards times
	times recent.Times
}

// scope returns what is known of an operation; nil if there is no room for it.
func (t *LearnedTimeout) scope(op *Operation, now time.Time) *learnedScope {
	key := op.Key()
	key.Name = op.Name
	t.mu.Lock()
	defer t.mu.Unlock()
	s, known := t.scopes[key]
	full := !known && len(t.scopes) >= maxLearned
	if age := now.Sub(t.swept); age >= forgotten || full && age >= forgotten/10 {
		t.sweepLocked(now)
		s, known = t.scopes[key]
		full = len(t.scopes) >= maxLearned
	}
	if !known && !full {
		s = &learnedScope{times: recent.New(now)}
		t.scopes[key.Clone()] = s
	}
	return s
}

// sweepLocked forgets scopes without attempts. An attempt that is still under way may hold one of
// them; what it reports is then lost.
func (t *LearnedTimeout) sweepLocked(now time.Time) {
	t.swept = now
	for key, s := range t.scopes {
		s.mu.Lock()
		last := s.times.Last()
		s.mu.Unlock()
		if now.Sub(last) >= forgotten {
			delete(t.scopes, key)
		}
	}
}

// of returns the timeout of an attempt of the scope.
func (t *LearnedTimeout) of(s *learnedScope, attempt int, last bool, now time.Time) time.Duration {
	if s == nil {
		return t.slower.Ceiling
	}
	s.mu.Lock()
	d, ok := s.times.Limit(now, t.slower.Quantile, t.slower.Factor)
	s.mu.Unlock()
	if !ok || last {
		return t.slower.Ceiling
	}
	grows := FixedTimeout{First: min(max(d, t.slower.Floor), t.slower.Ceiling), Factor: 2, Max: t.slower.Ceiling}
	return grows.of(attempt)
}

// took records an attempt that succeeded.
func (s *learnedScope) took(now time.Time, d time.Duration, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times.Took(now, d, over)
}

// end reports whether an attempt that is over its timeout may be ended.
func (s *learnedScope) end(now time.Time, after time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times.End(now, after)
}
