//go:build race || servers

package servers

import (
	"testing"
	"time"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/internal/redistest"
)

func TestFleetGoesOnWhileItsStoreRestartsEmpty(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	w := begin(t, at(server), false, "orders")
	w.survives(t, 3*time.Second, func() (mend func()) {
		server.Kill(t)
		return func() { server.Run(t) }
	}, fleet.Lost, fleet.Back)
}
