package fleet_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestSnapshotHasTheMembersInUse(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleet.Config{})
	kept := f.NewLimiter(orders, nil)
	require.Empty(t, f.Snapshot(), "not used yet")
	for i := range 20 {
		f.NewLimiter(retry.ScopeKey{Scope: fmt.Sprintf("job %02d", i)}, nil).Report(ratelimit.Response{})
	}
	kept.Report(ratelimit.Response{})
	names := func() (names []string) {
		for _, s := range f.Snapshot() {
			names = append(names, s.Scope)
		}
		return names
	}
	require.IsIncreasing(t, names()[1:])
	require.Equal(t, orders.String(), names()[0])
	require.Eventually(t, func() bool { // evicted scopes leave
		runtime.GC()
		return len(f.Snapshot()) < 10
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, orders.String(), names()[0])
	runtime.KeepAlive(kept)
}
