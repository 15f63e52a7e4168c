//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// storm is a service at 0.8 of its capacity that stops for ten seconds, with attempts that time out after one.
const storm = "--queue --workers 0 --limit 100 --offered 80 --timeout 1s --phase 30s:limit=0 --phase 40s:limit=1x --duration 400s --seed 1"

// The pages of the documentation have the figures of these runs.
func TestSimulatedFigures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args string }{
		{"adaptive", "--vs adaptive"},
		{"peak", "--workers 0 --limit 200 --offered 150 --phase 30s:offered=4x --phase 60s:offered=1x --seed 1 --vs adaptive --vs adaptive,deadline=5s"},
		{"outage", "--outage 2m --limit 500 --offered 100 --vs max_attempts=5 --vs max_attempts=10"},
		{"deadline", "--workers 0 --limit 200 --offered 240 --seed 1 --vs adaptive --vs adaptive,deadline=5s"},
		{"brown-out", "--workers 0 --limit 500 --offered 100 --phase 30s:fail=0.5;latency=10x --phase 60s:fail=0;latency=1x --vs v2.0"},
		{"storm", storm + " --clients 100 --vs max_attempts=1 --vs quota_capacity=14"},
		{"cut", "--workers 0 --limit 250 --offered 200 --phase 30s:limit=0.2x;burst=0.2x --seed 1 --vs adaptive,deadline=5s"},
		{"calls", "--calls 1000 --vs adaptive --vs max_attempts=10"},
		{"fleet", "--clients 100 --workers 1 --vs adaptive"},
		{"profile-json", "--profile prod --vs standard,v2.0 --limit 500 --burst 100 --offered 200 --fail 0.2..0.4 --clients 4 --workers 25 --seed 7 --json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireSimulated(t, c.name, c.args)
		})
	}
}

// TestStormEndsByTheNumberOfItsQuotas holds the table of docs/simulate.md: how many seconds after the pause all is well.
// Each client has its own quota, and their retries are the storm.
func TestStormEndsByTheNumberOfItsQuotas(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/simulate.md")
	require.NoError(t, err)
	for shown, clients := range map[string]int{"1": 1, "10": 10, "100": 100, "1,000": 1000} {
		t.Run(shown, func(t *testing.T) {
			t.Parallel()
			args := fmt.Sprintf("%s --clients %d --vs max_attempts=1 --vs quota_capacity=14 --vs debt-limit --json", storm, clients)
			out, errs, status := runSimulate(t, strings.Fields(args)...)
			require.Zero(t, status, errs)
			var got struct {
				Variants []struct {
					Recover *float64 `json:"recover_s"`
				}
			}
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			cells := []string{shown}
			for _, i := range []int{1, 0, 2, 3} {
				text := "never"
				if s := got.Variants[i].Recover; s != nil {
					text = fmt.Sprintf("%.0f s", *s)
				}
				cells = append(cells, text)
			}
			require.Contains(t, string(page), "| "+strings.Join(cells, " | ")+" |\n")
		})
	}
}
