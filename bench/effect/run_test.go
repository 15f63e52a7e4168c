package effect

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/bench/internal/cputime"
	"github.com/awsretry/awsretry/clock"
)

// operation is what became of one operation. Times count from the start of the run.
type operation struct {
	worker       int // of all clients
	began, ended time.Duration
	first, last  time.Duration // when the service took up its first and its last attempt
	attempts     int
	throttled    int
	err          error
}

// record is a whole run.
type record struct {
	scenario   scenario
	operations []operation
	wakeUps    int64
	delayed    int64
	sent       int
	cpu        time.Duration
}

// play runs a scenario with a contender. Ours and the service do the same in every
// run with the same seed.
func play(t *testing.T, s scenario, c contender, seed uint64) record {
	t.Helper()
	c.setEnv(t)
	r := record{scenario: s}
	synctest.Test(t, func(t *testing.T) {
		svc := newService(s.rate, s.burst, seed)
		svc.queues, svc.failures = c.queues, s.failures
		before := cputime.Spent()
		l := &load{service: svc, start: time.Now(), table: "table", pause: s.pause()}
		ctx, stop := context.WithCancel(t.Context())
		var w waits
		for i := range s.clients {
			l.run(ctx, c.make(t, &w, seed+uint64(i)), s.workers)
		}
		for _, change := range s.changes {
			l.passUntil(ctx, change.at)
			svc.change(change.rate, change.failing)
		}
		l.passUntil(ctx, s.measured.to)
		r.wakeUps, r.delayed = w.wakeUps.Load(), w.delayed.Load()
		r.cpu = cputime.Spent() - before
		stop()
		l.wg.Wait()
		r.operations = l.operations
	})
	for _, op := range r.operations {
		r.sent += op.attempts
	}
	return r
}

// load is workers that send operations to one table of a service.
type load struct {
	service *service
	table   string
	pause   time.Duration
	start   time.Time
	wg      sync.WaitGroup
	workers int

	mu         sync.Mutex
	operations []operation // guarded by mu
}

// run starts so many workers of a client. They begin one after the other, and none
// with the run, so that no two events fall on the same instant.
func (l *load) run(ctx context.Context, c client, workers int) {
	for range workers {
		worker := l.workers
		l.workers++
		l.wg.Go(func() { l.work(ctx, c, worker) })
	}
}

// work sends an operation each pause, or as soon as the last one has ended.
func (l *load) work(ctx context.Context, c client, worker int) {
	next := l.start.Add(time.Duration(worker+1) * 100_003)
	for pass(ctx, time.Until(next)) == nil {
		l.keep(l.one(ctx, c, worker))
		if next = next.Add(l.pause); next.Before(time.Now()) {
			next = time.Now()
		}
	}
}

// one is one operation.
func (l *load) one(ctx context.Context, c client, worker int) operation {
	op := operation{worker: worker, began: time.Since(l.start)}
	op.err = c.do(ctx, l.table, func(ctx context.Context) error {
		at, err := l.service.call(ctx)
		op.last = at.Sub(l.start)
		if op.attempts++; op.attempts == 1 {
			op.first = op.last
		}
		if err == errThrottle { //nolint:errorlint // the service's own
			op.throttled++
		}
		return err
	})
	op.ended = time.Since(l.start)
	return op
}

func (l *load) keep(op operation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.operations = append(l.operations, op)
}

// passUntil lets time pass up to an instant of the run.
func (l *load) passUntil(ctx context.Context, at time.Duration) {
	_ = pass(ctx, at-time.Since(l.start))
}

func pass(ctx context.Context, d time.Duration) error { return clock.System{}.Sleep(ctx, d) }
