package scope

import "time"

// anotherClock is how much older than the last sweep an instant is that belongs to
// another clock, such as that of a testing/synctest bubble: the idle time counts anew
// from there.
const anotherClock = 365 * 24 * time.Hour

// sweep drops the entries that nobody has used since the sweep before, unless the
// last one is less than the idle time ago, and returns their keys. Sweeps happen
// when an entry is created: there is no timer, and as long as no key is new nothing
// needs room.
//
// An entry that is in use is never dropped. A sweep marks what it wants to drop as
// leaving and then looks who is in flight; a user counts as in flight and then looks
// at the mark: one of the two sees the other. At the end the user touches the entry
// and then no longer counts, and the sweep looks for that last.
func (r *Registry[K, V]) sweep(now time.Time) []K {
	unused := r.unused(now)
	if unused == nil {
		return nil
	}
	defer r.swept()
	if r.config.Keep != nil {
		kept := unused[:0]
		for _, e := range unused {
			if !r.config.Keep(e, now) {
				kept = append(kept, e)
			}
		}
		unused = kept
	}
	return r.drop(unused)
}

// unused begins a sweep and returns the entries that were not touched since the last
// one, or nil if it is not time yet.
func (r *Registry[K, V]) unused(now time.Time) []*Entry[K, V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	passed := now.Sub(r.lastSweep)
	if passed < -anotherClock {
		r.lastSweep = now
	}
	if r.sweeping || passed < r.config.Idle {
		return nil
	}
	r.sweeping, r.lastSweep = true, now
	unused := []*Entry[K, V]{}
	r.Each(func(e *Entry[K, V]) {
		if e != r.whole && !e.used.Swap(false) {
			unused = append(unused, e)
		}
	})
	return unused
}

// swept ends a sweep, also if a function of the user panicked in it.
func (r *Registry[K, V]) swept() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweeping = false
}

// drop removes those entries that are still not in use.
func (r *Registry[K, V]) drop(unused []*Entry[K, V]) []K {
	if len(unused) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range unused {
		e.leaving.Store(true)
	}
	inFlight := r.config.InFlight()
	var dropped []K
	for _, e := range unused {
		if e.used.Load() || inFlight[e.Key] > 0 {
			e.leaving.Store(false)
			continue
		}
		r.others.Delete(e.Key)
		if e.Key != r.config.OverflowKey {
			r.count--
		}
		dropped = append(dropped, e.Key)
	}
	r.evicted.Add(uint64(len(dropped)))
	return dropped
}
