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
// at once.
func TestFleetComesBackFromABrownOut(t *testing.T) {
	t.Parallel()
	const length, within, span = 10, 15, 5 // seconds
	server := redistest.Start(t)
	w := beginWith(t, 40, 1, redis.UniversalOptions{Addrs: []string{server.Addr}}, true, "orders")
	w.warm(t)

	w.services[0].set(true)
	rest(t, length*time.Second)
	w.services[0].set(false)

	var good, throttled [within + span + 1]int
	good[0], throttled[0] = w.services[0].counts()
	for i := range within + span {
		rest(t, time.Second)
		good[i+1], throttled[i+1] = w.services[0].counts()
		if i+1 < span {
			continue
		}
		passed, cut := good[i+1]-good[i+1-span], throttled[i+1]-throttled[i+1-span]
		if float64(passed) >= 0.9*span*served && float64(cut) <= 0.05*float64(passed+cut) {
			t.Logf("0.9 of the limit %d s after a brown-out of %d s", i+1-span, length)
			return
		}
	}
	require.Fail(t, "the fleet is not back", "served %v, throttled %v", good, throttled)
}
