package proptest_test

import (
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// scopeLife is a scope from its creation on. It goes on after its eviction for as long
// as operations do that began in it.
type scopeLife struct {
	key      retry.ScopeKey
	tokens   int // of its quota
	limiter  *bookedLimiter
	use      use
	lastUsed time.Time
	turn     bool // its shard may have had one since
}

// use is what is known of the flag of a scope: whether it was used since the last turn of its shard.
type use string

const (
	flagged   use = "flagged"
	unflagged use = "unflagged"
	perhaps   use = "perhaps" // flagged, but its shard may have had a turn
)

// born begins the life of a scope, which has the limiter that was made last.
func (r *forgetfulRun) born(key retry.ScopeKey) *scopeLife {
	life := &scopeLife{key: key, tokens: *r.config.QuotaInitial, use: flagged, lastUsed: r.clock.Now()}
	if len(r.made) > 0 {
		life.limiter = r.made[0]
		r.made = r.made[1:]
	}
	r.created++
	return life
}

// present returns all scopes that there are.
func (r *forgetfulRun) present() []*scopeLife {
	all := []*scopeLife{r.whole}
	if r.overflow != nil {
		all = append(all, r.overflow)
	}
	for _, life := range r.table {
		all = append(all, life)
	}
	return all
}

// touch says that a scope is in use, unless it has gone.
func (r *forgetfulRun) touch(life *scopeLife) {
	life.use, life.lastUsed, life.turn = flagged, r.clock.Now(), false
}

// stays says why a scope has to stay although it is not in use, if so.
func (r *forgetfulRun) stays(life *scopeLife) (why string) {
	switch {
	case life.tokens < *r.config.QuotaInitial:
		return "a new one would have more tokens"
	case r.waitsForQuota(life):
		return "an operation waits for quota"
	case life.limiter == nil:
		return ""
	}
	expected := life.limiter.Expected(ratelimit.Request{Part: true})
	switch state := life.limiter.Limiter.State(); {
	case state.Waiting > 0:
		return "an attempt waits"
	case expected > 0:
		return "it has no send token"
	case !state.LastThrottle.IsZero() && r.clock.Now().Before(state.LastThrottle.Add(10*time.Minute)):
		return "it was throttled"
	default:
		return ""
	}
}

// waitsForQuota reports whether an operation that began in the scope waits for its quota,
// which it does after its backoff.
func (r *forgetfulRun) waitsForQuota(life *scopeLife) bool {
	for _, v := range r.open {
		if v.life == life && v.cancel != nil && v.owed > 0 && !r.clock.Now().Before(v.due) {
			return true
		}
	}
	return false
}

// creation is what is to be expected when a scope is created.
type creation struct {
	run    *forgetfulRun
	before map[retry.ScopeKey]*scopeLife
	stays  map[retry.ScopeKey]string
	sweep  bool
	full   bool
	known  bool // that all have to stay, so that no shard has a turn
}

func (r *forgetfulRun) creation() creation {
	now := r.clock.Now()
	c := creation{
		run: r, before: map[retry.ScopeKey]*scopeLife{}, stays: map[retry.ScopeKey]string{},
		full: len(r.table) >= r.config.MaxScopes,
	}
	c.known = c.full && now.Before(r.full)
	c.sweep = !c.known && now.Sub(r.swept) >= r.config.ScopeIdle
	for key, life := range r.table {
		c.before[key] = life
		if why := r.stays(life); why != "" {
			c.stays[key] = why
		}
	}
	return c
}

// evicted checks what a creation has driven out: in a sweep all that were not used since the one before,
// for want of a place as many or, where all were used, one.
func (c creation) evicted(t *rapid.T, evicted map[retry.ScopeKey]bool) {
	inUse := 0
	for key := range evicted {
		require.Contains(t, c.before, key)
		life := c.before[key]
		require.Empty(t, c.stays[key], "%q went", key)
		require.True(t, !c.known && (c.full || c.sweep), "%q went although there was room", key)
		idle := c.run.clock.Now().Sub(life.lastUsed)
		require.True(t, c.full || life.turn || idle >= c.run.config.ScopeIdle, "%q was used %v ago", key, idle)
		if life.use == flagged {
			inUse++
		}
	}
	if inUse > 0 {
		require.True(t, c.full)
		require.Len(t, evicted, 1)
	}
	for key, life := range c.before {
		if life.use == unflagged && c.stays[key] == "" && !evicted[key] {
			require.False(t, c.sweep, "%q was not used since the last sweep", key)
			require.Zero(t, inUse, "%q was not used", key)
		}
	}
}

// placed checks that an operation has gone to the overflow only for want of a place.
func (c creation) placed(t *rapid.T, evicted int, overflowed bool) {
	if !overflowed {
		require.True(t, !c.full || evicted > 0, "there was no room")
		return
	}
	require.True(t, c.full, "there was room")
	require.Zero(t, evicted, "there was room then")
	if !c.known {
		require.Len(t, c.stays, len(c.before), "one of them could have gone")
		c.run.full = c.run.clock.Now().Add(10 * time.Second)
	}
}

// after notes what the creation has done to the flags of those that are left: a sweep
// clears them all, and so do two rounds. Otherwise it is not known which shards had a turn.
func (c creation) after(evicted map[retry.ScopeKey]bool, interrupted bool) {
	if c.known {
		return
	}
	rounds := c.full && len(evicted) == 0
	for key := range evicted {
		rounds = rounds || c.before[key].use == flagged
	}
	for key, life := range c.before {
		switch {
		case evicted[key]:
		case !interrupted && (c.sweep || rounds):
			life.use = unflagged
		case (c.full || c.sweep) && life.use == flagged:
			life.use = perhaps
		}
		life.turn = life.turn || c.full || interrupted
	}
	if c.sweep {
		c.run.swept = c.run.clock.Now()
	}
}

// happened checks and books what the creation for a key was told to have done, and returns
// the scope that the operation is in.
func (c creation) happened(t *rapid.T, key retry.ScopeKey, news []retry.Event) *scopeLife {
	r, evicted, created := c.run, map[retry.ScopeKey]bool{}, map[retry.ScopeKey]bool{}
	for _, e := range news {
		kind := created
		if e.Kind == retry.ScopeEvicted {
			kind = evicted
		}
		require.False(t, kind[e.Scope], "%v of %q, twice", e.Kind, e.Scope)
		kind[e.Scope] = true
	}
	c.evicted(t, evicted)
	c.placed(t, len(evicted), !created[key])
	c.after(evicted, false)
	r.forget(evicted)
	if created[key] {
		require.Len(t, created, 1)
		r.table[key] = r.born(key)
		return r.table[key]
	}
	return r.overflows(t, created)
}

// forget takes what was evicted out of the table.
func (r *forgetfulRun) forget(evicted map[retry.ScopeKey]bool) {
	for gone := range evicted {
		r.gone = append(r.gone, r.table[gone])
		delete(r.table, gone)
	}
	r.evicted += uint64(len(evicted))
}

// overflows books an operation that shares the overflow.
func (r *forgetfulRun) overflows(t *rapid.T, created map[retry.ScopeKey]bool) *scopeLife {
	require.Equal(t, r.overflow == nil, created[retry.OverflowKey()])
	if r.overflow == nil {
		require.Len(t, created, 1)
		r.overflow = r.born(retry.OverflowKey())
	} else {
		require.Empty(t, created)
	}
	r.overflowed++
	return r.overflow
}
