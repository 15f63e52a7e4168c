package anyfunction

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

// health answers, or throttles its third call.
type health struct {
	grpc_health_v1.UnimplementedHealthServer

	calls atomic.Int64
}

func (h *health) Check(context.Context, *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if h.calls.Add(1) == 3 {
		return nil, status.Error(codes.ResourceExhausted, "too many")
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func serve(t *testing.T, address string, h *health) (at string, stop func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	require.NoError(t, err)
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, h)
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), server.Stop
}

// A server of gRPC is stopped in the midst of calls, and another one begins at its address. No call fails; with a strategy of one
// attempt some do.
func TestNoCallFailsWhenAServerOfGRPCIsRestarted(t *testing.T) {
	t.Parallel()
	for attempts, mayFail := range map[int]bool{10: false, 1: true} {
		h := &health{}
		address, stop := serve(t, "127.0.0.1:0", h)
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: time.Millisecond, Multiplier: 1, MaxDelay: time.Millisecond}}))
		require.NoError(t, err)
		client := grpc_health_v1.NewHealthClient(conn)
		strategy, err := awsretry.Plain(attempts, 20*time.Millisecond, 100*time.Millisecond)
		require.NoError(t, err)
		failed := 0
		for i := range 60 {
			if i == 30 {
				stop()
			}
			if _, err = retry.Do(t.Context(), strategy, retry.Operation{}, func(ctx context.Context) (*grpc_health_v1.HealthCheckResponse, error) {
				reply, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
				if i == 30 && err != nil && status.Code(err) == codes.Unavailable && h.calls.Load() < 1000 {
					h.calls.Store(1000) // begins once a call has found that it is gone
					_, stop = serve(t, address, h)
				}
				return reply, err
			}); err != nil {
				failed++
			}
		}
		stop()
		require.NoError(t, conn.Close())
		require.Equal(t, mayFail, failed > 0, "%d attempts: %d of 60 calls fail", attempts, failed)
	}
}
