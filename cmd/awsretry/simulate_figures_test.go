//go:build long

package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pages of the documentation have the figures of these runs.
func TestSimulatedFigures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args string }{
		{"v20", "--vs v2.0 --fail 0.25 --limit 500 --offered 100"},
		{"adaptive", "--vs adaptive"},
		{"ten-attempts", "--vs max_attempts=10 --outage 60s --limit 500 --offered 100"},
		{"tables", "--tables 2 --limit 5 --workers 8 --offered 100"},
		{"one-table", "--limit 5 --workers 8 --offered 100"},
		{"clients-10", "--vs adaptive --clients 10 --workers 10"},
		{"clients-100", "--vs adaptive --clients 100 --workers 1"},
		{"deadline", "--vs adaptive --vs adaptive,deadline=1s"},
		{"profile-json", "--profile prod --vs standard,v2.0 --limit 500 --burst 100 --offered 200 --fail 0.2..0.4 --clients 4 --workers 25 --seed 7 --json"},
		{"outage-csv", "--outage 20s --limit 500 --offered 100 --vs max_attempts=10 --vs adaptive,max_elapsed=2s --csv"},
		{"too-many-open", "--profile prod --workers 0 --limit 1 --offered 5000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireSimulated(t, c.name, c.args)
		})
	}
}

// The guide of AWS has about 22 % and 32 % for v2.1.
func TestSimulateHasTheDrainPointsOfTheGuide(t *testing.T) {
	t.Parallel()
	out, _, status := runSimulate(t, "--json", "--vs", "v2.0", "--offered", "10")
	require.Zero(t, status)
	var got struct {
		Drain []struct {
			Variant, Kind string
			Share         float64
		} `json:"drain_points"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	shares := map[string]float64{}
	for _, d := range got.Drain {
		shares[d.Variant+" "+d.Kind] = d.Share
	}
	require.Len(t, shares, 6)
	require.InDelta(t, 0.22, shares["settings transient"], 0.01)
	require.InDelta(t, 0.32, shares["settings throttling"], 0.01)
	require.InDelta(t, 0.32, shares["v2.0 transient"], 0.01)
	require.InDelta(t, 0.246, shares["v2.0 timeout"], 0.001)
}
