package fleet

import (
	"context"
	"sync"

	"github.com/awsretry/awsretry/clock"
)

// Memory is a [Store] in the memory of the process, for tests, and for a process with several
// strategies that share a limit. Its zero value is ready to use. It keeps what it is told
// until the scope is open again. It is safe for concurrent use.
type Memory struct {
	// Clock is the clock of the store; nil means [clock.System]. Before 1970 it stands still for
	// the store, which then sells no slots.
	Clock clock.Clock

	mu     sync.Mutex
	states map[string]string
}

// Call returns what [Step] says, and an error only if ctx is done beforehand.
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
