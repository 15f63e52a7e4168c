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
	// Seed is what the pauses of the workers come of.
	Seed uint64
	// Began is told of each call that begins, and Ended of each that has ended, by the task of
	// the call. Began may be nil.
	Began func(at time.Duration)
	Ended func(call *Call)

	workers int
}

// Work starts so many workers of a client. The time from one call of a worker to its next is from
// half a pause to one and a half, so that workers do not fall into step: else a bucket would serve
// the same ones again and again. If a call takes longer, the next one begins with its end.
func (l *Load) Work(ctx context.Context, w World, c Client, workers int, pause time.Duration) {
	for range workers {
		worker := l.workers
		l.workers++
		w.Go(func() { l.work(ctx, w, c, worker, pause) })
	}
}

func (l *Load) work(ctx context.Context, w World, c Client, worker int, pause time.Duration) {
	random := rand.New(rand.NewPCG(uint64(worker)<<8|5, l.Seed))
	interval := func(least float64) time.Duration { return time.Duration((least + random.Float64()) * float64(pause)) }
	// The workers begin within a pause, each at an instant of its own.
	next := l.Start.Add(time.Duration(worker+1)*100_003 + interval(0))
	for w.Sleep(ctx, next.Sub(w.Now())) == nil {
		l.call(ctx, w, c, worker)
		if next = next.Add(interval(0.5)); next.Before(w.Now()) {
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
