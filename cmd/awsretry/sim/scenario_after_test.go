package sim

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What passes from an instant to the instant after some units is these units, however the rate changes.
func TestUnitsPassAtTheRatesOfThePhases(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	rate := func() float64 {
		if random.IntN(4) == 0 {
			return 0
		}
		return 1 + 100*random.Float64()
	}
	unit := func(c *Conditions) time.Duration { return each(c.Offered) }
	forevers := 0
	for range 2000 {
		s := Scenario{Conditions: Conditions{Offered: rate()}}
		at := time.Duration(0)
		for range random.IntN(5) {
			at += time.Duration(random.Int64N(int64(10 * time.Second)))
			s.Phases = append(s.Phases, Phase{at, Conditions{Offered: rate()}})
		}
		from, units := time.Duration(random.Int64N(int64(20*time.Second))), 200*random.Float64()
		to := s.after(from, units, unit)
		if to >= forever {
			require.Less(t, s.Wanted(Window{from, time.Hour}), units+1e-3, "no more units come")
			forevers++
			continue
		}
		require.GreaterOrEqual(t, to, from)
		require.InDelta(t, 0, s.Wanted(Window{from, to})-units, 1e-3)
	}
	require.Greater(t, forevers, 100)
}
