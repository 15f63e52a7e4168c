package retry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/wire"
)

// Interval is how long [Poll] waits between two polls. Only First must be set: then all waits are
// equal.
type Interval struct {
	// First is the wait after the first poll. It must be more than zero.
	First time.Duration
	// Max makes the wait double each time, up to Max. Zero means that it does not grow.
	// Otherwise it must not be less than First.
	Max time.Duration
	// Jitter is the random part of each wait, from 0 to 1, which spreads out pollers that
	// began together: a wait of d takes d - u*Jitter*d, where u is what Random returns. Zero
	// means no jitter.
	Jitter float64
	// Random returns a number from 0 to 1 for the jitter. One outside counts as the nearer end, and NaN
	// as 0, the longest wait. It must be safe for concurrent use if several calls of Poll share it. Nil
	// means rand.Float64 of math/rand/v2.
	Random func() float64
}

func (i *Interval) check() error {
	switch {
	case i.First <= 0:
		return fmt.Errorf("retry: Interval.First %v: must be more than zero", i.First)
	case i.Max != 0 && i.Max < i.First:
		return fmt.Errorf("retry: Interval.Max %v: must be zero, or not less than First, which is %v", i.Max, i.First)
	case !(i.Jitter >= 0 && i.Jitter <= 1): // also NaN
		return fmt.Errorf("retry: Interval.Jitter %v: must be from 0 to 1", i.Jitter)
	default:
		return nil
	}
}

// grown returns the wait after a wait of d, both without jitter.
func (i *Interval) grown(d time.Duration) time.Duration {
	return d + max(min(d, i.Max-d), 0)
}

// jittered shortens a wait by its jitter. u is what Random has returned.
func (i *Interval) jittered(d time.Duration, u float64) time.Duration {
	if !(u > 0) { // also NaN
		return d
	}
	return max(d-time.Duration(float64(d)*i.Jitter*min(u, 1)), 0)
}

// Poll calls fn until it reports that it is done, and waits between the calls. A call that is not
// done yet is no failure: it takes nothing from the retry quota and uses up no attempt. Each poll is
// an operation like one of [Do]: the strategy retries its failures, with as many attempts as op
// allows, it takes a send token in adaptive mode, and the observer gets its events. The waits
// between polls cause no events.
//
// [Operation.MaxElapsed] and [Operation.NotAfter] limit all polls and waits together. A limit in the
// strategy's Config applies to each poll. Without any limit Poll ends when fn is done or fails, or
// when ctx ends. Poll does not begin a wait that could not end in time.
//
// Poll returns what the last call of fn returned, with one of these errors:
//
//   - nil if fn is done;
//   - those of Do, if a poll failed;
//   - an error, without a call of fn, for an every that is out of range;
//   - an [*Error] if the time is up between two polls: [ErrMaxElapsed], [ErrDeadline] for a wait
//     that would end after the deadline of ctx, or [ErrCanceled] with the error of ctx.
//
// In every [*Error] that says why Poll gave up, Polls is how many polls there were, and the text has
// the last value of a poll that was not done. So keep the value short, such as the state of a job.
//
// A panic or [runtime.Goexit] in fn passes through. Several goroutines may call Poll at once with
// the same strategy.
func Poll[T any](
	ctx context.Context, s Strategy, op Operation, every Interval,
	fn func(ctx context.Context) (value T, done bool, err error), opts ...Option,
) (value T, err error) {
	if fn == nil {
		return value, errNothingToPoll
	}
	o, policy, err := prepare[T](s, opts)
	if err != nil {
		return value, err
	}
	if err := every.check(); err != nil {
		return value, err
	}
	p := polling{every: every, wait: every.First, readings: readingsOf(s)}
	p.begin(&op)
	for {
		done := false
		l := loop{strategy: s, timeout: o.attemptTimeout, judged: policy != nil}
		got, err := run(ctx, &l, &op, func(ctx context.Context) (value T, err error) {
			value, done, err = fn(ctx)
			return value, err
		}, policy)
		if l.attempts > 0 {
			value = got
			p.polls++
		}
		switch {
		case l.refusal != nil:
			return value, p.complete(l.refusal)
		case err != nil, done:
			return value, err
		}
		p.answer = value
		if refusal := p.sleep(ctx); refusal != nil {
			refusal.Attempts = l.attempts
			return value, p.complete(refusal)
		}
	}
}

var errNothingToPoll = errors.New("retry: Poll needs a function")

// polling is the part of Poll's state that does not depend on T.
type polling struct {
	every    Interval
	wait     time.Duration // the next, without jitter
	end      time.Time     // after which no poll begins; zero without such an end
	readings *instant.Readings
	start    instant.Mark
	polls    int
	answer   any // of the last poll that was not done
}

// begin turns MaxElapsed into the end of all polls.
func (p *polling) begin(op *Operation) {
	p.start = p.readings.Mark()
	op.endTogether(p.readings)
	p.end = op.NotAfter
}

// sleep waits for the next poll. A wait that could not end in time is not begun.
func (p *polling) sleep(ctx context.Context) *Error {
	random := p.every.Random
	if random == nil {
		random = rand.Float64
	}
	d := p.wait
	if p.every.Jitter > 0 {
		d = p.every.jittered(d, random())
	}
	p.wait = p.every.grown(p.wait)
	now := p.readings.Now()
	switch missed := instant.EndsOf(ctx, now, p.end, 0).Missed(now, d); {
	case ctx.Err() != nil:
	case missed == instant.Deadline:
		return &Error{Reason: ErrDeadline, Detail: context.DeadlineExceeded, Wait: d}
	case missed == instant.Last:
		return &Error{Reason: ErrMaxElapsed, Wait: d}
	case p.readings.Clock().Sleep(ctx, d) == nil:
		return nil
	}
	return (&Error{Reason: ErrCanceled}).Complete(ctx, 0)
}

// complete adds what Poll knows to the refusal of a poll, or of the wait for one.
func (p *polling) complete(refusal *Error) *Error {
	refusal.Polls, refusal.Elapsed = p.polls, p.readings.Since(p.start)
	if p.answer != nil {
		refusal.Detail = wire.Join(refusal.Detail, fmt.Errorf("last answer: %s", shortened(p.answer)))
	}
	return refusal
}

// shortened returns the text of an answer, or the first 200 characters of it.
func shortened(answer any) string {
	text := fmt.Sprint(answer)
	if start := fmt.Sprintf("%.200s", text); start != text {
		return start + "..."
	}
	return text
}
