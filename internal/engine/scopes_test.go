package engine_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/engine"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// idle is the idle time of the scopes in these tests.
const idle = time.Minute

var (
	errThrottle = errors.New("throttle")
	errServer   = errors.New("server")
)

// judge classifies the two errors.
type judge struct{}

func (judge) Name() string { return "judge" }

func (judge) Classify(o classify.Outcome) classify.Verdict {
	if errors.Is(o.Err, errThrottle) {
		return classify.RetryAs(classify.Throttling)
	}
	return classify.RetryAs(classify.Transient)
}

// mode is a strategy of either mode.
type mode interface {
	retry.Strategy
	Snapshot() retry.Snapshot
}

// modes builds a strategy of each mode.
func modes() map[string]func(t *testing.T, c standard.Config) mode {
	return map[string]func(t *testing.T, c standard.Config) mode{
		"standard": newStandard, "adaptive": newAdaptive,
	}
}

func newStandard(t *testing.T, c standard.Config) mode {
	t.Helper()
	c.Classifier = judge{}
	s, err := standard.New(c)
	require.NoError(t, err)
	return s
}

func newAdaptive(t *testing.T, c standard.Config) mode {
	t.Helper()
	c.Classifier = judge{}
	s, err := adaptive.New(adaptive.Config{Standard: c})
	require.NoError(t, err)
	return s
}

func named(i int) retry.Operation { return retry.Operation{Scope: strconv.Itoa(i)} }

// begin begins an operation.
func begin(t *testing.T, s retry.Strategy, op retry.Operation) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), op)
	require.NoError(t, err)
	return token
}

// succeed is an operation of one attempt.
func succeed(t *testing.T, s retry.Strategy, op retry.Operation) {
	t.Helper()
	token := begin(t, s, op)
	require.NoError(t, token.Wait(t.Context()))
	require.NoError(t, s.RecordSuccess(token))
}

// throttle is an operation that is throttled once.
func throttle(t *testing.T, s retry.Strategy, op retry.Operation) {
	t.Helper()
	token := begin(t, s, op)
	require.NoError(t, token.Wait(t.Context()))
	require.NoError(t, s.RecordFailure(token, errThrottle))
}

// scopesOf returns the scopes of a strategy by name, without that of the whole.
func scopesOf(s mode) map[string]retry.ScopeSnapshot {
	found := map[string]retry.ScopeSnapshot{}
	for _, scope := range s.Snapshot().Scopes {
		if scope.Key != (retry.ScopeKey{}) {
			found[scope.Scope] = scope
		}
	}
	return found
}

// tally counts the events about scopes.
type tally struct{ created, evicted atomic.Int64 }

func (c *tally) Observe(_ context.Context, e retry.Event) {
	if e.Kind == retry.ScopeCreated {
		c.created.Add(1)
	}
	if e.Kind == retry.ScopeEvicted {
		c.evicted.Add(1)
	}
}

func TestEachOfManyScopesIsFoundAgain(t *testing.T) {
	t.Parallel()
	for name, build := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const keys = 700 // so that the table grows six times
			seen := &tally{}
			s := build(t, standard.Config{Clock: &clock.Fake{}, Observer: seen, QuotaInitial: new(0)})
			for i := range keys {
				for known := range i%7 + 1 { // and earlier scopes are found meanwhile
					succeed(t, s, named(i-known*i/7))
				}
			}
			before := scopesOf(s)
			for i := range keys {
				succeed(t, s, named(i))
			}
			require.EqualValues(t, keys, seen.created.Load())
			require.Len(t, scopesOf(s), keys)
			for scope, got := range scopesOf(s) {
				require.Positive(t, before[scope].Quota, scope)
				require.Equal(t, before[scope].Quota+1, got.Quota, scope)
			}
		})
	}
}

// TestScopesConcurrentSafe counts the tokens of each scope in which an operation began, whether
// the scope is there at the end or was evicted while it was in use.
func TestScopesConcurrentSafe(t *testing.T) {
	t.Parallel()
	for name, build := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const goroutines, rounds, keys, places, initial = 8, 400, 200, 50, 10_000
			seen, clk := &tally{}, &clock.Fake{}
			s := build(t, standard.Config{
				Clock: clk, Observer: seen, MaxScopes: places, ScopeIdle: time.Second,
				QuotaCapacity: new(2 * initial), QuotaInitial: new(initial), Base: 1,
			})
			var books sync.Map // of *quota.Quota to *atomic.Int64
			var began atomic.Int64
			operate := func(op retry.Operation, retries int) error {
				token, err := s.AcquireInitialToken(t.Context(), op)
				if err != nil {
					return err
				}
				began.Add(1)
				entry, _ := books.LoadOrStore(engine.QuotaOf(token), new(atomic.Int64))
				balance, ok := entry.(*atomic.Int64)
				if !ok {
					return errors.New("no books")
				}
				for range retries {
					if token, err = s.RefreshRetryToken(t.Context(), token, errServer); err != nil {
						return err
					}
					balance.Add(-14)
				}
				if err := token.WithoutDelay().Wait(t.Context()); err != nil {
					return err
				}
				if retries == 0 {
					balance.Add(1)
				} else {
					balance.Add(14)
				}
				return s.RecordSuccess(token)
			}
			var wg sync.WaitGroup
			errs := make(chan error, goroutines)
			for g := range goroutines {
				wg.Go(func() {
					for i := range rounds {
						key := i * (g + 1) % keys
						if i%3 == 0 {
							key = i % 5 // some are used often
						}
						if err := operate(named(key), i%3); err != nil {
							errs <- err
							return
						}
						clk.Advance(time.Millisecond)
					}
				})
			}
			wg.Wait()
			select {
			case err := <-errs:
				require.NoError(t, err)
			default:
			}
			require.EqualValues(t, goroutines*rounds, began.Load())

			snapshot, lives := s.Snapshot(), int64(0)
			books.Range(func(q, balance any) bool {
				lives++
				require.EqualValues(t, initial+balance.(*atomic.Int64).Load(), q.(*quota.Quota).Available(clk.Now()))
				return true
			})
			present := int64(len(scopesOf(s)))
			require.LessOrEqual(t, present, int64(places+1))
			require.Equal(t, present, seen.created.Load()-seen.evicted.Load())
			require.EqualValues(t, snapshot.Evicted, seen.evicted.Load())
			require.Equal(t, seen.created.Load(), lives, "each that was created was used, and no other")
			require.Positive(t, seen.evicted.Load())
		})
	}
}

func TestKeysDoNotKeepTheTextThatTheyWereCutFrom(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("a", 1<<20)
	cut := func(i int) string { return body[100*i : 100*i+7] }
	for name, op := range map[string]retry.Operation{
		"name":  {Scope: cut(1)},
		"parts": {Account: cut(2), Service: cut(3), Region: cut(4), Resource: cut(5), Name: cut(6)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, function := range []func(op retry.Operation) retry.ScopeKey{
				nil,
				func(op retry.Operation) retry.ScopeKey {
					key := op.Key()
					key.Name = op.Name
					return key
				},
			} {
				s := newStandard(t, standard.Config{Clock: &clock.Fake{}, Scope: function})
				begin(t, s, op)
				require.Len(t, scopesOf(s), 1)
				for _, scope := range scopesOf(s) {
					parts := 0
					for _, part := range []string{
						scope.Scope, scope.Key.Scope, scope.Key.Account, scope.Key.Service, scope.Key.Region,
						scope.Key.Name, scope.Key.Resource,
					} {
						if part != "" {
							parts++
							require.False(t, within(part, body), "%q is a part of the body", part)
						}
					}
					require.Greater(t, parts, 1)
				}
			}
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
	full := func(t *testing.T, s mode, places int) {
		t.Helper()
		for i := range places {
			succeed(t, s, named(i))
		}
	}
	for name, fill := range map[string]func(t *testing.T, clk *clock.Fake, s mode, places int){
		"all used lately": func(t *testing.T, _ *clock.Fake, s mode, places int) {
			t.Helper()
			full(t, s, places)
		},
		"all used since the last sweep, and the next one is due": func(t *testing.T, clk *clock.Fake, s mode, places int) {
			t.Helper()
			full(t, s, places)
			clk.Advance(idle)
		},
		"none used for long": func(t *testing.T, clk *clock.Fake, s mode, places int) {
			t.Helper()
			full(t, s, places)
			clk.Advance(100 * idle)
		},
		"all used again after a round of the hand": func(t *testing.T, _ *clock.Fake, s mode, places int) {
			t.Helper()
			full(t, s, places)
			full(t, s, places+1)
			full(t, s, places)
		},
		"an operation under way in each": func(t *testing.T, _ *clock.Fake, s mode, places int) {
			t.Helper()
			for i := range places {
				begin(t, s, named(i))
			}
		},
	} {
		for which, build := range modes() {
			for _, places := range []int{1, 2, 3, 4, 5, 9} {
				t.Run(name+", "+which+", "+strconv.Itoa(places), func(t *testing.T) {
					t.Parallel()
					clk := &clock.Fake{}
					s := build(t, standard.Config{Clock: clk, MaxScopes: places, ScopeIdle: idle})
					fill(t, clk, s, places)
					for i := range 3 * places {
						succeed(t, s, named(1000+i))
						require.Contains(t, scopesOf(s), strconv.Itoa(1000+i))
						require.Zero(t, s.Snapshot().Overflowed)
						require.LessOrEqual(t, len(scopesOf(s)), places)
					}
				})
			}
		}
	}
}

func TestSecondScopeFindsAPlaceWhenASweepIsDue(t *testing.T) {
	t.Parallel()
	for name, build := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := build(t, standard.Config{Clock: clk, ScopeIdle: idle})
			succeed(t, s, named(1))
			clk.Advance(idle)
			succeed(t, s, named(2))
			require.Zero(t, s.Snapshot().Overflowed)
			require.Len(t, scopesOf(s), 2)
		})
	}
}

// The hand goes round twice, and meets the scopes that have to stay twice.
func TestScopesThatHaveToStayDoNotHideOneThatMayGo(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := newAdaptive(t, standard.Config{Clock: clk, MaxScopes: 4, ScopeIdle: time.Hour})
	for i := range 3 {
		throttle(t, s, named(i))
	}
	succeed(t, s, named(3))
	succeed(t, s, named(4)) // evicts the last one, and clears the flags of the others
	require.Len(t, scopesOf(s), 4)
	require.NotContains(t, scopesOf(s), "3")
	succeed(t, s, named(5))
	require.Contains(t, scopesOf(s), "5")
	require.Zero(t, s.Snapshot().Overflowed)
}

// sweep lets a sweep pass twice. The first one clears the flag of every scope.
func sweep(t *testing.T, clk *clock.Fake, s retry.Strategy) {
	t.Helper()
	for range 2 {
		clk.Advance(idle)
		begin(t, s, retry.Operation{Scope: clk.Now().String()})
	}
}

// waitInBackground begins a wait and returns when it is under way.
func waitInBackground(t *testing.T, clk *clock.Fake, token retry.Token) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan struct{})
	before := clk.Waiters()
	go func() {
		defer close(waited)
		_ = token.Wait(ctx)
	}()
	require.NoError(t, clk.BlockUntil(t.Context(), before+1))
	t.Cleanup(func() {
		cancel()
		<-waited
	})
}

func TestScopesThatHaveToStayDo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config adaptive.Config
		use    func(t *testing.T, clk *clock.Fake, s mode)
		pass   time.Duration
		stay   bool
	}{
		"none": {use: func(t *testing.T, _ *clock.Fake, s mode) {
			t.Helper()
			succeed(t, s, named(1))
		}},
		"an operation waits for quota": {
			config: adaptive.Config{Standard: standard.Config{QuotaInitial: new(0), MaxQuotaWait: time.Hour, Base: 1}},
			use: func(t *testing.T, clk *clock.Fake, s mode) {
				t.Helper()
				token, err := s.RefreshRetryToken(t.Context(), begin(t, s, named(1)), errServer)
				require.NoError(t, err)
				waitInBackground(t, clk, token.WithoutDelay())
			},
			stay: true,
		},
		"an attempt waits for more send tokens than there are": {
			config: adaptive.Config{SendCost: 10_000},
			use: func(t *testing.T, clk *clock.Fake, s mode) {
				t.Helper()
				throttle(t, s, named(1))
				waitInBackground(t, clk, begin(t, s, named(1)))
			},
			pass: time.Hour, stay: true,
		},
		"throttled a moment ago": {
			use: func(t *testing.T, _ *clock.Fake, s mode) {
				t.Helper()
				throttle(t, s, named(1))
			},
			stay: true,
		},
		"throttled less than ten minutes ago": {
			use: func(t *testing.T, _ *clock.Fake, s mode) {
				t.Helper()
				throttle(t, s, named(1))
			},
			pass: 10*time.Minute - 2*idle - 1, stay: true,
		},
		"throttled ten minutes ago": {
			use: func(t *testing.T, _ *clock.Fake, s mode) {
				t.Helper()
				throttle(t, s, named(1))
			},
			pass: 10*time.Minute - 2*idle,
		},
		"without a send token": {
			config: adaptive.Config{NewLimiter: func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
				return exhausted{sendrate.NewLimiter(sendrate.Config{}, clk)}
			}},
			use: func(t *testing.T, _ *clock.Fake, s mode) {
				t.Helper()
				begin(t, s, named(1))
			},
			stay: true,
		},
		"an attempt waits, and a next one would not": {
			config: adaptive.Config{NewLimiter: func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
				return queued{sendrate.NewLimiter(sendrate.Config{}, clk)}
			}},
			use: func(t *testing.T, _ *clock.Fake, s mode) {
				t.Helper()
				begin(t, s, named(1))
			},
			stay: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			tt.config.Standard.Clock, tt.config.Standard.Classifier, tt.config.Standard.ScopeIdle = clk, judge{}, idle
			s, err := adaptive.New(tt.config)
			require.NoError(t, err)
			tt.use(t, clk, s)
			clk.Advance(tt.pass)
			sweep(t, clk, s)
			require.Equal(t, tt.stay, scopesOf(s)["1"].QuotaCapacity > 0)
		})
	}
}

// exhausted is a limiter that has no send token left.
type exhausted struct{ adaptive.Limiter }

func (exhausted) Expected(float64) time.Duration { return time.Second }

// queued is a limiter in which an attempt waits.
type queued struct{ adaptive.Limiter }

func (queued) State() retry.ScopeSnapshot { return retry.ScopeSnapshot{Waiting: 1} }

func TestEveryVerbIsAUseOfTheScope(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(t *testing.T, s mode, token retry.Token){
		"none": func(*testing.T, mode, retry.Token) {},
		"another operation": func(t *testing.T, s mode, _ retry.Token) {
			t.Helper()
			begin(t, s, named(1))
		},
		"wait": func(t *testing.T, _ mode, token retry.Token) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, token.Wait(ctx), retry.ErrCanceled)
		},
		"refresh": func(t *testing.T, s mode, token retry.Token) {
			t.Helper()
			_, err := s.RefreshRetryToken(t.Context(), token, errServer)
			require.NoError(t, err)
		},
		"success": func(t *testing.T, s mode, token retry.Token) {
			t.Helper()
			require.NoError(t, s.RecordSuccess(token))
		},
		"failure": func(t *testing.T, s mode, token retry.Token) {
			t.Helper()
			require.NoError(t, s.RecordFailure(token, errServer))
		},
	} {
		for which, build := range modes() {
			t.Run(name+", "+which, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s := build(t, standard.Config{Clock: clk, ScopeIdle: idle})
				token := begin(t, s, named(1))
				clk.Advance(idle)
				begin(t, s, named(2)) // clears the flag
				use(t, s, token)
				clk.Advance(idle)
				begin(t, s, named(3))
				require.Equal(t, name != "none", scopesOf(s)["1"].QuotaCapacity > 0)
			})
		}
	}
}

// asked is a limiter that calls a function when Expected is called.
type asked struct {
	adaptive.Limiter
	then func()
}

func (l asked) Expected(cost float64) time.Duration {
	l.then()
	return l.Limiter.Expected(cost)
}

// The engine holds no lock while it calls a limiter of the user, so that the scope may come into
// use in the meantime.
func TestScopeThatIsUsedWhileItIsAskedStays(t *testing.T) {
	t.Parallel()
	for name, places := range map[string]int{"sweep": 10, "full table": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s retry.Strategy
			clk := &clock.Fake{}
			questions := 0
			s, err := adaptive.New(adaptive.Config{
				Standard: standard.Config{Clock: clk, ScopeIdle: idle, MaxScopes: places},
				NewLimiter: func(key retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
					return asked{sendrate.NewLimiter(sendrate.Config{}, clk), func() {
						if key.Scope == "1" {
							questions++
							begin(t, s, named(1))
						}
					}}
				},
			})
			require.NoError(t, err)
			begin(t, s, named(1))
			begin(t, s, named(2))
			sweep(t, clk, s)
			require.Positive(t, questions)
			require.Contains(t, scopesOf(s), "1")
			require.NotContains(t, scopesOf(s), "2")
		})
	}
}

// The record of an operation that has ended serves another operation, which may be in another
// scope.
func TestOperationUsesNoScopeButItsOwn(t *testing.T) {
	t.Parallel()
	for name, build := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := build(t, standard.Config{Clock: clk, ScopeIdle: idle})
			first, second := begin(t, s, named(1)), begin(t, s, named(2))
			require.NoError(t, s.RecordSuccess(first))
			require.NoError(t, s.RecordSuccess(second))
			for _, later := range []int{3, 4} { // each with the state of one of these
				clk.Advance(idle)
				begin(t, s, named(later))
			}
			require.NotContains(t, scopesOf(s), "1")
			require.NotContains(t, scopesOf(s), "2")
		})
	}
}

// throttled returns a strategy whose three scopes were throttled.
func throttled(t *testing.T, clk clock.Clock) mode {
	t.Helper()
	s := newAdaptive(t, standard.Config{Clock: clk, MaxScopes: 3, ScopeIdle: idle})
	for i := range 3 {
		throttle(t, s, named(i))
	}
	return s
}

func TestScopesThatFindNoPlaceOverflowUntilThereIsOne(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := throttled(t, clk)
	for i := range uint64(10) {
		require.Equal(t, i, s.Snapshot().Overflowed)
		succeed(t, s, named(100))
		begin(t, s, named(0)) // which has its place
	}
	require.Len(t, scopesOf(s), 4)
	clk.Advance(10*time.Minute - 1)
	succeed(t, s, named(100))
	require.EqualValues(t, 11, s.Snapshot().Overflowed)
	clk.Advance(1)
	for i := range 6 {
		succeed(t, s, named(200+i))
		require.Contains(t, scopesOf(s), strconv.Itoa(200+i))
	}
	require.EqualValues(t, 11, s.Snapshot().Overflowed)
	require.Contains(t, scopesOf(s), retry.OverflowKey().String(), "it stays")
}

func TestOverflowThatCouldNotBeMadeIsNotCounted(t *testing.T) {
	t.Parallel()
	fails := false
	s, err := adaptive.New(adaptive.Config{
		Standard: standard.Config{Clock: &clock.Fake{}, Classifier: judge{}, MaxScopes: 1},
		NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter {
			if fails {
				panic("limiter")
			}
			return nil
		},
	})
	require.NoError(t, err)
	throttle(t, s, named(0))
	fails = true
	require.PanicsWithValue(t, "limiter", func() { _, _ = s.AcquireInitialToken(t.Context(), named(1)) })
	require.Zero(t, s.Snapshot().Overflowed)
	fails = false
	succeed(t, s, named(1))
	require.EqualValues(t, 1, s.Snapshot().Overflowed)
}

// The engine holds no lock while it makes a limiter of the user, so that another operation may
// take the place in the meantime.
func TestPlaceThatWasTakenInTheMeantimeIsReplaced(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		other    retry.Operation
		replaced uint64
	}{
		"by the same key": {named(1), 0},
		"by another key":  {named(2), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s retry.Strategy
			meanwhile := func() {}
			made := 0
			s, err := adaptive.New(adaptive.Config{
				Standard: standard.Config{Clock: &clock.Fake{}, MaxScopes: 1, QuotaInitial: new(0)},
				NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter {
					made++
					now := meanwhile
					meanwhile = func() {}
					now()
					return nil
				},
			})
			require.NoError(t, err)
			meanwhile = func() { succeed(t, s, tt.other) }
			succeed(t, s, named(1))
			require.Equal(t, 3, made, "the whole, and one for each operation")
			require.Equal(t, tt.replaced, s.Snapshot().Evicted)
			require.Zero(t, s.Snapshot().Overflowed)
			require.Len(t, scopesOf(s), 1)
			require.EqualValues(t, 2-tt.replaced, scopesOf(s)["1"].Quota)
		})
	}
}

// settable is a clock that can be set.
type settable struct {
	*clock.Fake
	set time.Duration
}

func (s *settable) Now() time.Time { return s.Fake.Now().Add(s.set) }

// The clock of a strategy that was made outside of a testing/synctest bubble is years ahead of
// the bubble.
func TestIdleTimeBeginsAnewOnAnotherClock(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		back time.Duration
		stay bool
	}{
		"a clock that fell back by a year is late":    {year, true},
		"one that fell back by more is another clock": {year + 1, false},
	} {
		for which, build := range modes() {
			t.Run(name+", "+which, func(t *testing.T) {
				t.Parallel()
				clk := &settable{Fake: clock.NewFake(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))}
				s := build(t, standard.Config{Clock: clk, ScopeIdle: idle})
				succeed(t, s, named(1))
				clk.set = -c.back
				succeed(t, s, named(2))
				require.Len(t, scopesOf(s), 2)
				clk.Advance(idle)
				succeed(t, s, named(3))
				require.Len(t, scopesOf(s), 3, "all have been used")
				clk.Advance(idle)
				succeed(t, s, named(3))
				succeed(t, s, named(4))
				require.Equal(t, c.stay, scopesOf(s)["1"].QuotaCapacity > 0)
				require.Equal(t, c.stay, scopesOf(s)["2"].QuotaCapacity > 0)
				require.Contains(t, scopesOf(s), "3")
			})
		}
	}
}
