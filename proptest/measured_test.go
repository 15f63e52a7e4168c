package proptest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/ratelimit"
)

func TestMeasuredRateIsThatOfTheListOfResponses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		begin := start().Add(drawDuration(t, 0, 2*time.Second, "start"))
		measured, model := ratelimit.NewMeasuredRate(begin), newRateModel(begin, ratelimit.SendRateConfig{})
		require.Zero(t, measured.Rate())
		now := begin
		t.Repeat(map[string]func(*rapid.T){
			"response": func(t *rapid.T) {
				now = now.Add(drawPause(t, "pause"))
				at := now.Add(-drawFrom(t, "late", 0, 0, 0, time.Millisecond, 3*time.Second))
				cost := drawFrom(t, "cost", 1, 1, 0.5, 2.5)
				model.responses = append(model.responses, response{at, cost})
				got := measured.Response(at, cost)
				require.InDelta(t, model.measured(), float64(got), 1e-9)
				require.InDelta(t, float64(got), float64(measured.Rate()), 0)
			},
		})
	})
}
