package retry

import (
	"sync"
	"weak"
)

// Hold says whose state the operation uses: that of the scope with this key, or of
// the strategy as a whole if key is nil. It is for strategies that drop the state
// of scopes: from Hold until the operation ends, InFlight lists the scope. Whoever
// uses it does so for every operation, right after Open, and gives the same
// pointer for the same scope, so that nothing is written for an operation that uses
// the scope of the one before.
func (r *Record[D]) Hold(key *ScopeKey) {
	if r.held.Load() != key {
		r.held.Store(key)
	}
	if key != nil {
		r.word.Store(word(r.word.Load()>>phaseBits, issued))
	}
}

// InFlight returns how many operations are under way in each scope that is held;
// those of the strategy as a whole count from their first Wait on. An operation
// whose token was dropped counts until the garbage collector has found that out.
func (ts *Tokens[D]) InFlight() map[ScopeKey]int { return ts.roster.inFlight() }

// lastPhase is what the state of an operation that ends is set to: one that holds a
// scope is under way until Close.
func (t Token) lastPhase() phase {
	if t.cell == nil || t.cell.held.Load() == nil {
		return free
	}
	return issued
}

// roster knows all cells that somebody still has, or the pool.
type roster struct {
	mu    sync.Mutex
	cells []weak.Pointer[cell] // guarded by mu
	next  int                  // guarded by mu: whom to look at next
}

// add lists a cell. It looks at two others, in turn, and forgets those that are
// gone: where more than half are, the list gets shorter.
func (s *roster) add(c *cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range min(2, len(s.cells)) {
		last := len(s.cells) - 1
		if s.next > last {
			s.next = 0
		}
		if s.cells[s.next].Value() != nil {
			s.next++
			continue
		}
		s.cells[s.next], s.cells[last] = s.cells[last], weak.Pointer[cell]{}
		s.cells = s.cells[:last]
	}
	s.cells = append(s.cells, weak.Make(c))
}

func (s *roster) inFlight() map[ScopeKey]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := make(map[ScopeKey]int)
	for _, weakly := range s.cells {
		c := weakly.Value()
		if c == nil || phase(c.word.Load()&phaseMask) == free {
			continue
		}
		key := ScopeKey{}
		if held := c.held.Load(); held != nil {
			key = *held
		}
		counts[key]++
	}
	return counts
}
