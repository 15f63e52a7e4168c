package limit_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/ratelimit"
)

// caller is an Acquire in a goroutine of its own. In a bubble, its fields may be read after
// synctest.Wait.
type caller struct {
	cancel context.CancelFunc
	ended  bool
	sent   time.Time
	err    error
}

// lineRun is a line for slots, on a fake clock in a bubble.
type lineRun struct {
	clock   clock.Fake
	start   time.Time
	account slots
	line    *limit.Line
}

func newLineRun() *lineRun {
	r := &lineRun{account: slots{rate: 7}}
	r.start = r.clock.Now()
	r.line = limit.NewLine(&r.account, &r.clock)
	return r
}

// in returns the instant so many seconds after the start.
func (r *lineRun) in(seconds float64) time.Time {
	return r.start.Add(time.Duration(seconds * float64(time.Second)))
}

// set gives the account new slots, so many seconds after the start, and tells the line.
func (r *lineRun) set(seconds ...float64) {
	var free []time.Time
	for _, s := range seconds {
		free = append(free, r.in(s))
	}
	r.account.set(free...)
	r.line.Changed(true)
	synctest.Wait()
}

// call starts a caller and returns when it waits or has ended.
func (r *lineRun) call(ctx context.Context, request ratelimit.Request) *caller {
	ctx, cancel := context.WithCancel(ctx)
	c := &caller{cancel: cancel}
	go func() {
		defer cancel()
		c.sent, _, c.err = r.line.Acquire(ctx, request)
		c.ended = true
	}()
	synctest.Wait()
	return c
}

func (r *lineRun) advance(d time.Duration) {
	r.clock.Advance(d)
	synctest.Wait()
}

// requireSent checks when callers were sent, in seconds; 0 means that a caller still waits.
func (r *lineRun) requireSent(t *testing.T, seconds []float64, callers ...*caller) {
	t.Helper()
	waiting := 0
	for i, c := range callers {
		require.NoError(t, c.err)
		require.Equal(t, seconds[i] != 0, c.ended, "caller %d", i)
		if c.ended {
			require.Equal(t, r.in(seconds[i]), c.sent, "caller %d", i)
		} else {
			waiting++
		}
	}
	require.Equal(t, waiting, r.line.Waiting())
	require.Equal(t, waiting, r.clock.Waiters(), "the clock counts the callers that wait")
}

func TestLineServesAnAccountFromOutsideInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLineRun()
		r.set(1, 2, 3, 4)
		callers := []*caller{
			r.call(t.Context(), ratelimit.Request{}),
			r.call(t.Context(), ratelimit.Request{Cost: 2}),
			r.call(t.Context(), ratelimit.Request{}),
		}
		require.Zero(t, r.line.Expected(1), "not known")
		for _, want := range [][]float64{{1, 0, 0}, {1, 0, 0}, {1, 3, 0}, {1, 3, 4}} {
			r.advance(time.Second)
			r.requireSent(t, want, callers...)
		}
		r.set(4, 6)
		r.requireSent(t, []float64{4}, r.call(t.Context(), ratelimit.Request{}))
		require.Equal(t, 2*time.Second, r.line.Expected(1))
	})
}

func TestAChangeMovesTheTimer(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]float64{"earlier": 3, "later": 9} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newLineRun()
				r.set(5)
				c := r.call(t.Context(), ratelimit.Request{})
				r.set(to)
				moved, ok := r.clock.AdvanceToNext()
				synctest.Wait()
				require.True(t, ok)
				require.Equal(t, r.in(to), r.start.Add(moved))
				r.requireSent(t, []float64{to}, c)
			})
		})
	}
}

func TestLongerWaitsSendCallersAwayThatCannotBeServedInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLineRun()
		r.set(1, 2, 3)
		late := r.call(t.Context(), ratelimit.Request{NotAfter: r.in(4)})
		ctx, cancel := r.clock.WithDeadline(t.Context(), r.in(4))
		defer cancel()
		hurried := r.call(ctx, ratelimit.Request{})
		patient := r.call(t.Context(), ratelimit.Request{NotAfter: r.in(5)})
		r.requireSent(t, []float64{0, 0, 0}, late, hurried, patient)

		r.set(5, 6, 7) // so that the first slot is for the third caller

		require.ErrorIs(t, late.err, ratelimit.ErrNotAfter)
		require.ErrorIs(t, hurried.err, context.DeadlineExceeded)
		r.requireSent(t, []float64{0}, patient)
		r.advance(5 * time.Second)
		r.requireSent(t, []float64{5}, patient)
	})
}

func TestWaitThatCannotBeForeseenEndsWhenTheCallerGivesUp(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		maxWait, notAfter, slot float64 // seconds; 0 means none
		want                    error
		after                   float64
	}{
		"without a slot":                          {3, 0, 0, limit.ErrWaitLimit, 3},
		"with a slot just before the end":         {3, 0, 2.5, nil, 2.5},
		"with a slot at the end":                  {3, 0, 3, nil, 3},
		"with one that is too late":               {3, 0, 3.5, limit.ErrWaitLimit, 0},
		"before the end of the operation":         {3, 9, 0, limit.ErrWaitLimit, 3},
		"or with the operation if that is sooner": {3, 2, 0, ratelimit.ErrNotAfter, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newLineRun()
				if tt.slot > 0 {
					r.set(tt.slot)
				}
				request := ratelimit.Request{MaxWait: time.Duration(tt.maxWait * float64(time.Second))}
				if tt.notAfter > 0 {
					request.NotAfter = r.in(tt.notAfter)
				}
				c := r.call(t.Context(), request)
				for tt.after > 0 && r.clock.Now().Before(r.in(tt.after)) {
					require.False(t, c.ended, "%v", c.err)
					r.advance(500 * time.Millisecond)
				}
				require.True(t, c.ended)
				require.Equal(t, tt.want == nil, c.err == nil)
				if tt.want != nil {
					require.ErrorIs(t, c.err, tt.want)
				} else {
					require.Equal(t, r.in(tt.slot), c.sent)
				}
				require.Zero(t, r.clock.Waiters())
			})
		})
	}
}

// The time at which a token comes decides, also where the caller learns of it later.
func TestTokenThatCameBeforeTheCallerGaveUpStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 100 { // the token and the end are due at the same time
			r := newLineRun()
			r.set(3)
			c := r.call(t.Context(), ratelimit.Request{MaxWait: 3 * time.Second})
			r.advance(time.Hour)
			r.requireSent(t, []float64{3}, c)
		}
	})
}

// A test can see each caller of a queue wait, although only the first one has a timer.
func TestFakeClockCountsEachCallerInAQueue(t *testing.T) {
	t.Parallel()
	accounts := map[string]func(start time.Time) limit.Account{
		"that knows when tokens come": func(start time.Time) limit.Account {
			account := &slots{}
			for i := range 6 {
				account.free = append(account.free, start.Add(time.Duration(i+1)*time.Second))
			}
			return account
		},
		"that does not": func(time.Time) limit.Account { return new(purse) },
	}
	for name, account := range accounts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clk clock.Fake
				queue := limit.NewLine(account(clk.Now()), struct{ *clock.Fake }{&clk})
				var ended atomic.Int64
				var cancels []context.CancelFunc
				for range 6 {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					cancels = append(cancels, cancel)
					go func() {
						_, _, _ = queue.Acquire(ctx, ratelimit.Request{MaxWait: time.Hour})
						ended.Add(1)
					}()
					require.NoError(t, clk.BlockUntil(t.Context(), len(cancels)))
					synctest.Wait()
					require.Equal(t, len(cancels), clk.Waiters())
				}

				for i, who := range []int{2, 0, 5} { // in the middle, the first, the last
					queue.Changed(false)
					cancels[who]()
					synctest.Wait()
					require.Equal(t, 6-i-1, clk.Waiters())
				}
				for ended.Load() < 6 {
					_, ok := clk.AdvanceToNext()
					require.True(t, ok, "the first in line has an instant")
					synctest.Wait()
					require.EqualValues(t, 6-ended.Load(), clk.Waiters())
				}
			})
		})
	}
}

// purse is an account of tokens that come only from outside.
type purse struct {
	slots
	tokens float64 // guarded by slots.mu
}

func (p *purse) Take(now time.Time, cost float64) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tokens < cost {
		return time.Time{}, false
	}
	p.tokens -= cost
	return now, true
}

func (p *purse) Give(_ time.Time, tokens float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens += tokens
}

// Callers of lines that share a lock take, give up and give back at random. At the end every token is where it belongs.
func TestLinesWithOneLockConcurrentSafe(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]bool{"one in front of the other": false, "two beside a pool": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				accounts := []*purse{{tokens: 5}, {tokens: 4}, {tokens: 3}}
				root := limit.NewLine(accounts[0], clock.System{})
				var queues []*limit.Line
				if beside {
					queues = []*limit.Line{root.Beside(accounts[1], 3), root.Beside(accounts[2], 3)}
				} else {
					queues = []*limit.Line{root, root.InFront(accounts[1])}
				}
				giveBack := func(queue *limit.Line, payer limit.Account, cost float64) {
					if beside {
						payer.Give(time.Time{}, cost)
						queue.Changed(false)
					} else {
						queue.Give(cost)
					}
				}
				var all sync.WaitGroup
				var served, lost atomic.Int64
				for i := range 100 {
					all.Go(func() {
						random := rand.New(rand.NewPCG(3, uint64(i)))
						pause := func(most int) time.Duration { return time.Duration(1+random.IntN(most)) * time.Millisecond }
						for range 20 {
							queue, cost := queues[random.IntN(2)], float64(1+random.IntN(4))
							ctx, cancel := context.WithCancel(t.Context())
							clock.System{}.AfterFunc(pause(1000), cancel)
							_, payer, err := queue.Acquire(ctx, ratelimit.Request{Cost: cost, MaxWait: pause(1000)})
							if err != nil {
								lost.Add(1)
								continue
							}
							served.Add(1)
							_ = clock.System{}.Sleep(t.Context(), pause(10))
							giveBack(queue, payer, cost)
						}
					})
				}
				all.Wait()
				require.EqualValues(t, 2000, served.Load()+lost.Load())
				require.Greater(t, served.Load(), int64(100))
				require.Greater(t, lost.Load(), int64(100))
				for i, want := range []float64{5, 4, 3} {
					require.InDelta(t, want, accounts[i].tokens, 0)
				}
				require.Zero(t, queues[0].Waiting()+queues[1].Waiting())
			})
		})
	}
}

// countingPurse counts how often it is asked for tokens.
type countingPurse struct {
	purse
	asked *int
}

func (p *countingPurse) Take(now time.Time, cost float64) (time.Time, bool) {
	*p.asked++
	return p.purse.Take(now, cost)
}

// What comes for one of many lines costs as much as if there were two.
func TestAnswerForOneLineAsksOnlyItAndTheFirstInOrder(t *testing.T) {
	t.Parallel()
	asked := 0
	account := func() *countingPurse { return &countingPurse{asked: &asked} }
	pool := limit.NewLine(account(), new(clock.Fake))
	accounts, lines := []*countingPurse{}, []*limit.Line{}
	for i := range 100 {
		accounts = append(accounts, account())
		lines = append(lines, pool.Beside(accounts[i], 1))
		for range 3 {
			lines[i].Queue(ratelimit.Request{})
		}
	}
	for _, i := range []int{0, 50, 99} {
		asked = 0
		accounts[i].Give(time.Time{}, 1)
		lines[i].Changed(false)
		require.Equal(t, 2, lines[i].Waiting())
		require.LessOrEqual(t, asked, 4, "twice the line, and once each the first in order and the pool")
	}
}

// onWait calls a function when a caller is told of a wait.
func onWait(f func(w ratelimit.Wait)) ratelimit.Request { return ratelimit.Request{OnWait: f} }

// No lock is held meanwhile, the time in it is a part of the wait, and a caller that panics in it leaves.
func TestCallerIsToldOfItsWaitBeforeItBegins(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	account := new(purse)
	queue := limit.NewLine(account, &clk)
	start := clk.Now()
	clk.Run(func() {
		request := onWait(func(w ratelimit.Wait) {
			require.Equal(t, ratelimit.Wait{FillRate: 0}, w)
			queue.Changed(false)
			clk.Advance(2 * time.Second)
		})
		request.MaxWait = 3 * time.Second
		_, _, err := queue.Acquire(t.Context(), request)
		require.ErrorIs(t, err, limit.ErrWaitLimit)
	})
	require.Equal(t, 3*time.Second, clk.Now().Sub(start))
	require.Panics(t, func() {
		_, _, _ = queue.Acquire(t.Context(), onWait(func(ratelimit.Wait) { panic("observer") }))
	})
	require.Zero(t, queue.Waiting())

	account.Give(time.Time{}, 1)
	_, _, err := queue.Acquire(t.Context(), ratelimit.Request{NoWait: true})
	require.NoError(t, err)
}

// The first in line is granted its token and canceled before it looks, so it may see either, on a clock without Await. In both
// cases there is one token for one caller.
func TestTokenOfACallerThatIsCanceledWhenServedGoesBack(t *testing.T) {
	t.Parallel()
	seen := map[bool]int{}
	for range 64 {
		account := new(purse)
		queue := limit.NewLine(account, struct{ clock.Clock }{new(clock.Fake)})
		ctx, cancel := context.WithCancel(t.Context())
		_, _, err := queue.Acquire(ctx, onWait(func(ratelimit.Wait) {
			account.Give(time.Time{}, 1)
			queue.Changed(false)
			require.Zero(t, queue.Waiting())
			cancel()
		}))
		require.Equal(t, err != nil, account.tokens > 0) // it has the token, or gives it back
		seen[err != nil]++
	}
	require.Positive(t, seen[true])
	require.Positive(t, seen[false])
}

// Tokens that no change has told of are found at the end of the wait.
func TestTokensOfWhichTheLineHasNotHeardAreInTimeAtTheEnd(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	account := new(purse)
	queue := limit.NewLine(account, timerless{&clk})
	clk.Run(func() {
		request := onWait(func(ratelimit.Wait) { account.Give(time.Time{}, 1) })
		request.MaxWait = time.Second
		_, _, err := queue.Acquire(t.Context(), request)
		require.NoError(t, err)
	})
}

// timerless is a clock whose timers of lines come too late.
type timerless struct{ *clock.Fake }

func (c timerless) AfterFunc(_ time.Duration, f func()) clock.Timer {
	return c.Fake.AfterFunc(time.Hour, f)
}

// lifted is an account that notes for whom it has to have room.
type lifted struct {
	purse
	costs   []float64
	endless bool
}

func (l *lifted) Lift(_ time.Time, cost float64) { l.costs = append(l.costs, cost) }

func (l *lifted) Until(time.Time, float64) time.Duration {
	if l.endless {
		return limit.Endless
	}
	return 0
}

func TestAccountHasRoomForTheFirstInLineAndThenForNoOne(t *testing.T) {
	t.Parallel()
	account := new(lifted)
	queue := limit.NewLine(account, new(clock.Fake))
	leave := queue.Queue(ratelimit.Request{Cost: 3})
	queue.Queue(ratelimit.Request{Cost: 2})()
	leave()
	require.Equal(t, []float64{3, 3, 0}, account.costs)
	account.endless = true
	_, _, err := queue.Acquire(t.Context(), ratelimit.Request{})
	require.EqualError(t, err, "ratelimit: the wait would never end: 2562047h47m16.854775807s to wait, 0 ahead, 0 tokens/s")
}
