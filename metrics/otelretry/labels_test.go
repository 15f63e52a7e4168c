package otelretry_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

func TestMergedMethodHasTheServiceInTheMethod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op   retry.Operation
		want string
	}{
		"all":        {getItem, "{awsretry.outcome=success cloud.region=eu-central-1 rpc.method=dynamodb/GetItem}"},
		"no name":    {retry.Operation{Service: "s3"}, "{awsretry.outcome=success rpc.method=s3/}"},
		"no service": {retry.Operation{Name: "GET"}, "{awsretry.outcome=success rpc.method=GET}"},
		"nothing":    {retry.Operation{}, "{awsretry.outcome=success}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, config := newReader()
			config.MergedMethod = true
			telemetry := newTelemetry(t, config)
			telemetry.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Operation: c.op})
			require.NoError(t, telemetry.Watch(newStrategy(t)))
			metrics := collect(t, reader)
			require.Equal(t, []string{c.want + " count 1 sum 0: 1 to 0.005"}, figures(t, metrics, "awsretry.call.duration"))
			require.Equal(t, []string{"{awsretry.scope=(all)} 500"}, figures(t, metrics, "awsretry.quota.available"))
		})
	}
}

func TestServicesAreSpelledAsTheSDKsDo(t *testing.T) {
	t.Parallel()
	for merged, want := range map[bool]string{
		false: "{awsretry.outcome=success rpc.method=GetItem rpc.service=DynamoDB}", true: "{awsretry.outcome=success rpc.method=DynamoDB/GetItem}",
	} {
		reader, config := newReader()
		config.SDKServices, config.MergedMethod = true, merged
		telemetry := newTelemetry(t, config)
		require.NoError(t, telemetry.Watch(show(t, "orders")))
		op := retry.Operation{Service: "dynamodb", Name: "GetItem"}
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Operation: op})
		metrics := collect(t, reader)
		require.Contains(t, figures(t, metrics, "awsretry.call.duration")[0], want)
		require.Equal(t, !merged, strings.Contains(figures(t, metrics, "awsretry.quota.available")[0], "rpc.service=DynamoDB"))
	}
}

func TestMergedCombinationsOfLateAreOther(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	config.MergedMethod = true
	telemetry := newTelemetry(t, config)
	for i := range 1001 {
		telemetry.Observe(t.Context(), retry.Event{
			Kind: retry.SendWaitEnded, Operation: retry.Operation{Service: "dynamodb", Name: fmt.Sprintf("Op%04d", i)},
		})
	}
	require.Equal(t, "{cloud.region=_OTHER rpc.method=_OTHER} count 1 sum 0: 1 to 0.005",
		figures(t, collect(t, reader), "awsretry.send.wait")[0])
}

// Operations that are new at the same time get their places once.
func TestNewCombinationsConcurrentSafe(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for n := range 1200 {
				telemetry.Observe(context.Background(), retry.Event{
					Kind: retry.OperationEnded, Operation: retry.Operation{Name: time.Duration(n).String()}, Elapsed: time.Second,
				})
			}
		})
	}
	group.Wait()
	metrics := collect(t, reader)
	require.Equal(t, 8*1200, sum(t, metrics["awsretry.call.duration"].Data))
	require.Len(t, figures(t, metrics, "awsretry.call.duration"), 1001)
}
