//go:build !race

package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// The race detector of Go 1.26 itself crashes where so many timers of a bubble fire at one instant.
func TestLossOfTheStoreIsOneEventAMinuteForTheWholeFleet(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		err    error
		joined bool // the members have slots when they lose the store
		kinds  string
	}{
		"never joined":             {err: gone, kinds: "lost lost back"},
		"never joined, rejected":   {err: fmt.Errorf("NOPERM: %w", fleet.ErrRejected), kinds: "rejected rejected back"},
		"never joined, timeouts":   {err: context.DeadlineExceeded, kinds: "lost lost back"},
		"with a limit":             {err: gone, joined: true, kinds: "lost lost back"},
		"with a limit and refused": {err: fmt.Errorf("NOPERM: %w", fleet.ErrRejected), joined: true, kinds: "rejected rejected back"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen journal
				away := false
				store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
					switch {
					case away:
						return fleet.Reply{}, c.err
					case c.joined:
						return fleet.Reply{Epoch: 2, Rate: 100, Slots: 1, State: "-"}, nil
					}
					return fleet.Reply{}, nil
				}}
				f := newFleet(t, fleet.Config{Store: store, Observer: seen.Observe})
				var members []adaptive.Limiter
				for i := range 100 {
					members = append(members, f.NewLimiter(retry.ScopeKey{Scope: strconv.Itoa(i)}, clock.System{}))
				}
				if c.joined {
					for _, l := range members {
						send(t, l, false)
					}
					require.Equal(t, strings.TrimSpace(strings.Repeat("limited ", 100)), seen.Kinds())
					seen.events = nil
				}
				synctest.Wait()
				away = true
				var all sync.WaitGroup
				for _, l := range members {
					all.Go(func() {
						for began := now(); now().Sub(began) < 90*time.Second; {
							send(t, l, false)
							pass(t, 3*time.Second)
						}
					})
				}
				all.Wait()
				synctest.Wait()
				away = false
				pass(t, 3*time.Second)
				for _, l := range members {
					all.Go(func() { send(t, l, false) })
				}
				all.Wait()
				pass(t, 3*time.Second)
				require.Equal(t, c.kinds, seen.Kinds())
				first, second := seen.events[0], seen.events[1]
				require.GreaterOrEqual(t, second.Time.Sub(first.Time), time.Minute)
				require.Positive(t, first.Failing)
				require.Equal(t, []int{100, 0}, []int{second.Failing, seen.events[2].Failing})
				require.ErrorIs(t, second.Err, c.err)
				require.Equal(t, c.joined, second.FleetRate > 0, "one that never joined holds no rate of the fleet")
			})
		})
	}
}
