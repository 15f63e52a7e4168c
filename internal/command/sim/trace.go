package sim

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/command/trace"
	"github.com/awsretry/awsretry/internal/command/virtual"
	"github.com/awsretry/awsretry/retry"
)

// Decision is the decision of the strategy on a step or an operation.
type Decision struct {
	Attempt int
	// Err says why there is no other attempt: nil after success, and [ErrRetried] if there is one.
	Err error
	// Delay comes before the next attempt, or before the end of a call.
	Delay time.Duration
	// Call is the operation. Its times count from the start of the trace.
	Call *Call
	// At is the time of the trace, and State that of the client.
	At    time.Duration
	State retry.ScopeSnapshot
}

// ErrRetried is the error of a decision for another attempt.
var ErrRetried = errors.New("another attempt follows")

// ErrBeyond is the error of a decision on an operation without a response for its next attempt.
var ErrBeyond = errors.New("nothing was recorded")

// PlayTrace plays a trace with a variant. All calls count; within is the time in which one must succeed to be
// in time. Operations run concurrently: each begins at its start, or at the end of the one before it if it has
// none. An attempt without a recorded answer gets the answer of the last attempt of its request or operation,
// or, in an access log, the latest answer that the log has for that operation.
func PlayTrace(t *trace.Trace, v Variant, within time.Duration) (*Result, error) {
	p, err := newTracePlay(t, v)
	if err != nil {
		return nil, err
	}
	p.within = within
	p.samples = []sample{{state: p.client.state()}}
	p.play(t)
	return p.result(), nil
}

// Replay plays a trace with a variant, and calls onDecision with the decision on each step or operation.
// A request stays open after its last step. Replay returns the errors of ctx, of the variant and of onDecision.
func Replay(ctx context.Context, t *trace.Trace, v Variant, onDecision func(d Decision) error) error {
	p, err := newTracePlay(t, v)
	if err != nil {
		return err
	}
	p.onDecision = func(d Decision) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return onDecision(d)
	}
	p.recorder.table = "" // The scope is that of the strategy as a whole, which has no pool.
	p.play(t)
	return p.err
}

// tracePlay is the play of a trace.
type tracePlay struct {
	clock    *virtual.Clock
	start    time.Time
	client   *client
	recorder *recorder

	// For PlayTrace.
	calls   []*Call
	samples []sample
	beyond  int // attempts without an answer
	unused  int // answers without an attempt
	within  time.Duration
	log     map[string][]*trace.Operation // of an access log, by name

	// For Replay.
	onDecision func(d Decision) error
	err        error

	steps    []trace.Step
	next     int                 // the step whose turn it is
	requests map[string]*request // by name
}

// sample is the state of the client at an instant.
type sample struct {
	at    time.Duration
	state state
}

// request has a task while it has a call.
type request struct {
	own     []int // its remaining steps
	calling bool
	taken   bool          // an attempt has taken the step whose turn it is
	turn    chan struct{} // closed at the turn of its next step, if it waits for that
	last    error
}

type requestKey struct{}

func newTracePlay(t *trace.Trace, v Variant) (*tracePlay, error) {
	clk := virtual.New(start().Add(time.Duration(t.Start)))
	p := &tracePlay{clock: clk, start: clk.Now(), steps: t.Steps, requests: map[string]*request{}}
	jitter := func() float64 { return t.Given.Jitter }
	var err error
	if p.client, err = v.newClient(clk, jitter, retry.ObserverFunc(p.observe)); err != nil {
		return nil, err
	}
	p.client.strategy = inTurn{p.client.strategy, p}
	p.client.longPolling = t.Given.LongPolling
	p.recorder = newRecorder(p.start, p.client.state().Quota)
	return p, nil
}

func (p *tracePlay) play(t *trace.Trace) {
	for i, step := range t.Steps {
		if p.requests[step.Request] == nil {
			p.requests[step.Request] = &request{}
		}
		r := p.requests[step.Request]
		r.own = append(r.own, i)
	}
	if t.Log {
		p.log = map[string][]*trace.Operation{}
		for i := range t.Operations {
			op := &t.Operations[i]
			p.log[op.Name] = append(p.log[op.Name], op)
		}
	}
	p.clock.Go(func() { p.operations(t.Operations) })
	p.turn()
	p.clock.Run(time.Time{})
}

func (p *tracePlay) observe(ctx context.Context, e retry.Event) {
	p.recorder.observe(ctx, e)
	if p.onDecision == nil {
		p.samples = append(p.samples, sample{e.Time.Sub(p.start), p.client.state()})
	}
}

// emit calls onDecision with a decision. An error ends the play.
func (p *tracePlay) emit(d Decision) {
	if p.onDecision == nil || p.err != nil {
		return
	}
	d.At, d.State = p.clock.Now().Sub(start()), p.client.state().ScopeSnapshot
	if p.err = p.onDecision(d); p.err != nil {
		p.clock.Stop()
	}
}

// call makes one call. attempt returns when the attempt was sent, and what it got.
func (p *tracePlay) call(ctx context.Context, attempt func(ctx context.Context) (time.Time, error)) *Call {
	call := record(ctx, p.clock, p.start, p.client, 0, p.recorder.table, func(ctx context.Context) (at time.Time, throttled bool, err error) {
		at, err = attempt(ctx)
		return at, err != nil && p.client.strategy.Judge(retry.Operation{}, err).Kind() == classify.Throttling, err
	})
	if p.onDecision == nil {
		p.calls = append(p.calls, call)
	}
	return call
}

// ended returns the decision that ended a call.
func ended(c *Call) Decision {
	d := Decision{Attempt: len(c.Attempts), Err: c.Err, Call: c}
	if n := len(c.Attempts); n > 0 {
		d.Delay = c.Ended - c.Attempts[n-1].Ended
	}
	return d
}

// operations makes the calls of operations. In a replay they come one after another.
func (p *tracePlay) operations(operations []trace.Operation) {
	if p.onDecision != nil {
		p.oneByOne(operations)
		return
	}
	for len(operations) > 0 {
		n := 1 // operations without a start that follow the first
		for n < len(operations) && operations[n].Start == 0 {
			n++
		}
		row := operations[:n]
		operations = operations[n:]
		if p.clock.Sleep(context.Background(), p.untilStart(&row[0])) != nil {
			return
		}
		p.clock.Go(func() { p.oneByOne(row) })
	}
}

// untilStart returns the time until the start of an operation.
func (p *tracePlay) untilStart(op *trace.Operation) time.Duration {
	return time.Duration(op.Start) - p.clock.Now().Sub(start())
}

func (p *tracePlay) oneByOne(operations []trace.Operation) {
	for i := range operations {
		op := &operations[i]
		if p.clock.Sleep(context.Background(), p.untilStart(op)) != nil {
			return
		}
		made := 0
		call := p.call(context.Background(), func(ctx context.Context) (time.Time, error) {
			sent, said := p.clock.Now(), op
			if made == len(op.Responses) {
				if p.onDecision != nil {
					return sent, retry.Permanent(ErrBeyond)
				}
				p.beyond++
				said = p.lastSaid(op, sent.Sub(start()))
			} else {
				made++
			}
			if err := p.clock.Sleep(ctx, time.Duration(said.Latency)); err != nil {
				return sent, err
			}
			return sent, said.Responses[min(made, len(said.Responses))-1].Judged()
		})
		p.unused += max(len(op.Responses)-made, 0)
		if p.emit(ended(call)); p.err != nil {
			return
		}
	}
}

// lastSaid returns the last operation of an access log with the same name that began by an instant. In any
// other trace it returns the operation itself.
func (p *tracePlay) lastSaid(op *trace.Operation, until time.Duration) *trace.Operation {
	rows := p.log[op.Name]
	after, _ := slices.BinarySearchFunc(rows, until+1, func(row *trace.Operation, at time.Duration) int {
		return cmp.Compare(time.Duration(row.Start), at)
	})
	if after == 0 {
		return op
	}
	return rows[after-1]
}

// turn continues the call of the next step, or begins one.
func (p *tracePlay) turn() {
	if p.next == len(p.steps) {
		if p.onDecision != nil && len(p.steps) > 0 {
			p.clock.Stop()
		}
		return
	}
	r := p.requests[p.steps[p.next].Request]
	if r.turn != nil {
		close(r.turn)
		r.turn = nil
	}
	if !r.calling {
		r.calling = true
		p.clock.Go(func() { p.request(r) })
	}
}

// settled ends the turn of the step taken by an attempt of a request.
func (p *tracePlay) settled(r *request, d Decision) {
	if !r.taken {
		return
	}
	r.taken = false
	if p.emit(d); p.err == nil {
		p.next++
		p.turn()
	}
}

// inTurn is a strategy whose retries also wait for their turn: an attempt takes its send token at the
// turn of the next step of its request.
type inTurn struct {
	retry.Strategy

	play *tracePlay
}

func (s inTurn) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	next, err := s.Strategy.RefreshRetryToken(ctx, t, failure)
	r, ok := ctx.Value(requestKey{}).(*request)
	p := s.play
	switch {
	case !ok || err != nil && p.onDecision != nil:
		return next, err
	case err != nil:
		p.settled(r, Decision{}) // A sleep before the end of a call delays no other call.
		return next, err
	}
	p.settled(r, Decision{Attempt: t.Attempt(), Err: ErrRetried, Delay: next.Delay()})
	if len(r.own) == 0 && p.onDecision != nil {
		return retry.Token{}, ErrBeyond // The granted retry stays paid for.
	}
	if p.slept(ctx, r, next.Delay()) {
		next = next.WithoutDelay()
	}
	return next, nil
}

// slept waits for a backoff, and then for the turn of the request's next step. It returns false if
// ctx ends before.
func (p *tracePlay) slept(ctx context.Context, r *request, backoff time.Duration) bool {
	if p.clock.Sleep(ctx, backoff) != nil {
		return false
	}
	if len(r.own) == 0 || p.hasTurn(r) {
		return true
	}
	r.turn = make(chan struct{})
	return p.clock.Await(ctx, r.turn) == nil
}

// hasTurn reports whether the next step belongs to the request.
func (p *tracePlay) hasTurn(r *request) bool {
	return len(r.own) > 0 && r.own[0] == p.next && p.err == nil
}

// request makes the calls of a request in their turns.
func (p *tracePlay) request(r *request) {
	defer func() { r.calling = false }()
	for p.hasTurn(r) {
		first := p.next
		call := p.call(context.WithValue(context.Background(), requestKey{}, r), func(context.Context) (time.Time, error) {
			if len(r.own) == 0 {
				p.beyond++
				return p.clock.Now(), r.last
			}
			r.last, r.own, r.taken = p.steps[p.next].Response.Judged(), r.own[1:], true
			return p.clock.Now(), r.last
		})
		if p.next == first && !r.taken { // the call gave up before its first attempt
			p.unused++
			r.own, r.taken = r.own[1:], true
		}
		p.settled(r, ended(call))
	}
}

// result counts the calls when the run has ended.
func (p *tracePlay) result() *Result {
	duration := p.clock.Now().Sub(p.start)
	r := p.recorder
	r.spread(&Scenario{Duration: duration, Measured: Window{0, duration + 1}, Within: p.within})
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
	result := r.result()
	result.Beyond, result.Unused = p.beyond, p.unused
	return result
}
