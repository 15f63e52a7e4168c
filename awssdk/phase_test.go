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
		sent:    {begun: sent, succeeded: over, failing: failed, ended: over, forbidden: refused},
		failed:  {begun: sent, again: granted, rests: resting, ended: over, forbidden: refused},
		granted: {begun: sent, admitted: sent, ended: over, forbidden: refused},
		resting: {begun: sent, ended: over, forbidden: refused},
		over:    {begun: sent},
		refused: {},
	}
	for from := idle; from <= refused; from++ {
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
