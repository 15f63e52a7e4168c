package proptest_test

import (
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/retry"
)

// scopeLife is a scope from its creation on. It goes on after its eviction for as long
// as operations do that began in it.
type scopeLife struct {
	key      retry.ScopeKey
	tokens   int // of its quota
	limiter  *bookedLimiter
	failed   bool // it has no limiter, though it should
	use      use
	lastUsed time.Time
	hand     bool // has perhaps come by since
}

// use is what is known of the flag of a scope: whether it was used since the table was
// looked through.
type use string

const (
	flagged   use = "flagged"
	unflagged use = "unflagged"
	perhaps   use = "perhaps" // flagged, but the hand may have come by
)

// fewVictims is how many scopes may be asked whether they have to stay before an
// operation goes to the overflow.
const fewVictims = 4

// born begins the life of a scope, which has the limiter that was made last.
func (r *forgetfulRun) born(key retry.ScopeKey) *scopeLife {
	life := &scopeLife{key: key, tokens: *r.config.QuotaInitial, use: flagged, lastUsed: r.clock.Now()}
	if len(r.made) > 0 {
		if life.limiter = r.made[0]; impossible(key) {
			life.limiter, life.failed = nil, true
		}
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
	life.use, life.lastUsed, life.hand = flagged, r.clock.Now(), false
}

// stays says why a scope has to stay although it is not in use, if so.
func (r *forgetfulRun) stays(life *scopeLife) string {
	if r.waitsForQuota(life) {
		return "an operation waits for quota"
	}
	if life.limiter == nil {
		return ""
	}
	expected := life.limiter.Expected(1)
	state, waiting := life.limiter.Limiter.State()
	switch {
	case waiting > 0:
		return "an attempt waits"
	case expected > 0:
		return "it has no send token"
	case !state.LastThrottle.IsZero() && r.clock.Now().Sub(state.LastThrottle) < 10*time.Minute:
		return "it was throttled"
	}
	return ""
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
}

func (r *forgetfulRun) creation() creation {
	c := creation{
		run: r, before: map[retry.ScopeKey]*scopeLife{}, stays: map[retry.ScopeKey]string{},
		sweep: r.clock.Now().Sub(r.swept) >= r.config.ScopeIdle,
		full:  len(r.table) >= r.config.MaxScopes,
	}
	for key, life := range r.table {
		c.before[key] = life
		if why := r.stays(life); why != "" {
			c.stays[key] = why
		}
	}
	return c
}

// evicted checks what a creation has driven out.
func (c creation) evicted(t *rapid.T, evicted map[retry.ScopeKey]bool) {
	must, may, unflaggedOne := 0, 0, false // how many a sweep evicts
	for key, life := range c.before {
		free := c.stays[key] == ""
		require.False(t, evicted[key] && !free, "%q went: %s", key, c.stays[key])
		switch {
		case !free:
		case life.use == unflagged:
			must++
			unflaggedOne = true
			require.True(t, !c.sweep || evicted[key], "%q was not used since the last sweep", key)
		case life.use == perhaps:
			may++
		}
	}
	sweeps := c.sweep && (must > 0 || len(evicted) > 1 || may > 0 && len(evicted) > 0)
	for key := range evicted {
		require.Contains(t, c.before, key)
		life := c.before[key]
		switch {
		case sweeps:
			require.True(t, life.use != flagged || !unflaggedOne && len(evicted) == 1 && c.full, "%q was used since the last sweep", key)
			idle := c.run.clock.Now().Sub(life.lastUsed)
			require.True(t, c.full || life.hand || idle >= c.run.config.ScopeIdle, "%q was used %v ago", key, idle)
		default:
			require.True(t, c.full, "%q went although there was room", key)
			require.True(t, life.use != flagged || !unflaggedOne, "%q went although another one was not in use", key)
		}
	}
	if !sweeps {
		require.LessOrEqual(t, len(evicted), 1)
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
	require.GreaterOrEqual(t, len(c.stays), min(fewVictims, len(c.before)), "not all of the victims had to stay")
}

// after notes what the creation has done to the flags of those that are left: a sweep
// clears them all, the hand clears some, and all of them if it came round to one in use.
func (c creation) after(evicted map[retry.ScopeKey]bool) {
	round := false
	for key := range evicted {
		round = round || c.before[key].use == flagged
	}
	for key, life := range c.before {
		switch {
		case evicted[key]:
		case c.sweep || c.full && round:
			life.use = unflagged
		case c.full && life.use == flagged:
			life.use = perhaps
		}
		if c.full {
			life.hand = true
		}
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
	c.after(evicted)
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
