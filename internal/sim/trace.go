package sim

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/virtual"
	"github.com/awsretry/awsretry/retry"
)

// Trace is what attempts got that were recorded: steps or operations.
type Trace struct {
	// Start is when the recording begins. Only Operation.Start counts from the same instant.
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
	p := &tracePlay{clock: clk, start: clk.Now()}
	random := func() float64 { return t.Jitter }
	var err error
	if p.client, err = v.newClient(clk, random, retry.ObserverFunc(p.observe)); err != nil {
		return nil, err
	}
	p.client.longPolling = t.LongPolling
	p.samples = []sample{{state: p.client.state()}}
	p.recorder = newRecorder(p.start, p.samples[0].state.Quota)
	clk.Go(func() { p.operations(t) })
	p.steps(t.Steps)
	clk.Run(time.Time{})
	return p.result(), nil
}

// tracePlay is a trace that is played.
type tracePlay struct {
	clock    *virtual.Clock
	start    time.Time
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
	state retry.ScopeSnapshot
}

func (p *tracePlay) observe(ctx context.Context, e retry.Event) {
	p.recorder.observe(ctx, e)
	p.samples = append(p.samples, sample{e.Time.Sub(p.start), p.client.state()})
}

// call makes one call. attempt returns when the attempt was sent, and what it got.
func (p *tracePlay) call(attempt func(ctx context.Context) (time.Time, error)) {
	p.calls = append(p.calls, record(context.Background(), p.clock, p.start, p.client, 0, "table",
		func(ctx context.Context) (at time.Time, throttled bool, err error) {
			at, err = attempt(ctx)
			return at, err != nil && p.client.strategy.Judge(retry.Operation{}, err).Kind() == classify.Throttling, err
		}))
}

func (p *tracePlay) operations(t *Trace) {
	for _, op := range t.Operations {
		if p.clock.Sleep(context.Background(), op.Start-t.Start-p.clock.Now().Sub(p.start)) != nil {
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

// steps starts a task for each request. A step waits until the one before it has been taken.
func (p *tracePlay) steps(steps []Step) {
	turns := make([]chan struct{}, len(steps)+1)
	requests := map[string][]int{}
	for i, s := range steps {
		turns[i] = make(chan struct{})
		requests[s.Request] = append(requests[s.Request], i)
	}
	turns[len(steps)] = make(chan struct{})
	for _, s := range steps {
		own, fresh := requests[s.Request]
		if !fresh {
			continue
		}
		delete(requests, s.Request)
		p.clock.Go(func() { p.request(steps, own, turns) })
	}
	if len(steps) > 0 {
		close(turns[0])
	}
}

// request makes the calls of a request, which takes its own steps. After a call that takes no
// further step the next one begins. An attempt takes its send token before its turn comes, where
// "awsretry replay" takes it then, so that the send rates of several requests may differ.
func (p *tracePlay) request(steps []Step, own []int, turns []chan struct{}) {
	next := 0
	turn := func(ctx context.Context) error { return p.clock.Await(ctx, turns[own[next]]) }
	take := func() error {
		step := own[next]
		next++
		close(turns[step+1])
		return steps[step].Err
	}
	for next < len(own) && turn(context.Background()) == nil {
		before := next
		p.call(func(ctx context.Context) (time.Time, error) {
			if next == len(own) {
				p.beyond++
				return p.clock.Now(), steps[own[next-1]].Err
			}
			if err := turn(ctx); err != nil {
				return p.clock.Now(), err
			}
			return p.clock.Now(), take()
		})
		if next == before { // the call gave up before its first attempt
			p.unused++
			_ = take()
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
		r.bins[i].Quota, r.bins[i].SendRate = last.state.Quota, math.NaN()
		if last.state.Limited {
			r.bins[i].SendRate = last.state.FillRate
		}
	}
	result := r.result(nil)
	result.Beyond, result.Unused = p.beyond, p.unused
	return result
}
