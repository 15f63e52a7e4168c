//go:build long

package effect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestSimulatedSDKFaresAsTheSDK holds the modes sdk-standard and sdk-adaptive of `awsretry simulate` against the
// retryers of aws-sdk-go-v2. The jitter of these is random, so the figures are compared, as means of three runs.
func TestSimulatedSDKFaresAsTheSDK(t *testing.T) {
	t.Parallel()
	plain := func(p sim.Parts) (retry.Strategy, error) { return standard.New(standard.Config{Clock: p.Clock}) }
	twoClients := steady(50, time.Second, 2, 50)
	for _, s := range []scenario{steady(50, time.Second, 1, 100), twoClients, halves(50), outage(50)} {
		s.Duration -= 30 * time.Second // of the minute that counts: 30 s are enough
		s.Measured.To = s.Duration
		for name, mode := range map[string]sim.SDKMode{"sdk-standard": sim.SDKStandard, "sdk-adaptive": sim.SDKAdaptive} {
			t.Run(s.String()+"/of="+name, func(t *testing.T) {
				t.Parallel()
				c := contender{name: name, make: sdkStandard}
				if mode == sim.SDKAdaptive {
					c.make = sdkAdaptive
				}
				want, got := map[string]float64{}, map[string]float64{}
				const runs = 3
				for seed := range uint64(runs) {
					for key, v := range figures(play(t, s, c, seed+1)) {
						want[key] += v / runs
					}
					r, err := sim.Play(t.Context(), s.Scenario, sim.Variant{Name: name, SDK: mode, New: plain}, seed+1, nil)
					require.NoError(t, err)
					for key, v := range figuresOf(r) {
						got[key] += v / runs
					}
				}
				for key, within := range map[string]float64{"failed": 0.02, "throttled": 0.02, "attempts": 0.03} {
					require.InDelta(t, want[key], got[key], within, key)
				}
				require.InEpsilon(t, want["goodput"], got["goodput"], 0.03, "goodput")
				require.InEpsilon(t, want["p99"], got["p99"], 0.6, "p99: who gets a token is a matter of luck")
			})
		}
	}
}
