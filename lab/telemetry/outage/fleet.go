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

// Between these two no process of the fleet reaches the store.
const (
	storeGone = 75 * time.Minute
	storeBack = 85 * time.Minute
)

// members returns the strategies of three processes that share their send rates. The first process
// is the program, and the events of the others are theirs. Members share through the store alone, so
// that one Fleet does for the three processes.
func (p *program) members(observer retry.Observer) ([]retry.Strategy, error) {
	shared, err := fleet.New(fleet.Config{
		Store: &unsteady{program: p, Store: &fleet.Memory{Clock: p.clk}}, Namespace: "outage", Random: p.float,
	})
	if err != nil {
		return nil, err
	}
	var members []retry.Strategy
	for _, o := range []retry.Observer{observer, nil, nil} {
		member, err := adaptive.New(shared.Config(adaptive.Config{
			Standard: standard.Config{Clock: p.clk, Observer: o, Random: p.float},
		}))
		if err != nil {
			return nil, err
		}
		members = append(members, member)
	}
	return members, nil
}

// unsteady is a store that is gone for a while.
type unsteady struct {
	*program
	fleet.Store
}

// Call is called in the goroutine of the clock, as all timers are, so it must not wait.
func (u *unsteady) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	if now := u.now(); now >= storeGone && now < storeBack {
		return fleet.Reply{}, errors.New("the store refuses the connection")
	}
	return u.Store.Call(ctx, key, ask)
}
