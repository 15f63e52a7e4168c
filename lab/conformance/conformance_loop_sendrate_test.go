package conformance_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// sendRate is the send rate of a loop in adaptive mode. A nil one limits nothing.
type sendRate struct {
	fault fault

	mu      sync.Mutex
	line    []chan struct{} // one for each attempt that waits, which makes it look again
	limited bool

	fill, room, tokens float64
	refilled           time.Time

	measured, count, window float64 // the window in seconds
	cutFrom                 float64
	throttled               time.Time
}

func newSendRate(f fault) *sendRate {
	now := time.Now()
	return &sendRate{fault: f, window: float64(now.Unix()), throttled: now}
}

// acquire waits for the send token of an attempt.
func (r *sendRate) acquire(ctx context.Context, retries int) error {
	if r != nil && retries > 0 && (r.fault == "no send token for retries" || r.fault == "send token before the backoff") {
		return nil
	}
	return r.wait(ctx)
}

func (r *sendRate) wait(ctx context.Context) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.limited {
		return nil
	}
	look := make(chan struct{}, 1)
	if r.fault == "the last comes first" {
		r.line = slices.Insert(r.line, 0, look)
	} else {
		r.line = append(r.line, look)
	}
	for ctx.Err() == nil {
		wait := time.Hour
		if r.line[0] == look {
			r.refill()
			if r.tokens >= 1-1e-9 {
				r.tokens = max(0, r.tokens-1)
				r.leave(look)
				return nil
			}
			wait = time.Duration(math.Ceil((1 - r.tokens) / r.fill * float64(time.Second)))
		}
		r.mu.Unlock()
		sleepOr(ctx, wait, look)
		r.mu.Lock()
	}
	if r.fault == "a caller that left takes a token" {
		r.refill()
		r.tokens = max(0, r.tokens-1)
	}
	if r.fault != "a caller that left keeps its place" {
		r.leave(look)
	}
	return ctx.Err()
}

// sleepOr waits until ctx ends or look has something.
func sleepOr(ctx context.Context, d time.Duration, look <-chan struct{}) {
	timer, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-timer.Done():
	case <-look:
	}
}

func (r *sendRate) leave(look chan struct{}) {
	r.line = slices.DeleteFunc(r.line, func(c chan struct{}) bool { return c == look })
	r.wake()
}

// wake makes the first in line look again.
func (r *sendRate) wake() {
	if len(r.line) > 0 {
		select {
		case r.line[0] <- struct{}{}:
		default:
		}
	}
}

func (r *sendRate) refill() {
	now := time.Now()
	if !r.refilled.IsZero() {
		r.tokens = min(r.room, r.tokens+r.fill*now.Sub(r.refilled).Seconds())
	}
	r.refilled = now
}

// report hears the answer of an attempt.
func (r *sendRate) report(err error, kind classify.Kind, last bool) {
	if r == nil {
		return
	}
	throttle := kind == classify.Throttling || r.fault == "every failure is a throttle" && err != nil
	if throttle && last && r.fault == "throttles of last attempts are not heard" ||
		err != nil && !throttle && r.fault == "failures are not measured" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.measure()
	if throttle && r.limited && r.fault == "one cut only" {
		return
	}
	rate := r.next(throttle)
	if r.fault != "no limit of twice the measured rate" {
		rate = min(rate, 2*r.measured)
	}
	r.refill()
	r.fill, r.room = max(rate, 0.5), max(rate, 1)
	r.tokens = min(r.tokens, r.room)
	r.limited = r.limited || throttle
	if r.fault != "sleeping on at the old rate" {
		r.wake()
	}
}

// measure counts an answer.
func (r *sendRate) measure() {
	width := 0.5
	if r.fault == "windows of a second" {
		width = 1
	}
	r.count++
	if window := math.Floor(float64(time.Now().UnixNano())/1e9/width) * width; window > r.window {
		r.measured = 0.8*r.count/(window-r.window) + 0.2*r.measured
		r.window, r.count = window, 0
	}
}

// next returns the rate after an answer.
func (r *sendRate) next(throttle bool) float64 {
	left := 0.7
	if r.fault == "cut to one half" {
		left = 0.5
	}
	now := time.Now()
	if !throttle {
		return 0.4*math.Pow(now.Sub(r.throttled).Seconds()-math.Cbrt(r.cutFrom*(1-left)/0.4), 3) + r.cutFrom
	}
	r.throttled, r.cutFrom = now, r.measured
	if r.limited {
		r.cutFrom = min(r.measured, r.fill)
	}
	return left * r.cutFrom
}
