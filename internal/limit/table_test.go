package limit_test

import (
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
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// idle is the idle time of the scopes in these tests.
const idle = time.Minute

// table is a table on a fake clock. It counts the scopes that come and go.
type table struct {
	*limit.Table
	clk              *clock.Fake
	created, evicted atomic.Int64
}

func newTable(change func(c *limit.TableConfig)) *table {
	clk := &clock.Fake{}
	config := limit.TableConfig{
		Clock: clk, Start: clk.Now(), Idle: idle, Quota: limit.QuotaConfig{Capacity: 500}, Pool: limit.QuotaConfig{Capacity: 100, Waits: true},
	}
	change(&config)
	return &table{Table: limit.NewTable(config), clk: clk}
}

// modes has the scopes of standard mode, and those of adaptive mode, which have limiters.
func modes() map[string]func(c *limit.TableConfig) {
	return map[string]func(c *limit.TableConfig){"standard": func(*limit.TableConfig) {}, "adaptive": limited}
}

func limited(c *limit.TableConfig) { limitedBy(c, nil) }

// limitedBy gives scopes limiters that a function wraps.
func limitedBy(c *limit.TableConfig, wrap func(key retry.ScopeKey, l ratelimit.Limiter) ratelimit.Limiter) {
	c.NewLimiter = func(key retry.ScopeKey, start time.Time) (ratelimit.Limiter, bool, error) {
		l := sendrate.NewLimiter(sendrate.Config{Start: start}, c.Clock)
		if wrap == nil {
			return l, false, nil
		}
		return wrap(key, l), false, nil
	}
}

func keyOf(name string) retry.ScopeKey { return retry.ScopeKey{Scope: name} }

// use finds or creates a scope, as an operation does when it begins.
func (u *table) use(name string) *limit.Scope { return u.useKey(keyOf(name)) }

func (u *table) useKey(key retry.ScopeKey) *limit.Scope {
	if s := u.Find(&key); s != nil {
		return s
	}
	s, created := u.Create(key, func(*limit.Scope) { u.evicted.Add(1) })
	if created {
		u.created.Add(1)
	}
	return s
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
			first := map[int]*limit.Scope{}
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
			u := newTable(func(c *limit.TableConfig) {
				mode(c)
				c.Max, c.Idle = places, time.Second
				c.Quota = limit.QuotaConfig{Capacity: 2 * initial, Initial: initial}
			})
			var books sync.Map // of *limit.Scope to *atomic.Int64
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
				require.EqualValues(t, initial+n, s.(*limit.Scope).Quota.Available())
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

// asked is a limiter that calls a function when Expected is called.
type asked struct {
	ratelimit.Limiter
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
			u = newTable(func(c *limit.TableConfig) {
				c.Max = places
				limitedBy(c, func(key retry.ScopeKey, l ratelimit.Limiter) ratelimit.Limiter {
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

// waiting is a limiter with a waiter.
type waiting struct{ ratelimit.Limiter }

func (waiting) State() retry.ScopeSnapshot { return retry.ScopeSnapshot{Waiting: 1} }

func TestOverflowThatCouldNotBeMadeIsNotCounted(t *testing.T) {
	t.Parallel()
	fails := false
	u := newTable(func(c *limit.TableConfig) {
		c.Max = 1
		limitedBy(c, func(_ retry.ScopeKey, l ratelimit.Limiter) ratelimit.Limiter {
			if fails {
				panic("limiter")
			}
			return waiting{l}
		})
	})
	u.use("0")
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
			u := newTable(func(c *limit.TableConfig) {
				c.Max = 1
				limitedBy(c, func(_ retry.ScopeKey, l ratelimit.Limiter) ratelimit.Limiter {
					made++
					now := meanwhile
					meanwhile = func() {}
					now()
					return l
				})
			})
			var other *limit.Scope
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
			u := newTable(func(*limit.TableConfig) {})
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
	u := newTable(func(*limit.TableConfig) {})
	gone := weak.Make(u.use("1"))
	require.Len(t, u.Snapshot().Scopes, 2)
	u.sweep() // no list from here on, which would be a newer one
	runtime.GC()
	require.Nil(t, gone.Value())
	require.NotContains(t, u.scopes(), "1")
}
