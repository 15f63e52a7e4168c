// Package controller tests promretry with controller-runtime. It is a module of its own, because Kubernetes takes
// minutes to build: make controller runs it.
package controller_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/promretry"
	"github.com/awsretry/awsretry/retry"
)

func TestRegistryOfControllerRuntime(t *testing.T) {
	t.Parallel()
	own := promretry.New(promretry.Config{})
	strategy, err := standard.New(standard.Config{Observer: own})
	require.NoError(t, err)
	require.NoError(t, own.Watch(strategy))
	require.NoError(t, metrics.Registry.Register(own))
	t.Cleanup(func() { metrics.Registry.Unregister(own) })

	op := retry.Operation{Service: "ec2", Region: "eu-central-1", Name: "DescribeInstances"}
	require.NoError(t, retry.DoErr(t.Context(), strategy, op, func(context.Context) error { return nil }))
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	figure := func(name string) float64 {
		i := slices.IndexFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == name })
		require.GreaterOrEqual(t, i, 0, name)
		metric := families[i].GetMetric()
		last := metric[len(metric)-1]
		return last.GetCounter().GetValue() + last.GetGauge().GetValue() + float64(last.GetHistogram().GetSampleCount())
	}
	require.InDelta(t, 1, figure("awsretry_attempts_total"), 0)
	require.InDelta(t, 1, figure("awsretry_call_duration_seconds"), 0)
	require.InDelta(t, 500, figure("awsretry_quota_available"), 0)
	ours := slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return !strings.HasPrefix(f.GetName(), "awsretry_") })
	require.Greater(t, len(ours), 5)
}
