//go:build servers

package servers

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet/internal/redistest"
)

// After a time in which the service throttles everything, the fleet is back at 0.9 of the limit
// within seconds.
func TestFleetComesBackFromABrownOut(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	w := beginWith(t, 40, 1, redis.UniversalOptions{Addrs: []string{server.Addr}}, true, "orders")
	w.warm(t)
	w.atTheLimit(t, 60)

	w.services[0].set(true)
	rest(t, 10*time.Second)
	w.services[0].set(false)

	t.Logf("0.9 of the limit %d s after a brown-out of 10 s", w.atTheLimit(t, 15))
}

// atTheLimit waits until 0.9 of the limit was served for five seconds with at most 5 % throttled,
// and returns how many seconds before that were different. It fails if there are more than within.
func (w *world) atTheLimit(t *testing.T, within int) int {
	t.Helper()
	const span = 5
	good, throttled := make([]int, within+span+1), make([]int, within+span+1)
	good[0], throttled[0] = w.services[0].counts()
	for i := 1; i < len(good); i++ {
		rest(t, time.Second)
		good[i], throttled[i] = w.services[0].counts()
		if i < span {
			continue
		}
		passed, cut := good[i]-good[i-span], throttled[i]-throttled[i-span]
		if float64(passed) >= 0.9*span*served && float64(cut) <= 0.05*float64(passed+cut) {
			return i - span
		}
	}
	require.Fail(t, "the fleet is not at the limit", "served %v, throttled %v", good, throttled)
	return 0
}
