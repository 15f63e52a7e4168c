package otelretry_test

import (
	"context"
	"strconv"
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

// Operations that are new at the same time get their places once.
func TestNewCombinationsConcurrentSafe(t *testing.T) {
	t.Parallel()
	for _, merged := range []bool{false, true} {
		reader, config := newReader()
		config.MergedMethod = merged
		telemetry := newTelemetry(t, config)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for n := range 1200 {
					op := retry.Operation{Service: "s3", Name: time.Duration(n).String()}
					telemetry.Observe(context.Background(), retry.Event{Kind: retry.OperationEnded, Operation: op, Elapsed: time.Second})
				}
			})
		}
		group.Wait()
		metrics := collect(t, reader)
		require.Equal(t, 8*1200, sum(t, metrics["awsretry.call.duration"].Data))
		got := figures(t, metrics, "awsretry.call.duration")
		require.Len(t, got, 1001)
		require.Equal(t, !merged, strings.Contains(got[0], "rpc.method=_OTHER rpc.service=_OTHER"), got[0])
		require.Contains(t, got[0], "{awsretry.outcome=success cloud.region=_OTHER rpc.method=_OTHER")
	}
}

func TestErrorCodesAfterTheFirstTwoHundredAreCountedTogether(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	for i := range 235 {
		code := serviceError("Code" + strconv.Itoa(i%234))
		telemetry.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Err: code})
	}
	got := figures(t, collect(t, reader), "awsretry.attempts")
	require.Len(t, got, 201)
	require.Subset(t, got, []string{"{awsretry.kind=none error.type=_OTHER} 34", "{awsretry.kind=none error.type=Code0} 2"})
}
