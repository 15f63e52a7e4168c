package sim

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// newLimiter returns the limiter of a process that has a fleet of its own, and what ends it.
func newLimiter(t *testing.T, s fleet.Store, namespace string, starting float64, seed uint64) (limiter adaptive.Limiter, end func()) {
	t.Helper()
	limit := func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: ratelimit.Rate(starting)} }
	shared, err := fleet.New(fleet.Config{Store: s, Namespace: namespace, Limit: limit, Random: seeded(seed)})
	require.NoError(t, err)
	return shared.NewLimiter(retry.ScopeKey{Resource: "table"}, clock.System{}), shared.Close
}

// seeded returns a source of numbers from 0 to 1 for several goroutines.
func seeded(seed uint64) func() float64 {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(2, seed))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Float64()
	}
}
