package fleet_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// answers is a store with the given replies, the last of which repeats.
func answers(all ...fleet.Reply) *replies {
	return &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
		return all[min(n, len(all))-1], nil
	}}
}

func TestCeilingBelowTheLeastRateHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleet.Config{Store: &fleet.Memory{}, Limit: func(retry.ScopeKey) adaptive.SendLimit {
			return adaptive.SendLimit{Ceiling: 0.001}
		}})
		l := f.NewLimiter(orders, nil)
		began := now()
		for range 5 {
			send(t, l, false)
		}
		require.Greater(t, now().Sub(began), time.Minute)
	})
}
