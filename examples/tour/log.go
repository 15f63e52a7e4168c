package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

const readHeaderTimeout = 5 * time.Second

// log prints what happens, a line for each attempt, and counts it. It is for one
// operation at a time.
type log struct {
	out      io.Writer
	strategy retry.Strategy
	start    time.Time

	operations, failed, attempts, retries, throttles int
	backoff, sendWait                                time.Duration
}

const row = "%8s  %-14s %-8v %-30s %-34s %8s %6v  %s\n"

func (l *log) begin(strategy retry.Strategy) {
	l.strategy, l.start = strategy, strategy.Clock().Now()
	fmt.Fprintf(l.out, row, "time", "operation", "attempt", "status", "decision", "delay", "quota", "send rate")
}

// Observe prints an event.
func (l *log) Observe(_ context.Context, e retry.Event) {
	switch e.Kind {
	case retry.AttemptEnded:
		l.attempts++
		if e.Verdict.Kind() == classify.Throttling {
			l.throttles++
		}
		if e.Err == nil {
			l.print(e, "200", "done")
		}
	case retry.RetryScheduled:
		l.retries++
		l.print(e, e.Err.Error(), "retry: "+e.Verdict.Kind().String())
	case retry.RetryRefused:
		l.print(e, e.Err.Error(), "give up: "+strings.TrimPrefix(e.Reason.Error(), "retry: "))
	case retry.SendWaitBegan:
		l.print(e, "", "wait for the send rate")
	case retry.OperationEnded:
		l.operations++
		if e.Reason != nil {
			l.failed++
		}
		l.backoff += e.BackoffWait
		l.sendWait += e.SendWait
	default:
	}
}

func (l *log) print(e retry.Event, status, decision string) {
	state := l.strategy.Snapshot().Scopes[0]
	delay, rate := "", "not limited"
	if e.Delay > 0 {
		delay = e.Delay.Round(time.Millisecond).String()
	}
	if state.Limited {
		rate = fmt.Sprintf("%.2f/s", state.FillRate)
	}
	fmt.Fprintf(l.out, row, since(l.start, e.Time), e.Operation.Name, e.Attempt, status, decision, delay, state.Quota, rate)
}

// operation prints how an operation has ended.
func (l *log) operation(err error) {
	if err != nil {
		fmt.Fprintf(l.out, "%8s  error: %v\n", "", err)
	}
}

func (l *log) summary() {
	state := l.strategy.Snapshot().Scopes[0]
	fmt.Fprintf(l.out, "\n%d operations, %d failed: %d attempts, %d of them retries, %d throttled\n",
		l.operations, l.failed, l.attempts, l.retries, l.throttles)
	fmt.Fprintf(l.out, "%s in all: %v of backoff, %v waiting for the send rate; quota %d of %d\n",
		since(l.start, l.strategy.Clock().Now()), l.backoff.Round(time.Millisecond), l.sendWait.Round(time.Millisecond),
		state.Quota, state.QuotaCapacity)
}

func since(start, end time.Time) string {
	return fmt.Sprintf("%.3fs", end.Sub(start).Seconds())
}
