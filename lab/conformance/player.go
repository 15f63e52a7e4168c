package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// runaway is how many attempts an operation may make after its caller has given up before it is
// ended by force.
const runaway = 100

// stage plays operations of one retryer in a bubble.
type stage struct{ do Do }

// open is an operation that waits for the answer of an attempt.
type open struct {
	arrived chan time.Time
	answers chan answer
	expired chan struct{} // an attempt has ended without its answer
	ended   chan error
	cancel  context.CancelFunc
	// late counts the attempts after the caller gave up.
	late atomic.Int32
}

// began returns the operation that a new call of Do makes.
func (s stage) began(ctx context.Context) *open {
	ctx, cancel := context.WithCancel(ctx)
	o := &open{
		arrived: make(chan time.Time, 1), answers: make(chan answer), expired: make(chan struct{}, 1),
		ended: make(chan error, 1), cancel: cancel,
	}
	go func() {
		err := errDied
		defer func() {
			if p := recover(); p != nil {
				err = fault{fmt.Sprintf("Do panicked: %v", p)}
			}
			cancel()
			o.ended <- err
		}()
		err = s.do(ctx, func(attempt context.Context) error {
			if attempt == nil {
				panic("it called attempt with a nil context")
			}
			if ctx.Err() != nil {
				if o.late.Add(1) > runaway {
					runtime.Goexit()
				}
				return ctx.Err()
			}
			o.arrived <- time.Now()
			select {
			case a := <-o.answers:
				if a.last {
					cancel()
				}
				return a.err()
			case <-attempt.Done():
				o.expired <- struct{}{}
				return attempt.Err()
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return o
}

// tooLong is longer than any case.
const tooLong = 30 * 24 * time.Hour

var errTooLong = errors.New("neither an attempt nor an end for 30 days")

// fault is something that a retryer must not do, or that the suite cannot play. It is a panic that
// ends the case.
type fault struct{ text string }

func (f fault) Error() string { return f.text }

// errDied is the error of an operation that ended its goroutine.
var errDied = errors.New("the operation did not return")

// next waits until the operation makes an attempt or ends. It returns the time of that.
func (o *open) next() (at time.Time, ended bool, err error) {
	select {
	case at = <-o.arrived: // before the end, if the caller has given up since
		return at, false, nil
	default:
	}
	select {
	case at = <-o.arrived:
		return at, false, nil
	case err = <-o.ended:
		o.ended <- err
		if f, ok := errors.AsType[fault](err); ok {
			panic(f)
		}
		return time.Now(), true, err
	case <-time.After(tooLong):
		return time.Now(), true, errTooLong
	}
}

// answer lets the attempt end.
func (o *open) answer(a answer) {
	select {
	case o.answers <- a:
	case <-o.expired:
		panic(errExpired)
	}
}

// errExpired is not the fault of a retryer, but its cases cannot be played.
var errExpired = fault{"an attempt ended before its answer, which can take an hour: the attempts need no limit of time"}

// drop ends an operation that no answer is left for.
func (o *open) drop() {
	o.cancel()
	select {
	case <-o.ended: //nolint:errcheck // its caller has gone
	case <-time.After(tooLong):
		panic(fault{"Do did not return for 30 days after its context had ended"})
	}
}

// play runs one operation with these answers. It returns the number of attempts; one more than there
// are answers means any larger number.
func (s stage) play(ctx context.Context, answers ...answer) (attempts int) {
	o := s.began(ctx)
	defer o.drop()
	for {
		_, ended, _ := o.next()
		if ended {
			return attempts
		}
		if attempts++; attempts > len(answers) {
			return attempts
		}
		o.answer(answers[attempts-1])
	}
}

// granted reports whether the quota grants a retry after a throttle, which takes its five tokens. The
// operation has these answers, as in readQuota.
func (s stage) granted(ctx context.Context, answers ...answer) bool {
	if len(answers) == 0 {
		answers = []answer{throttle(), final()}
	}
	return s.play(ctx, answers...) > 1
}

// drain lowers the tokens of the quota.
func (s stage) drain(ctx context.Context, from, to int) {
	for ; from > to; from -= throttleCost {
		if !s.granted(ctx) {
			return
		}
	}
	for ; from < to; from++ {
		s.play(ctx, success())
	}
}

// throttleCost is how many tokens a retry after a throttle costs in both generations.
const throttleCost = 5

// reading is what the suite has found out about a quota.
type reading struct {
	retries int  // that the quota has granted after throttles
	earned  int  // successes until it granted one more; 0 if that did not help
	endless bool // it never refused
}

// readQuota empties the quota and counts. Until the first refusal the operations get these answers, by
// default a throttle and a final error.
func (s stage) readQuota(ctx context.Context, capacity int, answers ...answer) (r reading) {
	for s.granted(ctx, answers...) {
		if r.retries++; r.retries > capacity/throttleCost {
			r.endless = true
			return r
		}
	}
	for i := range throttleCost {
		s.play(ctx, success())
		if s.granted(ctx) {
			r.earned = i + 1
			return r
		}
	}
	return r
}

// tokens returns the lowest and the highest number of tokens that the quota may have had.
func (r reading) tokens() (least, most int) {
	least = throttleCost * r.retries
	if r.earned > 0 {
		least += throttleCost - r.earned
		return least, least
	}
	return least, least + throttleCost - 1
}

// is reports whether the quota may have had this many tokens.
func (r reading) is(tokens int) bool {
	least, most := r.tokens()
	return !r.endless && least <= tokens && tokens <= most
}

// String says what was found.
func (r reading) String() string {
	least, most := r.tokens()
	switch {
	case r.endless:
		return fmt.Sprintf("no end of the quota: %d retries after the case were granted", r.retries)
	case least < most:
		return fmt.Sprintf("%d to %d tokens left: after the case, %d retries of 5 tokens were granted", least, most, r.retries)
	default:
		return fmt.Sprintf("%d tokens left: after the case, %d retries of 5 tokens were granted, and one more after %s",
			least, r.retries, number(r.earned, "success"))
	}
}

func number(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ses", n, of)
}

// bubble calls play in its own bubble, at a whole second of its clock. It returns the fault that
// ended the case.
func bubble(t *testing.T, play func(ctx context.Context)) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil && err == nil {
			err = fault{fmt.Sprintf("Do, or a goroutine that it has started, did not end: %v", p)}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		defer func() {
			cancel()
			switch p := recover().(type) {
			case nil:
			case fault:
				err = p
			default:
				err = fault{fmt.Sprintf("New panicked: %v", p)}
			}
		}()
		play(ctx)
	})
	return err
}
