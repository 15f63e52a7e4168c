package limit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/ratelimit"
)

// modelAccount is an account of which a second foretells one token. It gets tokens only from outside.
type modelAccount struct{ purse }

func (a *modelAccount) Until(_ time.Time, cost float64) time.Duration {
	return max(time.Duration(cost-a.tokens)*time.Second, 0)
}

// modelLine is a line and what the lineModel knows of it.
type modelLine struct {
	line    *limit.Line
	account *modelAccount
	next    *modelLine
	beside  *modelLine
	tokens  float64
	owed    float64
}

// modelCaller is a caller of a lineModel, in a goroutine of its own. Its fields may be read after synctest.Wait.
type modelCaller struct {
	line   *modelLine // of those whom it needs, the one that it waits for in the lineModel
	cost   float64
	limit  time.Duration
	beside bool
	held   []*modelLine // whose tokens it has in the lineModel
	gone   bool         // refused in the lineModel, or canceled

	cancel context.CancelFunc
	ended  bool
	payer  limit.Account
	err    error
}

// lineModel is the specification of lines that share a lock: one queue of all callers in the order in which they came. Each
// change of an account goes through all of it.
type lineModel struct {
	random *rand.Rand
	lines  []*modelLine // in which callers wait
	root   *modelLine
	queue  []*modelCaller
	others []*modelCaller // who have left the queue since the last check
	served int
}

func newLineModel(seed uint64, front bool, beside int) *lineModel {
	m := &lineModel{random: rand.New(rand.NewPCG(seed, 5))}
	clk := new(clock.Fake)
	account := new(modelAccount)
	m.root = &modelLine{line: limit.NewLine(account, clk), account: account}
	if beside == 0 {
		m.lines = append(m.lines, m.root)
	}
	if front {
		account := new(modelAccount)
		m.root.line.Lock()
		m.lines = append(m.lines, &modelLine{line: m.root.line.InFront(account), account: account, next: m.root})
		m.root.line.Unlock()
	}
	for range beside {
		account := new(modelAccount)
		m.lines = append(m.lines, &modelLine{line: m.root.line.Beside(account, 3), account: account, beside: m.root})
	}
	return m
}

// serve is one pass through the queue. No caller is served past one who came before and waits for the same account.
func (m *lineModel) serve() {
	blocked := map[*modelLine]bool{}
	m.queue = slices.DeleteFunc(m.queue, func(c *modelCaller) bool {
		for ; c.line != nil; c.line = c.line.next {
			payer := c.line
			if blocked[c.line] || payer.tokens < c.cost {
				pool := c.line.beside
				if blocked[c.line] || !c.beside || blocked[pool] || pool.tokens < c.cost {
					blocked[c.line] = true
					blocked[pool] = blocked[pool] || c.beside
					return false
				}
				payer = pool
			}
			payer.tokens -= c.cost
			c.held = append(c.held, payer)
		}
		m.served++
		m.others = append(m.others, c)
		return true
	})
}

// dismiss refuses all callers whose wait has become too long.
func (m *lineModel) dismiss() {
	m.root.owed = 0
	for _, l := range m.lines {
		l.owed = 0
	}
	m.queue = slices.DeleteFunc(m.queue, func(c *modelCaller) bool {
		wait := 0.0
		for l := c.line; l != nil; l = l.next {
			wait += max(l.owed+c.cost-l.tokens, 0)
		}
		if wait <= c.limit.Seconds() {
			c.line.owed += c.cost
			return false
		}
		m.giveUp(c)
		return true
	})
}

func (m *lineModel) giveUp(c *modelCaller) {
	m.others = append(m.others, c)
	c.gone = true
	for _, l := range c.held {
		l.tokens += c.cost
	}
	c.held = nil
}

// step lets something happen in the lines and in the lineModel.
func (m *lineModel) step(t *testing.T) {
	t.Helper()
	l := m.lines[m.random.IntN(len(m.lines))]
	switch what := m.random.IntN(10); {
	case what < 5:
		m.call(t, l)
	case what < 6 && len(m.queue) > 0:
		i := m.random.IntN(len(m.queue))
		c := m.queue[i]
		m.queue = slices.Delete(m.queue, i, i+1)
		m.giveUp(c)
		c.cancel()
	case what < 9:
		if m.random.IntN(2) == 0 {
			l = m.root
		}
		tokens := float64(1 + m.random.IntN(4))
		l.tokens += tokens
		l.account.Give(time.Time{}, tokens)
		l.line.Changed(false)
	case m.root.line.Waiting() > 0 && m.lines[0].beside == nil: // the tokens of the scope are taken away
		m.root.tokens -= 2
		m.root.account.Give(time.Time{}, -2)
		m.dismiss()
		m.root.line.Changed(true)
	}
	m.serve()
	synctest.Wait()
}

// call adds a caller that accepts no wait above a random limit.
func (m *lineModel) call(t *testing.T, l *modelLine) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &modelCaller{line: l, cost: float64(1 + m.random.IntN(4)), cancel: cancel, limit: time.Hour}
	c.beside = l.beside != nil && c.cost <= 3
	if m.random.IntN(2) == 0 {
		c.limit = time.Duration(1+m.random.IntN(40)) * time.Second
	}
	go func() {
		_, c.payer, c.err = l.line.Acquire(ctx, ratelimit.Request{Cost: c.cost, MaxWait: c.limit})
		c.ended = true
	}()
	synctest.Wait()
	if c.ended && errors.Is(c.err, limit.ErrWaitLimit) {
		return // its limit is for the line to judge, and tested elsewhere
	}
	m.queue = append(m.queue, c)
}

// check compares the lines with the lineModel.
func (m *lineModel) check(t *testing.T) {
	t.Helper()
	for _, c := range m.queue {
		require.False(t, c.ended, "%v", c.err)
	}
	for _, c := range m.others {
		require.True(t, c.ended)
		require.Equal(t, c.gone, c.err != nil, "%v", c.err)
		if len(c.held) == 1 {
			require.Same(t, c.held[0].account, c.payer)
		}
	}
	m.others = nil
	for i, l := range append([]*modelLine{m.root}, m.lines...) {
		require.InDelta(t, l.tokens, l.account.tokens, 0, "line %d", i)
		waiting := 0
		for _, c := range m.queue {
			if c.line == l || c.beside && c.line.beside == l {
				waiting++
			}
		}
		require.Equal(t, waiting, l.line.Waiting(), "line %d", i)
	}
}

// Lines serve and refuse the callers that the lineModel does, from the same accounts, whatever comes in which order.
func TestLinesServeAsOneQueueOfAllCallersWould(t *testing.T) {
	t.Parallel()
	for _, lines := range []struct {
		name   string
		front  bool
		beside int
	}{{name: "alone"}, {name: "with one in front", front: true}, {name: "beside a pool", beside: 3}} {
		for seed := range uint64(10) {
			t.Run(fmt.Sprintf("%s/seed=%d", lines.name, seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					m := newLineModel(seed, lines.front, lines.beside)
					for range 300 {
						m.step(t)
						m.check(t)
					}
					require.Greater(t, m.served, 30)
					for _, c := range m.queue {
						c.cancel()
					}
				})
			})
		}
	}
}
