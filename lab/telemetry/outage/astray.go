package outage

import (
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// astrayFrom is when a job begins that may not talk to the store of its fleet. It may from End on.
const astrayFrom = 68 * time.Minute

// forbidden is a store behind a network that lets nothing through before End.
type forbidden struct {
	*program
	fleet.Store
}

// Call is called in the goroutine of the clock, as all timers are, so it must not wait.
func (f *forbidden) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	if f.now() < End {
		return fleet.Reply{}, errors.New("no route to host")
	}
	return f.Store.Call(ctx, key, ask)
}

// astray returns the strategy of that job.
func (p *program) astray(observer retry.Observer) (retry.Strategy, error) {
	shared, err := fleet.New(fleet.Config{
		Store: &forbidden{program: p, Store: &fleet.Memory{Clock: p.clk}}, Namespace: "astray", Random: p.float,
	})
	if err != nil {
		return nil, err
	}
	return adaptive.New(shared.Config(adaptive.Config{
		Standard: standard.Config{Clock: p.clk, Observer: observer, Random: p.float},
	}))
}

func astrayJob() *job {
	return &job{
		service: "firehose", region: "eu-central-1", name: "PutRecord", resource: oneOf("events"),
		callers: 4, pause: 2 * time.Second, latency: 20 * time.Millisecond, from: astrayFrom, until: Length,
	}
}
