package fleet_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
)

// answers is a store with the given replies, the last of which repeats.
func answers(all ...fleet.Reply) *replies {
	return &replies{call: func(_ context.Context, n int, _ fleet.Ask) (fleet.Reply, error) {
		return all[min(n, len(all))-1], nil
	}}
}

func TestRandomIsCalledWithoutALock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f *fleet.Fleet
		f = newFleet(t, fleet.Config{Store: stuck{}, Random: func() float64 {
			return float64(len(f.Snapshot())) / 2
		}})
		send(t, f.NewLimiter(orders, nil), false)
	})
}

// broken is an error that cannot be compared.
type broken struct{ err *error }

func (*broken) Error() string     { return "broken" }
func (b *broken) Is(e error) bool { return errors.Is(*b.err, e) }

func TestErrorOfTheStoreThatPanicsReachesNoCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var none *broken
		store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) { return fleet.Reply{}, none }}
		f := newFleet(t, fleet.Config{Store: store})
		send(t, f.NewLimiter(orders, nil), false)
		require.Equal(t, uint64(1), f.Snapshot()[0].Failures)
	})
}
