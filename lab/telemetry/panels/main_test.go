//go:build !race

package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/telemetry/internal/grafana"
)

func TestDashboardHasEachDrawnPanel(t *testing.T) {
	t.Parallel()
	d, err := grafana.Load("../../../metrics/dashboard.json")
	require.NoError(t, err)
	for _, title := range drawn() {
		require.True(t, slices.ContainsFunc(d.Panels, func(p grafana.Panel) bool { return p.Title == title }), title)
	}
}
