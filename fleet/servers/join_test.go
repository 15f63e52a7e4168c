//go:build servers

package servers

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet/internal/redistest"
)

// Without a check of its store a new process has no connection, so that its first answer comes
// after three round trips: at 60 ms that is still within CallTimeout.
func TestMembersThatJoinAreHardlyThrottled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		away    time.Duration
		checked bool
	}{
		"60 ms away":           {away: 60 * time.Millisecond},
		"110 ms away, checked": {away: 110 * time.Millisecond, checked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			p := startProxy(t, server.Addr)
			p.set(func(p *proxy) { p.delay = c.away })
			options := redis.UniversalOptions{Addrs: []string{p.addr}}
			w := beginWith(t, 10, 4, options, true, "orders")
			w.warm(t)

			w.add(t, 50, 4, options, true, c.checked)
			good, throttled := w.services[0].counts()
			rest(t, 2*time.Second)

			after, more := w.services[0].counts()
			share := float64(more-throttled) / float64(after-good+more-throttled)
			t.Logf("%d served, %.1f %% throttled", after-good, 100*share)
			require.LessOrEqual(t, share, 0.15)
		})
	}
}
