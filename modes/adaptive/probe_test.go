package adaptive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestProbeEveryHasToBePossible(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		config adaptive.Config
		want   string // of the error; empty means none
	}{
		{adaptive.Config{Controller: ratelimit.Steady, ProbeEvery: 30}, ""},
		{adaptive.Config{Controller: ratelimit.Steady, ProbeEvery: -1}, "adaptive: ProbeEvery -1: must not be negative"},
		{adaptive.Config{ProbeEvery: 30}, "adaptive: ProbeEvery 30: needs the Controller steady, not cut-per-event"},
		{
			adaptive.Config{Controller: ratelimit.CutPerThrottle, ProbeEvery: 1},
			"adaptive: ProbeEvery 1: needs the Controller steady, not cut-per-throttle",
		},
	} {
		_, err := adaptive.New(tt.config)
		if tt.want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, tt.want)
		}
	}
}
