package scope_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// idle is the idle time of the scopes in these tests.
const idle = time.Minute

// table is a table on a fake clock. It counts the scopes that come and go.
type table struct {
	*scope.Table
	clk              *clock.Fake
	created, evicted atomic.Int64
}

func newTable(change func(c *scope.Config)) *table {
	clk := &clock.Fake{}
	config := scope.Config{
		Clock: clk, Start: clk.Now(), Idle: idle, Quota: quota.Config{Capacity: 500}, Pool: quota.Config{Capacity: 100, Waits: true},
	}
	change(&config)
	return &table{Table: scope.NewTable(config), clk: clk}
}

// modes has the scopes of standard mode, and those of adaptive mode, which have limiters.
func modes() map[string]func(c *scope.Config) {
	return map[string]func(c *scope.Config){"standard": func(*scope.Config) {}, "adaptive": limited}
}

func limited(c *scope.Config) { limitedBy(c, nil) }

// limitedBy gives scopes limiters that a function wraps.
func limitedBy(c *scope.Config, wrap func(key retry.ScopeKey, l scope.Limiter) scope.Limiter) {
	c.NewLimiter = func(key retry.ScopeKey, start time.Time) (scope.Limiter, error) {
		l := sendrate.NewLimiter(sendrate.Config{Start: start}, c.Clock)
		if wrap == nil {
			return l, nil
		}
		return wrap(key, l), nil
	}
}

func keyOf(name string) retry.ScopeKey { return retry.ScopeKey{Scope: name} }

// use finds or creates a scope, as an operation does when it begins.
func (u *table) use(name string) *scope.Scope { return u.useKey(keyOf(name)) }

func (u *table) useKey(key retry.ScopeKey) *scope.Scope {
	if s := u.Find(&key); s != nil {
		return s
	}
	s, created := u.Create(key, func(*scope.Scope) { u.evicted.Add(1) })
	if created {
		u.created.Add(1)
	}
	return s
}

// throttle uses a scope with a limiter for an attempt that is throttled.
func (u *table) throttle(name string) {
	u.use(name).Limiter.Report(ratelimit.Response{Throttled: true})
}

func (u *table) overflowed() uint64 {
	return u.Snapshot().Overflowed
}

// scopes returns the scopes by name, without that of the whole.
func (u *table) scopes() map[string]*retry.ScopeSnapshot {
	found := map[string]*retry.ScopeSnapshot{}
	for _, s := range u.Snapshot().Scopes {
		if s.Key != u.Whole.Key {
			found[s.Scope] = &s
		}
	}
	return found
}

// sweep lets a sweep pass twice. The first one clears the flag of every scope.
func (u *table) sweep() {
	for range 2 {
		u.clk.Advance(idle)
		u.use(u.clk.Now().String())
	}
}

func TestEachOfManyScopesIsFoundAgain(t *testing.T) {
	t.Parallel()
	for name, mode := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const keys = 700
			u := newTable(mode)
			first := map[int]*scope.Scope{}
			for i := range keys {
				first[i] = u.use(strconv.Itoa(i))
				for known := range i%7 + 1 { // earlier scopes are found meanwhile
					before := i - known*i/7
					require.Same(t, first[before], u.use(strconv.Itoa(before)))
				}
			}
			for i := range keys {
				require.Same(t, first[i], u.use(strconv.Itoa(i)))
			}
			require.EqualValues(t, keys, u.created.Load())
			require.Len(t, u.scopes(), keys)
		})
	}
}

// TestTableConcurrentSafe counts the tokens of each scope that was used, whether the scope is there at
// the end or was evicted while it was in use.
func TestTableConcurrentSafe(t *testing.T) {
	t.Parallel()
	for name, mode := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const goroutines, rounds, keys, places, initial = 8, 400, 200, 50, 10_000
			u := newTable(func(c *scope.Config) {
				mode(c)
				c.Max, c.Idle = places, time.Second
				c.Quota = quota.Config{Capacity: 2 * initial, Initial: initial}
			})
			var books sync.Map // of *scope.Scope to *atomic.Int64
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Go(func() {
					for i := range rounds {
						key := i * (g + 1) % keys
						if i%3 == 0 {
							key = i % 5 // some are used often
						}
						s := u.use(strconv.Itoa(key))
						balance, _ := books.LoadOrStore(s, new(atomic.Int64))
						s.Quota.Refund(1)
						balance.(*atomic.Int64).Add(1)
						s.Touch()
						u.clk.Advance(time.Millisecond)
					}
				})
			}
			wg.Wait()

			lives, sum := int64(0), int64(0)
			books.Range(func(s, balance any) bool {
				lives++
				n := balance.(*atomic.Int64).Load()
				sum += n
				require.EqualValues(t, initial+n, s.(*scope.Scope).Quota.Available())
				return true
			})
			require.EqualValues(t, goroutines*rounds, sum)
			require.LessOrEqual(t, len(u.scopes()), places+1)
			require.EqualValues(t, len(u.scopes()), u.created.Load()-u.evicted.Load())
			evicted := u.Snapshot().Evicted
			require.EqualValues(t, evicted, u.evicted.Load())
			require.Equal(t, u.created.Load(), lives, "each that was created was used, and no other")
			require.Positive(t, evicted)
		})
	}
}

func TestKeysDoNotKeepTheTextThatTheyWereCutFrom(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("a", 1<<20)
	cut := func(i int) string { return body[100*i : 100*i+7] }
	for name, key := range map[string]retry.ScopeKey{
		"name":  {Scope: cut(1)},
		"parts": {Account: cut(2), Service: cut(3), Region: cut(4), Resource: cut(5), Name: cut(6)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTable(limited).useKey(key)
			require.Equal(t, key, s.Key)
			parts := 0
			for _, part := range []string{
				s.Snapshot().Scope, s.Key.Scope, s.Key.Account, s.Key.Service, s.Key.Region, s.Key.Name, s.Key.Resource,
			} {
				if part != "" {
					parts++
					require.False(t, within(part, body), "%q is a part of the body", part)
				}
			}
			require.Greater(t, parts, 1)
		})
	}
}

// within reports whether the memory of a text is a part of that of another.
func within(part, whole string) bool {
	at, from := uintptr(unsafe.Pointer(unsafe.StringData(part))), uintptr(unsafe.Pointer(unsafe.StringData(whole)))
	return at >= from && at < from+uintptr(len(whole))
}

func TestNewScopeFindsAPlaceAtOnceWhereNoneHasToStay(t *testing.T) {
	t.Parallel()
	full := func(u *table, places int) {
		for i := range places {
			u.use(strconv.Itoa(i))
		}
	}
	for name, fill := range map[string]func(u *table, places int){
		"all used lately": full,
		"all used since the last sweep, and the next one is due": func(u *table, places int) {
			full(u, places)
			u.clk.Advance(idle)
		},
		"none used for long": func(u *table, places int) {
			full(u, places)
			u.clk.Advance(100 * idle)
		},
		"all used again after a round of the cursor": func(u *table, places int) {
			full(u, places)
			full(u, places+1)
			full(u, places)
		},
	} {
		for which, mode := range modes() {
			for _, places := range []int{1, 2, 3, 4, 5, 9} {
				t.Run(name+", "+which+", "+strconv.Itoa(places), func(t *testing.T) {
					t.Parallel()
					u := newTable(func(c *scope.Config) {
						mode(c)
						c.Max = places
					})
					fill(u, places)
					for i := range 3 * places {
						u.use(strconv.Itoa(1000 + i))
						require.Contains(t, u.scopes(), strconv.Itoa(1000+i))
						require.Zero(t, u.overflowed())
						require.LessOrEqual(t, len(u.scopes()), places)
					}
				})
			}
		}
	}
}

func TestNewScopeGetsAPlaceWhileOneMayGo(t *testing.T) {
	t.Parallel()
	for _, places := range []int{2, 10, 100} {
		t.Run(strconv.Itoa(places), func(t *testing.T) {
			t.Parallel()
			u := newTable(func(c *scope.Config) {
				limited(c)
				c.Max = places
			})
			for i := range places {
				if i < places/2 {
					u.throttle(strconv.Itoa(i)) // so that it has to stay
				} else {
					u.use(strconv.Itoa(i))
				}
			}
			for i := range 2 * places {
				u.use(strconv.Itoa(places + i))
				require.Contains(t, u.scopes(), strconv.Itoa(places+i))
			}
			require.Zero(t, u.overflowed())
			for i := range places / 2 {
				require.Contains(t, u.scopes(), strconv.Itoa(i))
			}
		})
	}
}

// Each scope that is evicted leaves its place to another one.
func TestSweepVisitsEachScopeOnce(t *testing.T) {
	t.Parallel()
	const scopes = 40
	u := newTable(func(c *scope.Config) { c.Max = 2 * scopes })
	for i := range scopes {
		u.use(strconv.Itoa(i))
	}
	u.clk.Advance(idle)
	u.use("clears the flags")
	for i := range scopes {
		if i%3 == 0 {
			u.use(strconv.Itoa(i))
		}
	}
	u.clk.Advance(idle)
	u.use("new")
	for i := range scopes {
		require.Equal(t, i%3 == 0, u.scopes()[strconv.Itoa(i)] != nil, i)
	}
}

func TestSecondScopeFindsAPlaceWhenASweepIsDue(t *testing.T) {
	t.Parallel()
	for name, mode := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTable(mode)
			u.use("1")
			u.clk.Advance(idle)
			u.use("2")
			require.Zero(t, u.overflowed())
			require.Len(t, u.scopes(), 2)
		})
	}
}

// The cursor goes round twice, and meets the scopes that have to stay twice.
func TestScopesThatHaveToStayDoNotHideOneThatMayGo(t *testing.T) {
	t.Parallel()
	u := newTable(func(c *scope.Config) {
		limited(c)
		c.Max, c.Idle = 4, time.Hour
	})
	for _, name := range []string{"0", "1", "2"} {
		u.throttle(name)
	}
	u.use("3")
	u.use("4") // evicts the last one, and clears the flags of the others
	require.Len(t, u.scopes(), 4)
	require.NotContains(t, u.scopes(), "3")
	u.use("5")
	require.Contains(t, u.scopes(), "5")
	require.Zero(t, u.overflowed())
}

// The scopes that have to stay are asked in turn, and not each time that a key finds no place.
func TestScopesThatAllHaveToStayAreNotAskedAgainAtOnce(t *testing.T) {
	t.Parallel()
	questions := 0
	u := newTable(func(c *scope.Config) {
		limitedBy(c, func(_ retry.ScopeKey, l scope.Limiter) scope.Limiter { return asked{l, func() { questions++ }} })
		c.Max, c.Idle = 3, 0
	})
	for _, name := range []string{"0", "1", "2"} {
		u.throttle(name)
	}
	for range 3 {
		before := questions
		u.use("100")
		require.Greater(t, questions, before)
		before = questions
		for range 9 {
			u.clk.Advance(time.Second)
			u.use("100")
		}
		require.Equal(t, before, questions)
		u.clk.Advance(time.Second)
	}
	require.EqualValues(t, 30, u.overflowed())
	u.clk.Advance(10 * time.Minute)
	u.use("100")
	require.EqualValues(t, 30, u.overflowed())
}

// inBackground begins a wait and returns when it is under way.
func inBackground(t *testing.T, clk *clock.Fake, wait func(ctx context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		wait(ctx)
	}()
	require.NoError(t, clk.BlockUntil(t.Context(), 1))
	t.Cleanup(func() {
		cancel()
		<-waited
	})
}

func TestScopesThatHaveToStayDo(t *testing.T) {
	t.Parallel()
	throttled := func(_ *testing.T, u *table) { u.throttle("1") }
	quotaWait := func(t *testing.T, u *table) {
		t.Helper()
		s := u.use("1")
		inBackground(t, u.clk, func(ctx context.Context) { _, _ = s.Quota.Wait(ctx, 5, time.Hour, time.Time{}) })
	}
	for name, tt := range map[string]struct {
		config func(c *scope.Config)
		use    func(t *testing.T, u *table)
		pass   time.Duration
		stay   bool
	}{
		"none":                                {config: limited, use: func(_ *testing.T, u *table) { u.use("1") }},
		"an operation waits for quota":        {config: limited, use: quotaWait, stay: true},
		"and so it does in standard mode":     {config: func(*scope.Config) {}, use: quotaWait, stay: true},
		"throttled a moment ago":              {config: limited, use: throttled, stay: true},
		"throttled less than ten minutes ago": {config: limited, use: throttled, pass: 10*time.Minute - 2*idle - 1, stay: true},
		"throttled ten minutes ago":           {config: limited, use: throttled, pass: 10*time.Minute - 2*idle},
		"an attempt waits for very many tokens": {
			config: limited,
			use: func(t *testing.T, u *table) {
				t.Helper()
				u.throttle("1")
				s := u.use("1")
				inBackground(t, u.clk, func(ctx context.Context) {
					_, _ = s.Limiter.Acquire(ctx, ratelimit.Request{Cost: 10_000})
				})
			},
			pass: time.Hour, stay: true,
		},
		"without a send token": {
			config: func(c *scope.Config) {
				limitedBy(c, func(_ retry.ScopeKey, l scope.Limiter) scope.Limiter { return exhausted{l} })
			},
			use: func(_ *testing.T, u *table) { u.use("1") }, stay: true,
		},
		"an attempt waits, and a next one would not": {
			config: func(c *scope.Config) {
				limitedBy(c, func(_ retry.ScopeKey, l scope.Limiter) scope.Limiter { return queued{l} })
			},
			use: func(_ *testing.T, u *table) { u.use("1") }, stay: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTable(tt.config)
			tt.use(t, u)
			u.clk.Advance(tt.pass)
			u.sweep()
			require.Equal(t, tt.stay, u.scopes()["1"] != nil)
		})
	}
}

func TestScopeThatOwesTokensStays(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, tt := range map[string]struct {
		quota        quota.Config
		take, refund int
		costs        []int
		used         time.Duration // how long ago
		stay         bool
	}{
		"full":                                     {take: 0},
		"full again":                               {take: 490, refund: 490},
		"short of one token":                       {take: 1, stay: true},
		"short of one token for almost an hour":    {take: 1, used: time.Hour - second, stay: true},
		"short of one token for an hour":           {take: 1, used: time.Hour},
		"able to pay for any retry for an hour":    {take: 486, used: time.Hour},
		"unable to pay for the dearest retry":      {take: 487, used: 1000 * time.Hour, stay: true},
		"empty":                                    {take: 500, used: 1000 * time.Hour, stay: true},
		"empty, and then able to pay":              {take: 500, refund: 14, used: time.Hour},
		"dearest retry too dear for any scope":     {take: 10, costs: []int{501, 10}, used: time.Hour},
		"no capacity":                              {quota: quota.Config{Capacity: 0, Initial: 9}},
		"as much as a new scope":                   {quota: quota.Config{Capacity: 500, Initial: 100}, take: 100, refund: 100},
		"more than a new scope":                    {quota: quota.Config{Capacity: 500, Initial: 100}, refund: 100},
		"new scopes cannot pay either":             {quota: quota.Config{Capacity: 500, Initial: 13}, take: 8, costs: []int{14, 5}, used: time.Hour},
		"empty, but time has filled it in an hour": {quota: quota.Config{Capacity: 500, Initial: 500, Refill: 0.2}, take: 500, used: time.Hour},
		"empty, and an hour of refill too little":  {quota: quota.Config{Capacity: 500, Initial: 500, Refill: 0.003}, take: 500, used: time.Hour, stay: true},
	} {
		for which, mode := range modes() {
			for where, places := range map[string]int{"sweep": 10, "full table": 2} {
				t.Run(name+", "+which+", "+where, func(t *testing.T) {
					t.Parallel()
					u := newTable(func(c *scope.Config) {
						mode(c)
						c.Max, c.Costs, c.Quota = places, tt.costs, quota.Config{Capacity: 500, Initial: 500}
						if tt.costs == nil {
							c.Costs = []int{14, 14, 5}
						}
						if tt.quota != (quota.Config{}) {
							c.Quota = tt.quota
						}
					})
					s := u.use("1")
					require.Same(t, s.Quota, s.Quota.Charge(tt.take))
					u.clk.Advance(idle)
					u.use("first") // clears the flag
					u.clk.Advance(max(tt.used, idle))
					s.Quota.Refund(tt.refund)
					u.use("second")
					require.Equal(t, tt.stay, u.scopes()["1"] != nil)
				})
			}
		}
	}
}

// Most of an outage's keys may never come back, and their scopes stay. New keys then have what a strategy without
// scopes has: one quota, which successes fill.
func TestNewKeysShareOneQuotaWhileAllPlacesAreDrained(t *testing.T) {
	t.Parallel()
	for name, mode := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const places = 5
			u := newTable(func(c *scope.Config) {
				mode(c)
				c.Max, c.Costs, c.Quota = places, []int{14, 5}, quota.Config{Capacity: 500, Initial: 500}
			})
			for i := range places {
				require.NotNil(t, u.use(strconv.Itoa(i)).Quota.Charge(490))
			}
			u.clk.Advance(1000 * time.Hour)
			shared := u.use("new")
			require.Equal(t, retry.OverflowKey(), shared.Key)
			require.Same(t, shared, u.use("newer"))
			require.Equal(t, 500, shared.Quota.Available())
			require.EqualValues(t, 2, u.overflowed())

			u.use("3").Quota.Refund(4) // its key has come back, for a while
			u.clk.Advance(10 * time.Second)
			require.Equal(t, retry.OverflowKey(), u.use("new").Key)
			u.clk.Advance(time.Hour)
			require.Equal(t, keyOf("new"), u.use("new").Key)
			require.NotContains(t, u.scopes(), "3")
			require.Equal(t, keyOf("newest"), u.use("newest").Key, "one place is enough for keys that are used once")
			require.Len(t, u.scopes(), places+1)
		})
	}
}

// exhausted is a limiter that has no send token left.
type exhausted struct{ scope.Limiter }

func (exhausted) Expected(ratelimit.Request) time.Duration { return time.Second }

// queued is a limiter in which an attempt waits.
type queued struct{ scope.Limiter }

func (queued) State() retry.ScopeSnapshot { return retry.ScopeSnapshot{Waiting: 1} }

// asked is a limiter that calls a function when Expected is called.
type asked struct {
	scope.Limiter
	then func()
}

func (l asked) Expected(r ratelimit.Request) time.Duration {
	l.then()
	return l.Limiter.Expected(r)
}

// The table holds no lock while it calls a limiter of the user, so that the scope may come into
// use in the meantime.
func TestScopeThatIsUsedWhileItIsAskedStays(t *testing.T) {
	t.Parallel()
	for name, places := range map[string]int{"sweep": 10, "full table": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var u *table
			questions := 0
			u = newTable(func(c *scope.Config) {
				c.Max = places
				limitedBy(c, func(key retry.ScopeKey, l scope.Limiter) scope.Limiter {
					return asked{l, func() {
						if key.Scope == "1" {
							questions++
							u.use("1")
						}
					}}
				})
			})
			u.use("1")
			u.use("2")
			u.sweep()
			require.Positive(t, questions)
			require.Contains(t, u.scopes(), "1")
			require.NotContains(t, u.scopes(), "2")
		})
	}
}

func TestScopesThatFindNoPlaceOverflowUntilThereIsOne(t *testing.T) {
	t.Parallel()
	u := newTable(func(c *scope.Config) {
		limited(c)
		c.Max = 3
	})
	for _, name := range []string{"0", "1", "2"} {
		u.throttle(name)
	}
	for i := range uint64(10) {
		require.Equal(t, i, u.overflowed())
		u.use("100")
		u.use("0") // which has its place
	}
	require.Len(t, u.scopes(), 4)
	u.clk.Advance(10*time.Minute - 1)
	u.use("100")
	require.EqualValues(t, 11, u.overflowed())
	u.clk.Advance(10 * time.Second)
	for i := range 6 {
		u.use(strconv.Itoa(200 + i))
		require.Contains(t, u.scopes(), strconv.Itoa(200+i))
	}
	require.EqualValues(t, 11, u.overflowed())
	require.Contains(t, u.scopes(), retry.OverflowKey().String(), "it stays")
}

func TestOverflowThatCouldNotBeMadeIsNotCounted(t *testing.T) {
	t.Parallel()
	fails := false
	u := newTable(func(c *scope.Config) {
		c.Max = 1
		limitedBy(c, func(_ retry.ScopeKey, l scope.Limiter) scope.Limiter {
			if fails {
				panic("limiter")
			}
			return l
		})
	})
	u.throttle("0")
	fails = true
	require.PanicsWithValue(t, "limiter", func() { u.use("1") })
	require.Zero(t, u.overflowed())
	fails = false
	u.use("1")
	require.EqualValues(t, 1, u.overflowed())
}

// The table holds no lock while it makes a limiter of the user, so that another operation may take
// the place in the meantime.
func TestPlaceThatWasTakenInTheMeantimeIsReplaced(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		other    string
		replaced uint64
	}{
		"by the same key": {"1", 0},
		"by another key":  {"2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meanwhile := func() {}
			made := 0
			u := newTable(func(c *scope.Config) {
				c.Max = 1
				limitedBy(c, func(_ retry.ScopeKey, l scope.Limiter) scope.Limiter {
					made++
					now := meanwhile
					meanwhile = func() {}
					now()
					return l
				})
			})
			var other *scope.Scope
			meanwhile = func() { other = u.use(tt.other) }
			got := u.use("1")
			require.Equal(t, 3, made, "the whole, and one for each operation")
			require.Equal(t, tt.replaced == 0, got == other)
			evicted := u.Snapshot().Evicted
			require.Equal(t, tt.replaced, evicted)
			require.Zero(t, u.overflowed())
			require.Len(t, u.scopes(), 1)
			require.Same(t, got, u.use("1"))
		})
	}
}

// settable is a clock that can be set.
type settable struct {
	*clock.Fake
	set time.Duration
}

func (s *settable) Now() time.Time { return s.Fake.Now().Add(s.set) }

func TestScopesHaveRoomAgainAfterAClockHasGoneBack(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-time.Minute, -30 * time.Minute, -2 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			clk := &settable{Fake: &clock.Fake{}}
			u := newTable(func(c *scope.Config) {
				c.Clock, c.Max, c.Costs, c.Quota.Initial = clk, 1, []int{14}, 500
			})
			hot := u.use("hot")
			hot.Quota.Charge(500)
			require.Equal(t, retry.OverflowKey(), u.use("late").Key)
			clk.Advance(2 * time.Second)
			hot.Quota.Refund(500)
			clk.set = by
			require.Equal(t, "late", u.use("late").Key.Scope)
		})
	}
}

// The zero time also means that there was no throttle, and no question whether all must stay.
func TestNewScopeFindsAPlaceOnAClockThatBeginsAtTheZeroTime(t *testing.T) {
	t.Parallel()
	for name, mode := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTable(func(c *scope.Config) {
				c.Clock, c.Start, c.Max = clock.NewFake(time.Time{}), time.Time{}, 1
				mode(c)
			})
			for _, key := range []string{"1", "2"} {
				require.Equal(t, keyOf(key), u.use(key).Key)
			}
		})
	}
}

// The clock of a strategy that was made outside of a testing/synctest bubble is years ahead of
// the bubble.
func TestIdleTimeBeginsAnewOnAnotherClock(t *testing.T) {
	t.Parallel()
	const late = 5 * time.Second
	for name, c := range map[string]struct {
		back time.Duration
		stay bool
	}{
		"a reading that comes late":  {late, true},
		"a clock that has gone back": {late + 1, false},
		"another clock":              {20 * 365 * 24 * time.Hour, false},
	} {
		for which, mode := range modes() {
			t.Run(name+", "+which, func(t *testing.T) {
				t.Parallel()
				clk := &settable{Fake: clock.NewFake(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))}
				u := newTable(func(c *scope.Config) {
					c.Clock, c.Start = clk, clk.Now()
					mode(c)
				})
				u.use("1")
				clk.set = -c.back
				u.use("2")
				require.Len(t, u.scopes(), 2)
				clk.Advance(idle)
				u.use("3")
				require.Equal(t, c.stay, u.scopes()["1"] != nil)
				require.Contains(t, u.scopes(), "2", "it has been used since")
				clk.Advance(idle)
				u.use("3")
				u.use("4")
				require.Equal(t, c.stay, u.scopes()["1"] != nil)
				require.Equal(t, c.stay, u.scopes()["2"] != nil)
				require.Contains(t, u.scopes(), "3")
			})
		}
	}
}

// Many of them are in one bucket.
func TestKeysThatDifferInOnePartHaveScopesOfTheirOwn(t *testing.T) {
	t.Parallel()
	const keys = 2000
	for part, key := range map[string]func(text string) retry.ScopeKey{
		"scope":    func(text string) retry.ScopeKey { return retry.ScopeKey{Scope: text, Resource: "orders"} },
		"account":  func(text string) retry.ScopeKey { return retry.ScopeKey{Account: text, Resource: "orders"} },
		"service":  func(text string) retry.ScopeKey { return retry.ScopeKey{Service: text, Resource: "orders"} },
		"region":   func(text string) retry.ScopeKey { return retry.ScopeKey{Region: text, Resource: "orders"} },
		"name":     func(text string) retry.ScopeKey { return retry.ScopeKey{Name: text, Resource: "orders"} },
		"resource": func(text string) retry.ScopeKey { return retry.ScopeKey{Service: "dynamodb", Resource: text} },
	} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			u := newTable(func(*scope.Config) {})
			for i := range keys {
				u.useKey(key(strconv.Itoa(i)))
			}
			require.Len(t, u.scopes(), keys)
			require.Zero(t, u.overflowed())
		})
	}
}

func TestListOfScopesKeepsNoneThatIsEvictedLater(t *testing.T) {
	t.Parallel()
	u := newTable(func(*scope.Config) {})
	gone := weak.Make(u.use("1"))
	require.Len(t, u.Snapshot().Scopes, 2)
	u.sweep() // no list from here on, which would be a newer one
	runtime.GC()
	require.Nil(t, gone.Value())
	require.NotContains(t, u.scopes(), "1")
}
