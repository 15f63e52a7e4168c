package engine

import (
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// tally is what the end of an operation is told with. Only an operation with an observer has one,
// because it takes readings of the clock. Its instants count from the start of the operation.
type tally struct {
	id      uint64
	start   instant.Mark
	began   time.Duration    // when the present attempt did, or the last wait ended
	waiting time.Duration    // since when the loop waits for the next attempt
	issued  time.Duration    // when the present token was
	waits                    // so far
	verdict classify.Verdict // on the last failure
	reason  error            // of the last refusal
	rests   bool             // the loop has slept since, although no attempt follows
}

// waits are for how long an operation has waited.
type waits struct{ backoff, quota, send time.Duration }

// Began returns when the operation began, if there is an observer.
func (r *record) Began() (m instant.Mark, ok bool) { return r.tally.start, r.engine.observed() }

func (e *Engine) observed() bool { return e.config.Observer != nil }

// open begins the tally of an operation. A first attempt that waits for nothing begins with it.
func (e *Engine) open(r *record) {
	if e.observed() {
		r.tally = tally{id: e.ids.Add(1), start: e.reading.Mark()}
	}
}

// elapsed is how long the operation takes so far.
func (r *record) elapsed() time.Duration { return r.forward(r.engine.reading.Mark()) }

// forward returns how long the operation takes at an instant. A clock that goes backwards counts as
// one that stands still.
func (r *record) forward(m instant.Mark) time.Duration {
	return max(m.Sub(r.tally.start), r.tally.waiting)
}

// lap adds the time of a wait that is over. The next wait begins with its end.
func (e *Engine) lap(r *record, total *time.Duration) {
	if e.observed() {
		now := r.elapsed()
		*total += now - r.tally.waiting
		r.tally.waiting, r.tally.began = now, now
	}
}

// admit notes that the attempt of the token may be made. A loop that sleeps after Wait begins the
// attempt when the backoff is over, which is due.
func (e *Engine) admit(t token.Token, r *record, due time.Duration) {
	if left := due - r.tally.waiting; e.observed() && t.Delay() < 0 && left > 0 {
		r.tally.backoff += left
		r.tally.began = due
	}
}

// instant returns how long the operation takes at an instant that the clock has given. An attempt
// that should have begun later has begun before it, so that the backoff was shorter.
func (r *record) instant(now time.Time) (elapsed time.Duration) {
	elapsed = r.forward(r.engine.reading.MarkOf(now))
	if early := r.tally.began - elapsed; early > 0 {
		r.tally.backoff -= early
		r.tally.began = elapsed
	}
	return elapsed
}

// tellEnded tells of an attempt that failed. What follows is a wait, or the end.
func (e *Engine) tellEnded(t retry.Token, r *record, verdict classify.Verdict) {
	if !e.observed() {
		return
	}
	now := e.config.Clock.Now()
	elapsed := r.instant(now)
	took := elapsed - r.tally.began
	r.tally.waiting, r.tally.began, r.tally.issued = elapsed, elapsed, elapsed
	r.tally.verdict, r.tally.reason = verdict, nil
	e.tell(r, &retry.Event{
		Kind: retry.AttemptEnded, Time: now, Attempt: t.Attempt(), Err: r.last, Verdict: verdict,
		Elapsed: took,
	})
}

// tellSuccess tells of an attempt that has succeeded, of what that did to the send rate, and of the
// end of the operation.
func (e *Engine) tellSuccess(t retry.Token, r *record, change ratelimit.Change) {
	if !e.observed() {
		return
	}
	now := e.config.Clock.Now()
	elapsed := r.instant(now)
	e.tellEnd(r, retry.AttemptEnded, now, t.Attempt(), elapsed-r.tally.began, waits{})
	e.tellChange(t, r, change)
	e.tellEnd(r, retry.OperationEnded, now, t.Attempt(), elapsed, r.tally.waits)
}

// tellEnd is tell for a success. Every operation has two of these events, and an event is large, so
// this function makes it where it is passed on.
func (e *Engine) tellEnd(
	r *record, kind retry.EventKind, now time.Time, attempt int, elapsed time.Duration, waited waits,
) {
	defer func() { _ = recover() }()
	quota, pool := e.quotaLeft(r)
	e.config.Observer.Observe(r.ctx, retry.Event{
		Kind: kind, Time: now, OperationID: r.tally.id, Operation: r.op, Scope: r.scope.key,
		Attempt: attempt, Quota: quota, Pool: pool, Elapsed: elapsed,
		BackoffWait: waited.backoff, QuotaWait: waited.quota, SendWait: waited.send,
	})
}

// tellFailure tells of an operation that is over without success after so many attempts.
func (e *Engine) tellFailure(r *record, attempts int, failure error) {
	if !e.observed() {
		return
	}
	now := e.config.Clock.Now()
	elapsed := r.instant(now)
	if r.tally.rests {
		r.tally.backoff += elapsed - r.tally.waiting
	}
	e.tell(r, &retry.Event{
		Kind: retry.OperationEnded, Time: now, Attempt: attempts, Elapsed: elapsed,
		BackoffWait: r.tally.backoff, QuotaWait: r.tally.quota, SendWait: r.tally.send,
		Err: r.last, Verdict: r.tally.verdict, Reason: r.reasonOf(failure),
	})
}

// reasonOf returns why the operation has ended: the refusal, or what the loop says of the end.
func (r *record) reasonOf(failure error) error {
	switch {
	case r.tally.reason != nil:
		return r.tally.reason
	case failure == retry.ErrAborted: //nolint:errorlint // the loop's own, never wrapped
		return retry.ErrAborted
	case r.ctx.Err() != nil:
		return retry.ErrCanceled
	default:
		return retry.ErrNotRetryable
	}
}
