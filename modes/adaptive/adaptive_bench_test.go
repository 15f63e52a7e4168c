package adaptive_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func attempt(ctx context.Context, s retry.Strategy) {
	token, _ := s.AcquireInitialToken(ctx, retry.Operation{})
	_ = token.Wait(ctx)
	_ = s.RecordSuccess(token, retry.Result{})
}

func BenchmarkSuccessBeforeTheFirstThrottle(b *testing.B) {
	s, err := adaptive.New(adaptive.Config{Standard: standard.Config{}})
	require.NoError(b, err)
	ctx := b.Context()
	b.Run("goroutines=1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			attempt(ctx, s)
		}
	})
	b.Run("goroutines=parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				attempt(ctx, s)
			}
		})
	})
}

func BenchmarkSnapshotOfTenThousandScopes(b *testing.B) {
	s, err := adaptive.New(adaptive.Config{})
	require.NoError(b, err)
	for i := range 10_000 {
		token, err := s.AcquireInitialToken(b.Context(), retry.Operation{
			Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: fmt.Sprintf("orders-%05d", i*7919%10_000),
		})
		require.NoError(b, err)
		require.NoError(b, token.Wait(b.Context()))
		require.NoError(b, s.RecordSuccess(token, retry.Result{}))
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(s.Snapshot().Scopes) != 10_001 {
			b.Fatal("scopes are missing")
		}
	}
}
