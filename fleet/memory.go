package fleet

import (
	"context"
	"sync"

	"github.com/awsretry/awsretry/clock"
)

// Memory is a [Store] in memory, for tests and for one process with several strategies that share a
// limit. Its zero value is ready to use. It keeps the state of a scope until the scope is open
// again. It is safe for concurrent use.
type Memory struct {
	// Clock is the clock of the store; nil means [clock.System]. The store treats a time before
	// 1970 as standing still, and then sells no slots.
	Clock clock.Clock

	mu     sync.Mutex
	states map[string]string
}

// Call returns the reply of [Step], and an error only if ctx is already done.
func (m *Memory) Call(ctx context.Context, key string, ask Ask) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	clk := m.Clock
	if clk == nil {
		clk = clock.System{}
	}
	next, reply := Step(m.states[key], clk.Now(), ask)
	switch {
	case next == "":
		delete(m.states, key)
	case m.states == nil:
		m.states = map[string]string{key: next}
	default:
		m.states[key] = next
	}
	return reply, nil
}

// Flush forgets everything.
func (m *Memory) Flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.states)
}
