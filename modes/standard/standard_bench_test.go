package standard_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func benchStrategy(tb testing.TB) retry.Strategy {
	tb.Helper()
	s, err := standard.New(standard.Config{Random: func() float64 { return 0 }})
	require.NoError(tb, err)
	return s
}

func succeed(ctx context.Context, s retry.Strategy) {
	token, _ := s.AcquireInitialToken(ctx, retry.Operation{})
	_ = s.RecordSuccess(token, retry.Result{})
}

func retryOnce(ctx context.Context, s retry.Strategy) {
	token, _ := s.AcquireInitialToken(ctx, retry.Operation{})
	token, _ = s.RefreshRetryToken(ctx, token, errServer)
	_ = s.RecordSuccess(token, retry.Result{})
}

func BenchmarkSuccess(b *testing.B) {
	s, ctx := benchStrategy(b), b.Context()
	b.Run("goroutines=1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			succeed(ctx, s)
		}
	})
	b.Run("goroutines=parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				succeed(ctx, s)
			}
		})
	})
}

func BenchmarkOneRetry(b *testing.B) {
	s, ctx := benchStrategy(b), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		retryOnce(ctx, s)
	}
}

func BenchmarkDo(b *testing.B) {
	s, ctx := benchStrategy(b), b.Context()
	op := func(context.Context) (int, error) { return 0, nil }
	b.ReportAllocs()
	for b.Loop() {
		_, _ = retry.Do(ctx, s, retry.Operation{}, op)
	}
}
