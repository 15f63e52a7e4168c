package retry

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/internal/wire"
)

// LimitAttempt returns a context for one attempt of op that ends after the time that t allows, and the
// limit that ends it. Use it in your own client if answers come in two parts: lift the limit when the
// first part arrives, and read the second with the same context. The number of the attempt is that of
// [AttemptFrom]. The time is that of the strategy's clock, and there is no goroutine. Set MaxAttempts
// of op to 1 if the attempt cannot be made again. With a [LearnedTimeout] the attempt is ended only if the
// loop that ctx belongs to retries it, and s decides about that. A strategy of your own around one of this module may refuse
// the retry, so then the attempt goes on.
//
// body is the size of the request body in bytes: zero without one, negative if it is not known. What was
// read of it waits in the kernel, where its progress cannot be seen. So a body above 64 KiB adds its size
// at 128 KiB a second to the time, and with one of unknown size there is no limit. [AttemptLimit.Progress]
// helps those that are sent more slowly.
//
// The limit is nil if there is none; its methods work on nil. Otherwise you must call Release. The error
// is that of [TimeoutOf].
func LimitAttempt(
	ctx context.Context, s Strategy, op Operation, t AttemptTimeout, body int64,
) (context.Context, *AttemptLimit, error) {
	t, err := TimeoutOf(t, op)
	if t == nil || err != nil || body < 0 {
		return ctx, nil, err
	}
	attempt, _ := AttemptFrom(ctx)
	l := &AttemptLimit{caller: ctx, clock: clockOf(s)}
	l.moved = l.clock.Now()
	sending := sendTime(body)
	switch t := t.(type) {
	case FixedTimeout:
		l.after = later(t.of(attempt.Number), sending)
	case *LearnedTimeout:
		l.scope, l.teaches = t.scope(&op, l.moved), sending == 0
		l.after, l.ceiling = later(t.of(l.scope, attempt.Number, l.moved), sending), later(t.slower.Ceiling, sending)
		l.attempt = refFrom(ctx)
		_, present := l.attempt.MaxAttempts()
		if !present || !l.attempt.Owner().Decides(s) || op.MaxAttempts > 0 && attempt.Number >= op.MaxAttempts {
			l.after = l.ceiling
		}
	}
	l.alive, l.cancel = context.WithCancelCause(ctx)
	l.mu.Lock() // so that the timer is not due before it is set
	defer l.mu.Unlock()
	l.timer = l.clock.AfterFunc(l.after, l.expire)
	return l.alive, l, nil
}

// sendTime returns what a request body of that many bytes adds to a timeout.
func sendTime(body int64) time.Duration {
	const small, perSecond = 64 << 10, 128 << 10
	if body <= small {
		return 0
	}
	return time.Duration(min(float64(body)/perSecond*float64(time.Second), math.MaxInt64/2))
}

// later returns the sum of two durations, or the longest Duration.
func later(d, more time.Duration) time.Duration {
	return d + min(more, math.MaxInt64-d)
}

// AttemptLimit ends the context of an attempt when its time is up. [LimitAttempt] makes one. It is safe
// for concurrent use.
type AttemptLimit struct {
	caller, alive context.Context //nolint:containedctx // Late compares how they ended
	cancel        context.CancelCauseFunc
	clock         clock.Clock
	scope         *learnedScope // nil if nothing is learned
	teaches       bool          // whether the scope learns from the attempt
	ceiling       time.Duration // of what is learned
	attempt       token.Ref     // where something is learned

	mu     sync.Mutex // guards all below; taken before the clock's lock
	timer  clock.Timer
	after  time.Duration
	moved  time.Time // the start, or the last Progress
	over   bool      // the attempt is over its learned timeout, and goes on until the ceiling
	lifted bool
	late   bool // the limit has ended the context
}

// expire ends the context, unless the attempt has made progress or may go on until the ceiling.
func (l *AttemptLimit) expire() {
	now, after, due := l.due()
	switch {
	case !due:
	case after >= l.ceiling:
		l.end(after)
	default:
		l.goOn() // first, because code of the program is asked, which may not return
		l.scope.end(now, after, func() bool { return l.endWithRetry(after) })
	}
}

// due returns how long the attempt could take. It reports false if the time is not up.
func (l *AttemptLimit) due() (now time.Time, after time.Duration, due bool) {
	now = l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lifted || l.late {
		return now, 0, false
	}
	if now.Before(l.moved) { // the clock has gone back
		l.moved = now
	}
	if left := l.after - now.Sub(l.moved); left > 0 {
		l.timer.Reset(left)
		return now, 0, false
	}
	return now, l.after, true
}

// slack is how many times as long as its timeout an attempt may have taken, and still find the time in the
// next attempt.
const slack = 4

// endWithRetry ends the attempt if it gets what the retry needs. It holds no lock, because classifiers and
// limiters of the user are asked.
func (l *AttemptLimit) endWithRetry(after time.Duration) bool {
	needed := l.ceiling
	if after < needed/slack {
		needed = slack * after
	}
	late := &AttemptTimeoutError{After: after, Err: context.DeadlineExceeded}
	return l.attempt.Owner().Reserve(l.attempt, late, needed, func() bool { return l.end(after) })
}

// end ends the context of an attempt that could take so long, unless it has ended or the limit was lifted.
func (l *AttemptLimit) end(after time.Duration) bool {
	l.mu.Lock()
	ended := !l.lifted && !l.late
	if ended {
		l.late, l.after = true, after
		l.timer.Stop()
	}
	l.mu.Unlock()
	if ended {
		l.cancel(context.DeadlineExceeded)
	}
	return ended
}

// goOn gives the attempt time until the ceiling.
func (l *AttemptLimit) goOn() {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lifted {
		return
	}
	l.over, l.after = true, l.ceiling
	l.timer.Reset(l.ceiling - now.Sub(l.moved))
}

// Progress restarts the time of the attempt, because it has made progress, such as sending a
// part of its body.
func (l *AttemptLimit) Progress() {
	if l == nil {
		return
	}
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.moved) {
		l.moved = now
	}
}

// Lift lifts the limit once the answer is there, and reports whether it came in time. If succeeded is
// true, a [LearnedTimeout] learns from the attempt. Only the first call counts.
func (l *AttemptLimit) Lift(succeeded bool) (inTime bool) {
	if l == nil {
		return true
	}
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lifted || l.late {
		return !l.late
	}
	l.lifted = true
	l.timer.Stop()
	if succeeded && l.scope != nil && l.teaches {
		l.scope.took(now, now.Sub(l.moved), l.over)
	}
	return true
}

// Release lifts the limit and ends the context.
func (l *AttemptLimit) Release() {
	if l == nil {
		return
	}
	l.Lift(false)
	l.cancel(nil)
}

// Late returns err, the error of the attempt, as an [*AttemptTimeoutError] if the limit has ended the
// attempt. It returns nil if the caller ended it, or if err is the answer of the service.
func (l *AttemptLimit) Late(err error) error {
	if l == nil || !endedByTimer(l.caller, l.alive, err) {
		return nil
	}
	return &AttemptTimeoutError{After: l.Allowed(), Err: err}
}

// Allowed returns how long the attempt may currently take; zero if it has no limit.
func (l *AttemptLimit) Allowed() time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.after
}

// endedByTimer reports whether the timer of the attempt, and not the caller, ended it. An error that
// is not about a context is the answer of the service, however late.
func endedByTimer(caller, attempt context.Context, err error) bool {
	about := wire.Is(err, context.DeadlineExceeded) || wire.Is(err, context.Canceled)
	if !about || context.Cause(attempt) != context.DeadlineExceeded { //nolint:errorlint // the cause itself
		return false
	}
	// If the caller had no more time either, the caller's end counts: its deadline, or the timer of
	// an attempt around this one.
	return !wire.Is(caller.Err(), context.DeadlineExceeded) && !wire.Is(context.Cause(caller), context.DeadlineExceeded)
}

// attemptTimer ends an attempt of Do in time. A fixed timeout is a deadline of the context, which the
// function may pass on.
type attemptTimer struct {
	after  time.Duration
	cancel context.CancelFunc
	limit  *AttemptLimit
}

// startTimer returns the context of an attempt and what ends it.
func (l *loop) startTimer(attempt context.Context, op Operation) (context.Context, attemptTimer, error) {
	if fixed, ok := l.timeout.(FixedTimeout); ok {
		after := fixed.of(l.attempts)
		ctx, cancel := clock.WithTimeout(attempt, l.readings.Clock(), after)
		return ctx, attemptTimer{after: after, cancel: cancel}, nil
	}
	if l.judged {
		op.MaxAttempts = 1 // as far as the timer knows
	}
	ctx, limit, err := LimitAttempt(attempt, l.strategy, op, l.timeout, 0)
	return ctx, attemptTimer{limit: limit}, err
}

// stop stops the timer, and returns the error of the attempt.
func (t attemptTimer) stop(caller, attempt context.Context, err error) error {
	after := t.after
	switch {
	case t.limit != nil:
		t.limit.Lift(err == nil)
		after = t.limit.Allowed()
	case t.cancel == nil:
		return err
	}
	return timedOut(caller, attempt, after, err)
}

// release ends the context.
func (t attemptTimer) release() {
	t.limit.Release()
	if t.cancel != nil {
		t.cancel()
	}
}
