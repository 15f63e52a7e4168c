//go:build race || servers

package servers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/internal/redistest"
)

func TestFleetGoesOnWhileItsStoreRestartsEmpty(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	w := begin(t, at(server), false, "orders")
	w.warm(t)
	w.sane(t, "before", 2*time.Second)
	epoch := w.epoch(0)

	server.Kill(t)
	w.sane(t, "during", 3*time.Second)
	server.Run(t)
	rest(t, 2500*time.Millisecond) // members ask again after 2.4 s at the latest
	w.settled(t, 0, fleet.Slots)
	w.sane(t, "after", 2*time.Second)

	w.requireEvents(t, 0, fleet.Lost, fleet.Back)
	require.GreaterOrEqual(t, w.epoch(0), epoch, "what was learned is not lost")
}
