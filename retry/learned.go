package retry

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/awsretry/awsretry/internal/recent"
)

// Slower says which attempts a [LearnedTimeout] ends: those that take Factor times as long as the
// attempts of their scope and operation took lately, by a quantile of these. All fields must be set.
type Slower struct {
	// Quantile is the quantile, such as 0.9. It must be above 0 and below 1.
	Quantile float64
	// Factor is how many times as long as the quantile an attempt may take. It must be 1 or more.
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
	// maxLearned is how many scopes and operations a LearnedTimeout keeps times of, in 1.6 KB each.
	maxLearned = 1000
	// forgotten is how long it keeps those of one without attempts: ten half-lives, after which
	// they count next to nothing.
	forgotten = 5 * time.Minute
)

// LearnedTimeout is a timeout that follows what attempts took lately. [NewLearnedTimeout] makes one.
// It is safe for concurrent use, and clients may share one: they learn together.
//
// It learns for each scope and operation: account, service, region, resource or Scope, and Name of
// [Operation]. An attempt counts half after 30 s. Attempts that succeed count, and those that it
// ends, as ones that took more than their timeout. As long as less is known than 20 recent attempts
// say, the timeout is Ceiling. A second attempt has twice the timeout of a first one, and so on. An
// attempt after which there can be no other one has Ceiling, so that no call fails that only had
// to be patient.
//
// It ends at most one attempt in 20, and up to ten at once if it has ended fewer before. Further
// attempts go on until Ceiling: where a service has become slow as a whole, it gets no more repeats
// than that, and the retry quota stays for failures. While more than a tenth of the attempts of
// a scope are over their timeout, the timeout does not fall.
//
// It keeps the times of 1,000 scopes and operations at most, each until there was no attempt for five
// minutes. Those for which there is no room have Ceiling.
type LearnedTimeout struct {
	slower Slower

	mu     sync.Mutex // guards all below; taken before that of a learnedScope
	scopes map[ScopeKey]*learnedScope
	swept  time.Time
}

// NewLearnedTimeout returns a timeout that knows of no attempts yet, or an error that names the field
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
		t.scopes[key] = s
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

// took tells of an attempt that succeeded.
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
