package retry

import "context"

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
