//go:build linux && !race

// Kubernetes takes minutes to build, so it is built for one system only, and not once more with the race detector.

package telemetry_test

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

// This test is for one system only, so that make vet-others does not build Kubernetes for three more.
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
	ours := slices.DeleteFunc(families, func(f *dto.MetricFamily) bool {
		return !strings.HasPrefix(f.GetName(), "awsretry_")
	})
	require.Contains(t, seriesOf(ours...),
		`awsretry_attempts_total{aws_region="eu-central-1",awsretry_kind="ok",rpc_method="DescribeInstances",rpc_service="ec2"} 1`)
	require.Contains(t, seriesOf(ours...), `awsretry_quota_available{aws_region="eu-central-1",`+
		`awsretry_scope="ec2/eu-central-1",rpc_service="ec2"} 500`)
}
