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

func TestServiceIsALabelOrAPartOfTheMethodAndSpelledAsTheSDKsDoIfAsked(t *testing.T) {
	t.Parallel()
	named := retry.Operation{Service: "dynamodb", Name: "GetItem"}
	for want, c := range map[string]struct {
		op          retry.Operation
		merged, sdk bool
	}{
		"cloud.region=eu-central-1 rpc.method=dynamodb/GetItem": {getItem, true, false},
		"rpc.method=s3/":              {retry.Operation{Service: "s3"}, true, false},
		"rpc.method=GET":              {retry.Operation{Name: "GET"}, true, false},
		"":                            {retry.Operation{}, true, false},
		"rpc.method=DynamoDB/GetItem": {named, true, true},
		"rpc.method=GetItem rpc.service=DynamoDB": {named, false, true},
	} {
		reader, config := newReader()
		config.MergedMethod, config.SDKServices = c.merged, c.sdk
		telemetry := newTelemetry(t, config)
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Operation: c.op})
		require.NoError(t, telemetry.Watch(show(t, "orders")))
		metrics := collect(t, reader)
		require.Equal(t, []string{"{" + strings.TrimSpace("awsretry.outcome=success "+want) + "} count 1 sum 0: 1 to 0.005"},
			figures(t, metrics, "awsretry.call.duration"))
		require.Equal(t, !c.merged, strings.Contains(figures(t, metrics, "awsretry.quota.available")[0], "rpc.service=DynamoDB"))
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
