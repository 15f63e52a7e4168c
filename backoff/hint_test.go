package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/backoff"
)

func TestHintAsFloor(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		name                       string
		delay, hint, longest, want time.Duration
	}{
		{"shorter than the delay", 3 * s, 2 * s, 20 * s, 3 * s},
		{"as long as the delay", 3 * s, 3 * s, 20 * s, 3 * s},
		{"longer than the delay", 3 * s, 9 * s, 20 * s, 9 * s},
		{"the maximum", 3 * s, 20 * s, 20 * s, 20 * s},
		{"beyond the maximum", 3 * s, 21 * s, 20 * s, 20 * s},
		{"absurdly long", 3 * s, math.MaxInt64, 20 * s, 20 * s},
		{"absurdly long, as the maximum is", 3 * s, math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{"zero", 3 * s, 0, 20 * s, 3 * s},
		{"negative", 3 * s, -1, 20 * s, 3 * s},
		{"absurdly negative", 3 * s, math.MinInt64, 20 * s, 3 * s},
		{"negative without a delay", 0, -1, 20 * s, 0},
		{"without a delay", 0, 2 * s, 20 * s, 2 * s},
		{"no maximum is the default", 3 * s, time.Hour, 0, 20 * s},
		{"a negative maximum is the default", 3 * s, time.Hour, -s, 20 * s},
		{"the smallest maximum is the default", 3 * s, time.Hour, math.MinInt64, 20 * s},
		{"a delay beyond the maximum stays", 30 * s, time.Hour, 20 * s, 30 * s},
		{"the longest delay stays", math.MaxInt64, math.MaxInt64, 20 * s, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, backoff.HintAsFloor(c.delay, c.hint, c.longest))
		})
	}
}

func TestHintInWindow(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		name              string
		delay, hint, want time.Duration
	}{
		{"shorter than the delay", 3 * s, 2 * s, 3 * s},
		{"as long as the delay", 3 * s, 3 * s, 3 * s},
		{"inside the window", 3 * s, 7 * s, 7 * s},
		{"the end of the window", 3 * s, 8 * s, 8 * s},
		{"just beyond the window", 3 * s, 8*s + 1, 8 * s},
		{"absurdly long", 3 * s, math.MaxInt64, 8 * s},
		{"absurdly long without a delay", 0, math.MaxInt64, 5 * s},
		{"zero", 3 * s, 0, 3 * s},
		{"negative", 3 * s, -1, 3 * s},
		{"absurdly negative", 3 * s, math.MinInt64, 3 * s},
		{"negative without a delay", 0, math.MinInt64, 0},
		{"a window whose end would overflow", math.MaxInt64 - 2*s, math.MaxInt64, math.MaxInt64},
		{"the longest delay", math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{"the longest delay, a negative hint", math.MaxInt64, math.MinInt64, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, backoff.HintInWindow(c.delay, c.hint))
		})
	}
}

func TestHintsNeverShortenADelay(t *testing.T) {
	t.Parallel()
	delays := []time.Duration{0, 1, time.Second, backoff.DefaultMax, time.Hour, math.MaxInt64 - 1, math.MaxInt64}
	hints := append([]time.Duration{math.MinInt64, math.MinInt64 + 1, -time.Hour, -1}, delays...)
	for _, delay := range delays {
		for _, hint := range hints {
			for _, longest := range hints {
				require.GreaterOrEqual(t, backoff.HintAsFloor(delay, hint, longest), delay, "%d, %d, %d", delay, hint, longest)
			}
			hinted := backoff.HintInWindow(delay, hint)
			require.GreaterOrEqual(t, hinted, delay, "%d, %d", delay, hint)
			require.LessOrEqual(t, hinted-delay, backoff.HintSlack, "%d, %d", delay, hint)
		}
	}
}
