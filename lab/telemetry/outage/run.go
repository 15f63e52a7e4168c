package outage

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/virtual"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// The phases of a run, as time since its beginning.
const (
	// Begin is when the good hour ends and the outage begins.
	Begin = time.Hour
	// End is when the services recover.
	End = 95 * time.Minute
	// Length is how long a run takes.
	Length = 2 * time.Hour
)

// The adaptive strategy of a run has places for so many scopes, and keeps one that is not used for
// so long.
const (
	maxScopes = 11
	scopeIdle = 4 * time.Minute
)

// Start is when a run begins.
func Start() time.Time { return time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC) }

// Config says what a run reports.
type Config struct {
	// Observer sees the events of the strategies.
	Observer retry.Observer
	// Watch is called once with the strategies, before the first call of the program.
	Watch func(strategies ...retry.Strategy) error
	// Sample is called at the beginning, and whenever Every has passed, with the time since the
	// beginning. The virtual time stands still while Sample runs.
	Sample func(at time.Duration)
	// Every must be above zero.
	Every time.Duration
}

// Run plays the two hours. It takes a few seconds. Its errors are those of Watch and of the
// strategies' configurations.
func Run(c Config) error {
	clk := virtual.New(Start())
	p := &program{clk: clk, random: rand.New(rand.NewPCG(1, 2))}
	base := standard.Config{Clock: clk, Observer: c.Observer, Random: p.float}
	plain, err := standard.New(base)
	if err != nil {
		return err
	}
	batches, err := standard.New(base) // apart from the others, so that it gives nothing to their pool
	if err != nil {
		return err
	}
	base.MaxScopes, base.ScopeIdle = maxScopes, scopeIdle
	paced, err := adaptive.New(adaptive.Config{Standard: base})
	if err != nil {
		return err
	}
	// What the fleet does changes no random number of the rest of the program.
	q := &program{clk: clk, random: rand.New(rand.NewPCG(3, 4))}
	members, err := q.members(c.Observer)
	if err != nil {
		return err
	}
	other := &program{clk: clk, random: rand.New(rand.NewPCG(5, 6))}
	astray, err := other.astray(c.Observer)
	if err != nil {
		return err
	}
	if err := c.Watch(plain, paced, members[0], astray); err != nil {
		return err
	}

	clk.Go(func() { p.sample(c) })
	for _, j := range jobs() {
		for i := range j.callers {
			clk.Go(func() {
				switch {
				case j.fleet:
					q.call(j, members[i%len(members)], i)
				case j.adaptive:
					p.call(j, paced, i)
				default:
					p.call(j, plain, i)
				}
			})
		}
	}
	clk.Go(func() { p.batches(batches) })
	lost := astrayJob()
	for i := range lost.callers {
		clk.Go(func() { other.call(lost, astray, i) })
	}
	clk.Run(time.Time{})
	return nil
}

// program is what the callers of a run share. One of them runs at a time.
type program struct {
	clk    *virtual.Clock
	random *rand.Rand
}

func (p *program) float() float64 { return p.random.Float64() }

// between returns a random duration.
func (p *program) between(low, high time.Duration) time.Duration {
	return low + time.Duration(p.float()*float64(high-low))
}

// now returns the time since the beginning.
func (p *program) now() time.Duration { return p.clk.Now().Sub(Start()) }

func (p *program) sample(c Config) {
	for c.Sample(p.now()); p.now()+c.Every <= Length; c.Sample(p.now()) {
		if err := p.clk.Sleep(context.Background(), c.Every); err != nil {
			return
		}
	}
}

// call is one caller of a job. It calls the service again and again.
func (p *program) call(j *job, strategy retry.Strategy, caller int) {
	ctx := context.Background()
	for wait := j.from + p.between(0, j.pause); p.now()+wait < j.until; wait = p.between(j.pause/2, j.pause*3/2) {
		if err := p.clk.Sleep(ctx, wait); err != nil {
			return
		}
		op := retry.Operation{
			Service: j.service, Region: j.region, Name: j.name, Resource: j.resource(p, caller),
			MaxElapsed: j.maxElapsed,
		}
		ctx, cancel := ctx, context.CancelFunc(func() {})
		if j.timeout > 0 {
			ctx, cancel = p.clk.WithTimeout(ctx, j.timeout)
		}
		// The program goes on after a call that failed.
		_ = retry.DoErr(ctx, strategy, op, func(ctx context.Context) error { return p.attempt(ctx, j) })
		cancel()
	}
}

// attempt is one request: the answer of the service comes a moment after the service has decided.
func (p *program) attempt(ctx context.Context, j *job) error {
	failure := j.decide(p)
	latency := p.between(j.latency/2, j.latency*3/2)
	if err := p.clk.Sleep(ctx, latency); err != nil {
		return err
	}
	if failure == nil {
		return nil
	}
	return failure
}
