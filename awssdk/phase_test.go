package awssdk

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPhasesOfACall has each move of a call. Any other event changes nothing.
func TestPhasesOfACall(t *testing.T) {
	t.Parallel()
	moves := map[phase]map[event]phase{
		idle:    {begun: sent},
		sent:    {begun: sent, succeeded: over, failing: failed, ended: over, forbidden: barred},
		failed:  {begun: sent, again: granted, rests: resting, ended: over, forbidden: barred},
		granted: {begun: sent, admitted: sent, ended: over, forbidden: barred},
		resting: {begun: sent, ended: over, forbidden: barred},
		over:    {begun: sent},
		barred:  {},
	}
	for from := idle; from <= barred; from++ {
		for e := begun; e <= forbidden; e++ {
			want, ok := moves[from][e]
			if !ok {
				want = from
			}
			next, moved := from.after(e)
			require.Equal(t, want, next, "%d, %d", from, e)
			require.Equal(t, ok, moved, "%d, %d", from, e)
		}
	}
}
