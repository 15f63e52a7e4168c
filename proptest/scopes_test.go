package proptest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/internal/scope"
)

func TestScopesAreAsTheirRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := newScopesRun(t)
		t.Repeat(map[string]func(*rapid.T){
			"":      run.check,
			"get":   run.get,
			"begin": run.begin,
			"end":   run.end,
			"touch": run.touch,
			"keep":  func(t *rapid.T) { key := run.key(t); run.kept[key] = !run.kept[key] },
			"panic": run.panicInCreate,
			"pass":  func(t *rapid.T) { run.now = run.now.Add(run.idle * time.Duration(drawInt(t, -1, 4, "halves")) / 2) },
		})
	})
}

const overflow = "overflow"

// life is a value of the registry: each one that is created is another.
type life struct {
	key    string
	number int
}

// entry is an entry of the registry.
type entry = scope.Entry[string, life]

// scopesRun is a registry beside what its rules say. The model counts the sweeps:
// an entry is idle if it was last used before the one before.
type scopesRun struct {
	registry *scope.Registry[string, life]
	idle     time.Duration
	limit    int
	now      time.Time
	kept     map[string]bool
	users    []*entry
	failing  bool // of the function that creates
	created  int

	lives     map[string]life
	used      map[string]int // in which sweep's time
	sweeps    int
	lastSweep time.Time

	evicted, overflowed uint64
}

func newScopesRun(t *rapid.T) *scopesRun {
	r := &scopesRun{
		idle:      drawFrom(t, "idle", 2, time.Second),
		limit:     drawInt(t, 1, 5, "limit"),
		now:       start(),
		lastSweep: start(),
		kept:      map[string]bool{},
		lives:     map[string]life{"": {number: 1}},
		used:      map[string]int{},
	}
	r.registry = scope.New(scope.Config[string, life]{
		Limit: r.limit, Idle: r.idle, OverflowKey: overflow,
		Now: func() time.Time { return r.now },
		Create: func(key string) life {
			if r.failing {
				panic(errPanic)
			}
			r.created++
			return life{key, r.created}
		},
		Keep:     func(e *scope.Entry[string, life], now time.Time) bool { return r.kept[e.Key] && now.Equal(r.now) },
		InFlight: r.inFlight,
	})
	return r
}

func (r *scopesRun) key(t *rapid.T) string {
	return drawFrom(t, "key", "", "a", "b", "c", "d", "e", "f", "g", overflow)
}

func (r *scopesRun) inFlight() map[string]int {
	counts := map[string]int{}
	for _, e := range r.users {
		counts[e.Key]++
	}
	return counts
}

// want says which life a Get finds, and what else it does.
func (r *scopesRun) want(key string) (found life, news *scope.News[string]) {
	if l, ok := r.lives[key]; ok {
		r.used[key] = r.sweeps
		return l, nil
	}
	news = &scope.News[string]{Evicted: r.sweep()}
	if key != overflow && r.taken() >= r.limit {
		r.overflowed++
		key = overflow
	}
	if _, ok := r.lives[key]; !ok {
		if r.failing {
			return life{}, news
		}
		news.Created = true
		r.lives[key] = life{key, r.created + 1}
	}
	r.used[key] = r.sweeps
	return r.lives[key], news
}

// taken is how many entries count against the limit.
func (r *scopesRun) taken() (n int) {
	for key := range r.lives {
		if key != "" && key != overflow {
			n++
		}
	}
	return n
}

func (r *scopesRun) sweep() (evicted []string) {
	if r.now.Sub(r.lastSweep) < r.idle {
		return nil
	}
	inFlight := r.inFlight()
	for key := range r.lives {
		if key != "" && r.used[key] < r.sweeps && inFlight[key] == 0 && !r.kept[key] {
			evicted = append(evicted, key)
			delete(r.lives, key)
		}
	}
	r.evicted += uint64(len(evicted))
	r.sweeps++
	r.lastSweep = r.now
	return evicted
}

func (r *scopesRun) found(t *rapid.T) *entry {
	key := r.key(t)
	life, want := r.want(key)
	e, news := r.registry.Get(key)
	require.Equal(t, life, e.Value)
	require.Equal(t, life.key, e.Key)
	require.False(t, e.Leaving())
	if want == nil {
		require.Nil(t, news)
		return e
	}
	require.Equal(t, want.Created, news.Created)
	require.ElementsMatch(t, want.Evicted, news.Evicted)
	return e
}

func (r *scopesRun) get(t *rapid.T) { r.found(t) }

func (r *scopesRun) begin(t *rapid.T) { r.users = append(r.users, r.found(t)) }

// touch lets a user say that it is there still.
func (r *scopesRun) touch(t *rapid.T) {
	if len(r.users) == 0 {
		return
	}
	e := r.users[drawInt(t, 0, len(r.users)-1, "user")]
	e.Touch()
	r.used[e.Key] = r.sweeps
}

func (r *scopesRun) end(t *rapid.T) {
	if len(r.users) == 0 {
		return
	}
	i := drawInt(t, 0, len(r.users)-1, "user")
	e := r.users[i]
	if drawBool(t, "touches it") {
		e.Touch()
		r.used[e.Key] = r.sweeps
	}
	r.users = slices.Delete(r.users, i, i+1)
}

// panicInCreate lets the user's function panic, which changes nothing else.
func (r *scopesRun) panicInCreate(t *rapid.T) {
	r.failing = true
	defer func() { r.failing = false }()
	key := r.key(t)
	if life, _ := r.want(key); life.number > 0 {
		e, _ := r.registry.Get(key)
		require.Equal(t, life, e.Value)
		return
	}
	require.PanicsWithValue(t, errPanic, func() { r.registry.Get(key) })
}

func (r *scopesRun) check(t *rapid.T) {
	lives := map[string]life{}
	r.registry.Each(func(e *entry) {
		require.NotContains(t, lives, e.Key)
		lives[e.Key] = e.Value
	})
	require.Equal(t, r.lives, lives)
	require.LessOrEqual(t, r.taken(), r.limit)
	require.Equal(t, r.evicted, r.registry.Evicted())
	require.Equal(t, r.overflowed, r.registry.Overflowed())
	for _, e := range r.users {
		require.Equal(t, e.Value, lives[e.Key], "dropped while it was in use")
		require.False(t, e.Leaving())
	}
}
