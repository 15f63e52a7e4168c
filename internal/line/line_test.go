package line_test

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
	"github.com/awsretry/awsretry/internal/line"
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
	line    *line.Line
}

func newLineRun() *lineRun {
	r := &lineRun{account: slots{rate: 7}}
	r.start = r.clock.Now()
	r.line = line.New(&r.account, &r.clock)
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

func TestLineRefusesAtOnceWhatTheAccountCannotServeInTime(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		deadline, notAfter float64 // seconds; 0 means none
		want               error
	}{
		"deadline at the slot":          {deadline: 2, want: context.DeadlineExceeded},
		"deadline after the slot":       {deadline: 2.5},
		"end of the operation before":   {notAfter: 1.5, want: ratelimit.ErrNotAfter},
		"end of the operation with it":  {notAfter: 2},
		"neither deadline nor such end": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newLineRun()
				r.set(2)
				ctx, request := t.Context(), ratelimit.Request{}
				if tt.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = r.clock.WithDeadline(ctx, r.in(tt.deadline))
					defer cancel()
				}
				if tt.notAfter > 0 {
					request.NotAfter = r.in(tt.notAfter)
				}
				c := r.call(ctx, request)
				if tt.want != nil {
					require.True(t, c.ended)
					require.ErrorIs(t, c.err, tt.want)
					refused := &ratelimit.WaitError{}
					require.ErrorAs(t, c.err, &refused)
					require.Equal(t, ratelimit.Wait{Expected: 2 * time.Second, FillRate: 7}, refused.Wait)
					return
				}
				r.requireSent(t, []float64{0}, c)
				r.advance(2 * time.Second)
				r.requireSent(t, []float64{2}, c)
			})
		})
	}
}

func TestAChangeServesCallersWhoseTokensHaveCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLineRun()
		first := r.call(t.Context(), ratelimit.Request{})
		second := r.call(t.Context(), ratelimit.Request{NotAfter: r.in(60)})
		r.requireSent(t, []float64{0, 0}, first, second)
		r.advance(time.Second)
		r.set(0.5, 1, 1)
		r.requireSent(t, []float64{1, 1}, first, second)
		require.Zero(t, r.line.Expected(1))
		_, _, err := r.line.Acquire(t.Context(), ratelimit.Request{NoWait: true})
		require.NoError(t, err, "one slot is left")
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

func TestAChangeEndsTheWaitForASlotThatWasTakenAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLineRun()
		r.set(1)
		c := r.call(t.Context(), ratelimit.Request{})
		r.set()
		_, ok := r.clock.AdvanceToNext()
		require.False(t, ok, "no timer is left")
		r.requireSent(t, []float64{0}, c)
	})
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
		"without a slot":                          {3, 0, 0, line.ErrWaitLimit, 3},
		"with a slot just before the end":         {3, 0, 2.5, nil, 2.5},
		"with a slot at the end":                  {3, 0, 3, nil, 3},
		"with one that is too late":               {3, 0, 3.5, line.ErrWaitLimit, 0},
		"before the end of the operation":         {3, 9, 0, line.ErrWaitLimit, 3},
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

func TestAChangeThatMakesNoWaitLongerSendsNoCallerAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLineRun()
		r.set(1, 2)
		first := r.call(t.Context(), ratelimit.Request{})
		second := r.call(t.Context(), ratelimit.Request{NotAfter: r.in(4)})
		r.account.set(r.in(0), r.in(5))
		r.line.Changed(false)
		synctest.Wait()
		require.True(t, first.ended)
		require.Equal(t, r.start, first.sent)
		require.False(t, second.ended, "its end is still to come")
		r.line.Changed(true)
		synctest.Wait()
		require.ErrorIs(t, second.err, ratelimit.ErrNotAfter)
	})
}

// A test can see each caller of a queue wait, although only the first one has a timer.
func TestFakeClockCountsEachCallerInAQueue(t *testing.T) {
	t.Parallel()
	accounts := map[string]func(start time.Time) line.Account{
		"that knows when tokens come": func(start time.Time) line.Account {
			account := &slots{}
			for i := range 6 {
				account.free = append(account.free, start.Add(time.Duration(i+1)*time.Second))
			}
			return account
		},
		"that does not": func(time.Time) line.Account { return new(purse) },
	}
	for name, account := range accounts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clk clock.Fake
				queue := line.New(account(clk.Now()), struct{ *clock.Fake }{&clk})
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

// TestLineConcurrentSafe takes, gives up and gives back at random. At the end every token is
// where it belongs.
func TestLineConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		account := &purse{tokens: 10}
		queue := line.New(account, clock.System{})
		served, lost := make(chan int, 3000), make(chan int, 3000)
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(2, uint64(i)))
				for range 10 {
					cost, wait := float64(1+random.IntN(4)), time.Duration(random.IntN(1000))*time.Millisecond
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					request := ratelimit.Request{Cost: cost, NotAfter: time.Now().Add(wait)}
					if random.IntN(2) == 0 {
						request.NotAfter = time.Time{}
						clock.System{}.AfterFunc(wait, cancel)
					}
					if _, _, err := queue.Acquire(ctx, request); err != nil {
						lost <- i
					} else {
						served <- i
						pause := time.Duration(random.IntN(10)) * time.Millisecond
						_ = clock.System{}.Sleep(t.Context(), pause)
						account.Give(time.Now(), cost)
						queue.Changed(true)
					}
					cancel()
				}
			})
		}
		wg.Wait()
		require.Equal(t, 3000, len(served)+len(lost))
		require.NotEmpty(t, served)
		require.NotEmpty(t, lost)
		require.InDelta(t, 10, account.tokens, 0)
		require.Zero(t, queue.Waiting())
	})
}

// Callers of lines that share a lock take, give up and give back at random. At the end every token is where it belongs.
func TestLinesWithOneLockConcurrentSafe(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]bool{"one in front of the other": false, "two beside a pool": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				accounts := []*purse{{tokens: 5}, {tokens: 4}, {tokens: 3}}
				root := line.New(accounts[0], clock.System{})
				var queues []*line.Line
				if beside {
					queues = []*line.Line{root.Beside(accounts[1], 3), root.Beside(accounts[2], 3)}
				} else {
					queues = []*line.Line{root, root.InFront(accounts[1])}
				}
				giveBack := func(queue *line.Line, payer line.Account, cost float64) {
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
	pool := line.New(account(), new(clock.Fake))
	accounts, lines := []*countingPurse{}, []*line.Line{}
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
