//go:build !race

// One goroutine plays it, so that the race detector has nothing to find.

package sendrate_test

import (
	"math"
	"testing"
	"time"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// FuzzSendRate plays a program to every controller. An operation of the program has three bytes:
// what to do, and a number of 16 bits, low byte first, for its arguments.
func FuzzSendRate(f *testing.F) {
	f.Fuzz(func(t *testing.T, program []byte) {
		playAll(t, sendrate.Config{}, program)
		playAll(t, sendrate.Config{Controller: ratelimit.CutPerThrottle}, program)
	})
}

func playAll(t *testing.T, config sendrate.Config, program []byte) {
	t.Helper()
	p := player{
		rate:   sendrate.New(config, at(0)),
		least:  sendrate.HoldLeast,
		now:    at(0),
		newest: at(0),
	}
	for ; len(program) >= 3; program = program[3:] {
		p.play(t, program[0], uint16(program[1])|uint16(program[2])<<8)
		p.check(t)
	}
}

type player struct {
	rate   sendrate.SendRate
	least  float64
	now    time.Time
	newest time.Time
	lifted float64
}

func (p *player) move(d time.Duration) {
	p.now = p.now.Add(d)
	if p.now.After(p.newest) {
		p.newest = p.now
	}
}

// amount makes a positive number between 2^-20 and 2^43 from the bits: eleven bits of mantissa
// and five of exponent, which is doubled.
func amount(bits uint16) float64 {
	return math.Ldexp(1+float64(bits&0x7ff)/0x800, 2*int(bits>>11)-20)
}

func (p *player) play(t *testing.T, op byte, bits uint16) {
	t.Helper()
	n := amount(bits)
	switch op % 10 {
	case 0:
		p.rate.Report(p.now, ratelimit.Response{})
	case 1:
		p.rate.Report(p.now, ratelimit.Response{Throttled: true})
	case 2:
		sent := p.now.Add(-time.Duration(bits) * time.Millisecond)
		p.rate.Report(p.now, ratelimit.Response{Sent: sent, Throttled: true})
	case 3:
		p.take(t, n)
	case 4:
		p.waitFor(t, n)
	case 5:
		p.rate.Give(p.now, n)
	case 6:
		p.lifted = n - amount(0)
		p.rate.Lift(p.now, p.lifted)
	case 7:
		p.rate.SetRate(p.now, ratelimit.Rate(n))
	case 8:
		p.move(time.Duration(n * float64(time.Microsecond)))
	default:
		p.rate.Until(p.now, 0)
		before := p.rate.State()
		p.move(-time.Duration(n * float64(time.Microsecond)))
		p.rate.Until(p.now, 0)
		p.same(t, before)
	}
}

// take takes n tokens, or gets a wait and takes none.
func (p *player) take(t *testing.T, n float64) {
	t.Helper()
	until := p.rate.Until(p.now, n)
	want := p.rate.State()
	wait, ok := p.try(n)
	if wait != until || wait < 0 || ok != (wait == 0) || !ok && !want.Limited {
		t.Fatalf("%v granted %v, %v to wait, expected %v", n, ok, wait, until)
	}
	if ok && want.Limited {
		want.SendTokens -= n
	}
	p.same(t, want)
}

// try takes n tokens, or returns how long to wait for them.
func (p *player) try(n float64) (wait time.Duration, ok bool) {
	due, ok := p.rate.Take(p.now, n)
	switch {
	case due.IsZero():
		return math.MaxInt64, ok
	case p.rate.State().Limited:
		return due.Sub(p.rate.Newest()), ok
	default:
		return due.Sub(p.now), ok
	}
}

// waitFor lifts the bucket to n tokens, waits as long as Take says, two rounds at most, and takes
// them.
func (p *player) waitFor(t *testing.T, n float64) {
	t.Helper()
	p.lifted = n
	p.rate.Lift(p.now, n)
	for range 2 {
		wait, _ := p.try(n)
		if wait == 0 || wait == math.MaxInt64 {
			return
		}
		p.now = p.newest
		p.move(wait)
	}
	if wait, ok := p.try(n); !ok {
		t.Fatalf("%v more to wait for %v of %+v", wait, n, p.rate.State())
	}
}

// same fails if the state differs from want.
func (p *player) same(t *testing.T, want retry.ScopeSnapshot) {
	t.Helper()
	if got := p.rate.State(); got != want {
		t.Fatalf("%+v, expected %+v", got, want)
	}
}

func (p *player) check(t *testing.T) {
	t.Helper()
	state := p.rate.State()
	for _, n := range []float64{state.FillRate, state.MeasuredRate, state.SendCapacity, state.SendTokens} {
		if !(n >= 0 && n <= math.MaxFloat64) {
			t.Fatalf("negative, infinite or no number: %+v", state)
		}
	}
	if state.SendTokens > max(state.SendCapacity, p.lifted) {
		t.Fatalf("too many tokens: %+v", state)
	}
	if state.Limited && (state.FillRate < p.least || state.SendCapacity < sendrate.MinCapacity) {
		t.Fatalf("below the floor: %+v", state)
	}
}
