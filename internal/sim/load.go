package sim

import (
	"context"
	"math/rand/v2"
	"time"
)

// Client makes calls and retries them.
type Client interface {
	// Do is one call on a table. It makes attempts as it wants, one at a time.
	Do(ctx context.Context, table string, attempt func(ctx context.Context) error) error
}

// Call is what became of one call. Times count from the start of the run.
type Call struct {
	Worker       int // that made it, of all clients; without workers the client
	Began, Ended time.Duration
	Attempts     []Attempt
	Err          error
}

// Attempt is one attempt of a call.
type Attempt struct {
	// Sent is when the service took it up, and Ended when the answer came.
	Sent, Ended time.Duration
	// SendWait is the part of the wait before it that was for a send token.
	SendWait  time.Duration
	Throttled bool
	Err       error
}

// Waited is how long the call waited before, between and after its attempts.
func (c *Call) Waited() time.Duration {
	waited := c.Ended - c.Began
	for _, a := range c.Attempts {
		waited -= a.Ended - a.Sent
	}
	return waited
}

// Throttled is how many of the attempts were throttled.
func (c *Call) Throttled() int {
	n := 0
	for _, a := range c.Attempts {
		if a.Throttled {
			n++
		}
	}
	return n
}

// Load is what clients do: calls of one table of a service.
type Load struct {
	Service *Service
	Table   string
	Start   time.Time
	// Apart is the time from the first call of a worker to that of the next one.
	Apart time.Duration
	// Began is told of each call that begins, and Ended of each that has ended, by the task of
	// the call. Began may be nil.
	Began func(at time.Duration)
	Ended func(call *Call)

	workers int
}

// Work starts so many workers of a client, with a pause from one call to the next. No worker begins
// with the run or with another one, so that no two events fall on the same instant.
func (l *Load) Work(ctx context.Context, w World, c Client, workers int, pause time.Duration) {
	for range workers {
		worker := l.workers
		l.workers++
		w.Go(func() { l.work(ctx, w, c, worker, pause) })
	}
}

// work makes a call each pause, or as soon as the last one has ended.
func (l *Load) work(ctx context.Context, w World, c Client, worker int, pause time.Duration) {
	next := l.Start.Add(time.Duration(worker)*l.Apart + time.Duration(worker+1)*100_003)
	for w.Sleep(ctx, next.Sub(w.Now())) == nil {
		l.call(ctx, w, c, worker)
		if next = next.Add(pause); next.Before(w.Now()) {
			next = w.Now()
		}
	}
}

// Open starts a task that begins calls of a client at random instants, so many a second on
// average, whatever became of those before.
func (l *Load) Open(ctx context.Context, w World, c Client, rate float64, random *rand.Rand) {
	client := l.workers
	l.workers++
	w.Go(func() {
		for w.Sleep(ctx, max(time.Duration(random.ExpFloat64()/rate*float64(time.Second)), 1)) == nil {
			w.Go(func() { l.call(ctx, w, c, client) })
		}
	})
}

// call makes one call.
func (l *Load) call(ctx context.Context, w World, c Client, worker int) {
	if l.Began != nil {
		l.Began(w.Now().Sub(l.Start))
	}
	l.Ended(record(ctx, w, l.Start, c, worker, l.Table, func(ctx context.Context) (at time.Time, throttled bool, err error) {
		at, err = l.Service.Call(ctx, w)
		return at, err == l.Service.Throttled, err //nolint:errorlint // the service's own
	}))
}

// record makes a call and notes what becomes of it, in time since start. attempt returns when the
// service took it up.
func record(ctx context.Context, w World, start time.Time, c Client, worker int, table string,
	attempt func(ctx context.Context) (at time.Time, throttled bool, err error),
) *Call {
	call := &Call{Worker: worker, Began: w.Now().Sub(start)}
	notes := new(noted)
	call.Err = c.Do(context.WithValue(ctx, callKey{}, notes), table, func(ctx context.Context) error {
		at, throttled, err := attempt(ctx)
		call.Attempts = append(call.Attempts, Attempt{
			Sent: at.Sub(start), Ended: w.Now().Sub(start), SendWait: notes.sendWait, Throttled: throttled, Err: err,
		})
		notes.sendWait = 0
		return err
	})
	call.Ended = w.Now().Sub(start)
	return call
}

type callKey struct{}

// noted is what an observer has noted of the next attempt of a call.
type noted struct{ sendWait time.Duration }

// notedOf returns the notes of the call that has this context, or nil.
func notedOf(ctx context.Context) *noted {
	n, _ := ctx.Value(callKey{}).(*noted)
	return n
}
