package anyfunction

import (
	"context"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/awsretry/awsretry/retry"
)

type (
	request = grpc_health_v1.HealthCheckRequest
	reply   = grpc_health_v1.HealthCheckResponse
)

// The programs of docs/any-function.md that call gRPC, with three libraries.
func TestCallOfGRPCWithThreeLibraries(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, check := range map[string]func(client grpc_health_v1.HealthClient) (*reply, error){
		"awsretry": func(client grpc_health_v1.HealthClient) (*reply, error) { // 3 lines
			return retry.Do(ctx, plain(), retry.Operation{}, func(ctx context.Context) (*reply, error) {
				return client.Check(ctx, &request{})
			})
		},
		"cenkalti/backoff": func(client grpc_health_v1.HealthClient) (*reply, error) { // 7 lines
			return backoff.Retry(ctx, func() (*reply, error) {
				reply, err := client.Check(ctx, &request{})
				if err != nil && status.Code(err) != codes.Unavailable && status.Code(err) != codes.ResourceExhausted {
					return nil, backoff.Permanent(err)
				}
				return reply, err
			}, backoff.WithMaxTries(5), backoff.WithBackOff(backoff.NewConstantBackOff(time.Millisecond)))
		},
		"failsafe-go": func(client grpc_health_v1.HealthClient) (*reply, error) { // 7 lines
			policy := retrypolicy.NewBuilder[*reply]().WithMaxRetries(4).WithBackoff(time.Millisecond, time.Second).
				HandleIf(func(_ *reply, err error) bool {
					return status.Code(err) == codes.Unavailable || status.Code(err) == codes.ResourceExhausted
				}).Build()
			return failsafe.With(policy).WithContext(ctx).GetWithExecution(func(e failsafe.Execution[*reply]) (*reply, error) {
				return client.Check(e.Context(), &request{})
			})
		},
	} {
		got, err := check(&unavailable{left: 2})
		require.NoError(t, err, name)
		require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, got.GetStatus(), name)
	}
}
