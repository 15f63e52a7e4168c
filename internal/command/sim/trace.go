package sim

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/command/virtual"
	"github.com/awsretry/awsretry/retry"
)

// Trace is what attempts got that were recorded: steps or operations.
type Trace struct {
	// Start is when the recording begins, on the clock of Operation.Start.
	Start time.Duration
	// Jitter is what all delays are multiplied with, from 0 to 1.
	Jitter      float64
	LongPolling bool
	// Steps are what attempts got, in the order in which they were sent. They take no time.
	Steps []Step
	// Operations come one after the other.
	Operations []Operation
}

// Step is what an attempt of a request got; nil is success.
type Step struct {
	Request string
	Err     error
}

// Operation begins not before Start. Each of its attempts takes Latency and gets the next of Errs,
// of which there is at least one.
type Operation struct {
	Start, Latency time.Duration
	Errs           []error
}

// Play plays the trace with a variant. All calls count. An attempt for which nothing was recorded
// gets what the last one of its request or operation got.
func (t *Trace) Play(v Variant) (*Result, error) {
	clk := virtual.New(start().Add(t.Start))
	p := &tracePlay{clock: clk, start: clk.Now(), from: t.Start}
	random := func() float64 { return t.Jitter }
	var err error
	if p.client, err = v.newClient(clk, random, retry.ObserverFunc(p.observe)); err != nil {
		return nil, err
	}
	p.client.longPolling = t.LongPolling
	p.samples = []sample{{state: p.client.state()}}
	p.recorder = newRecorder(p.start, p.samples[0].state.Quota)
	clk.Go(func() { p.operations(t.Operations) })
	p.steps(t.Steps)
	clk.Run(time.Time{})
	return p.result(), nil
}

// tracePlay is a trace that is played.
type tracePlay struct {
	clock    *virtual.Clock
	start    time.Time
	from     time.Duration // when the recording begins
	client   *client
	recorder *recorder
	calls    []*Call
	samples  []sample
	beyond   int // attempts without an answer
	unused   int // answers without an attempt
}

// sample is the state of the client at an instant.
type sample struct {
	at    time.Duration
	state state
}

func (p *tracePlay) observe(ctx context.Context, e retry.Event) {
	p.recorder.observe(ctx, e)
	p.samples = append(p.samples, sample{e.Time.Sub(p.start), p.client.state()})
}

// call makes one call. attempt returns when the attempt was sent, and what it got.
func (p *tracePlay) call(attempt func(ctx context.Context) (time.Time, error)) {
	p.calls = append(p.calls, record(context.Background(), p.clock, p.start, p.client, 0, troubled,
		func(ctx context.Context) (at time.Time, throttled bool, err error) {
			at, err = attempt(ctx)
			return at, err != nil && p.client.strategy.Judge(retry.Operation{}, err).Kind() == classify.Throttling, err
		}))
}

func (p *tracePlay) operations(operations []Operation) {
	for _, op := range operations {
		if p.clock.Sleep(context.Background(), op.Start-p.from-p.clock.Now().Sub(p.start)) != nil {
			return
		}
		made := 0
		p.call(func(ctx context.Context) (time.Time, error) {
			sent := p.clock.Now()
			if err := p.clock.Sleep(ctx, op.Latency); err != nil {
				return sent, err
			}
			if made++; made > len(op.Errs) {
				p.beyond++
			}
			return sent, op.Errs[min(made, len(op.Errs))-1]
		})
		p.unused += max(len(op.Errs)-made, 0)
	}
}

// stepPlay plays steps. A request has a task while it has a call.
type stepPlay struct {
	*tracePlay
	steps []Step
	next  int              // the step whose turn it is
	own   map[string][]int // the steps of each request from next on
	calls map[string]bool  // the requests that have a call
	turns []chan struct{}  // closed when a step that a call waits for has its turn
}

func (p *tracePlay) steps(steps []Step) {
	s := &stepPlay{
		tracePlay: p, steps: steps, own: map[string][]int{}, calls: map[string]bool{}, turns: make([]chan struct{}, len(steps)),
	}
	for i, step := range steps {
		s.turns[i] = make(chan struct{})
		s.own[step.Request] = append(s.own[step.Request], i)
	}
	s.turn()
}

// turn lets the call that the next step is for go on, or begins one.
func (s *stepPlay) turn() {
	if s.next == len(s.steps) {
		return
	}
	close(s.turns[s.next])
	if request := s.steps[s.next].Request; !s.calls[request] {
		s.calls[request] = true
		s.clock.Go(func() { s.request(request) })
	}
}

// take takes the next step, which is one of the request.
func (s *stepPlay) take(request string) error {
	err := s.steps[s.next].Err
	s.own[request] = s.own[request][1:]
	s.next++
	s.turn()
	return err
}

// request makes the calls of a request while it is their turn. An attempt takes its send token
// before its turn comes, where "awsretry replay" takes it then, so that the send rates of several
// requests may differ.
func (s *stepPlay) request(request string) {
	defer delete(s.calls, request)
	var last error
	for own := s.own[request]; len(own) > 0 && own[0] == s.next; own = s.own[request] {
		s.call(func(ctx context.Context) (time.Time, error) {
			left := s.own[request]
			if len(left) == 0 {
				s.beyond++
				return s.clock.Now(), last
			}
			if err := s.clock.Await(ctx, s.turns[left[0]]); err != nil {
				return s.clock.Now(), err
			}
			last = s.take(request)
			return s.clock.Now(), last
		})
		if s.next == own[0] { // the call gave up before its first attempt
			s.unused++
			_ = s.take(request)
		}
	}
}

// result counts the calls when the run has ended.
func (p *tracePlay) result() *Result {
	duration := p.clock.Now().Sub(p.start)
	r := p.recorder
	r.spread(duration, Window{0, duration + 1})
	slices.SortStableFunc(p.calls, func(a, b *Call) int { return int(min(max(a.Ended-b.Ended, -1), 1)) })
	for _, c := range p.calls {
		r.began(c.Began)
		r.ended(c)
	}
	last, next := p.samples[0], 1
	for i := range r.bins {
		for ; next < len(p.samples) && (p.samples[next].at < r.end(i) || i == len(r.bins)-1); next++ {
			last = p.samples[next]
		}
		r.bins[i].Quota, r.bins[i].Pool, r.bins[i].SendRate = last.state.Quota, last.state.pool, math.NaN()
		if last.state.Limited {
			r.bins[i].SendRate = last.state.FillRate
		}
	}
	result := r.result(nil)
	result.Beyond, result.Unused = p.beyond, p.unused
	return result
}
