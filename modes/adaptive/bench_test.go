package adaptive_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func attempt(ctx context.Context, s *adaptive.Strategy) {
	token, _ := s.AcquireInitialToken(ctx, retry.Operation{})
	_ = token.Wait(ctx)
	_ = s.RecordSuccess(token)
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
