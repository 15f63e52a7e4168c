package play

import (
	"context"
	"errors"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// Recorder is an observer that keeps the events.
type Recorder struct {
	mu     sync.Mutex
	Events []retry.Event // read them when the operations have ended
}

// Observe keeps the event.
func (r *Recorder) Observe(_ context.Context, e retry.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Events = append(r.Events, e)
}

// Of returns the events of a kind.
func (r *Recorder) Of(kind retry.EventKind) (found []retry.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.Events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// Use makes it the observer of a strategy.
func (r *Recorder) Use(c *adaptive.Config) { c.Standard.Observer = r }

// Refusal returns why the client gave up.
func Refusal(t require.TestingT, err error) *retry.Error {
	refusal, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok, err)
	return refusal
}
