package retry

import "context"

// Observer gets the events of strategies. A strategy calls it with no lock held, in the
// goroutine that caused the event, so a slow observer slows the operation. It must be safe for
// concurrent use. The strategy recovers a panic of the observer, which then misses only that
// event.
type Observer interface {
	// Observe is called once for each event. ctx is the context of the operation.
	Observe(ctx context.Context, e Event)
}

// ObserverFunc is a function that is an [Observer].
type ObserverFunc func(ctx context.Context, e Event)

// Observe calls the function.
func (f ObserverFunc) Observe(ctx context.Context, e Event) { f(ctx, e) }

// Observers returns an observer that passes each event to all of these, in this order. If one
// panics, the others still get the event. Nil observers are skipped; if no other is left, the
// result is nil, which is no observer.
func Observers(list ...Observer) Observer {
	var all observers
	for _, one := range list {
		if one != nil {
			all = append(all, one)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	default:
		return all
	}
}

type observers []Observer

func (all observers) Observe(ctx context.Context, e Event) {
	for _, one := range all {
		observe(ctx, one, e)
	}
}

func observe(ctx context.Context, one Observer, e Event) {
	defer func() { _ = recover() }()
	one.Observe(ctx, e)
}
