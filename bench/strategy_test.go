package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var (
	errServer   = &smithy.GenericAPIError{Code: "RequestTimeout", Message: "slow", Fault: smithy.FaultServer}
	errThrottle = &smithy.GenericAPIError{Code: "ThrottlingException", Message: "slow down", Fault: smithy.FaultClient}
)

// peer is what every retryer is driven through: an operation that succeeds, and
// one that is retried once. Both include what the retryer does for every attempt.
type peer struct {
	name      string
	succeed   func(ctx context.Context) error
	retryOnce func(ctx context.Context) error
}

func peers(tb testing.TB) []peer {
	tb.Helper()
	ours, err := standard.New(standard.Config{})
	require.NoError(tb, err)
	adaptively, err := adaptive.New(adaptive.Config{})
	require.NoError(tb, err)
	return []peer{
		ofStrategy("mode=standard/of=awsretry", ours),
		ofRetryer("mode=standard/of=aws-sdk-go-v2", awsretryer.NewStandard()),
		ofStrategy("mode=adaptive/of=awsretry", adaptively),
		ofRetryer("mode=adaptive/of=aws-sdk-go-v2", awsretryer.NewAdaptiveMode()),
	}
}

func ofStrategy(name string, s retry.Strategy) peer {
	return peer{
		name: name,
		succeed: func(ctx context.Context) error {
			token, err := s.AcquireInitialToken(ctx, retry.Operation{})
			if err != nil {
				return err
			}
			if err := token.Wait(ctx); err != nil {
				return err
			}
			return s.RecordSuccess(token)
		},
		retryOnce: func(ctx context.Context) error {
			token, err := s.AcquireInitialToken(ctx, retry.Operation{})
			if err != nil {
				return err
			}
			if err := token.Wait(ctx); err != nil {
				return err
			}
			if token, err = s.RefreshRetryToken(ctx, token, errServer); err != nil {
				return err
			}
			if err := token.WithoutDelay().Wait(ctx); err != nil {
				return err
			}
			return s.RecordSuccess(token)
		},
	}
}

// ofRetryer calls a retryer as the SDK's middleware does, without the sleep.
func ofRetryer(name string, r aws.RetryerV2) peer {
	return peer{
		name: name,
		succeed: func(ctx context.Context) error {
			release, err := r.GetAttemptToken(ctx)
			if err != nil {
				return err
			}
			return release(nil)
		},
		retryOnce: func(ctx context.Context) error {
			release, err := r.GetAttemptToken(ctx)
			if err != nil {
				return err
			}
			if err := release(errServer); err != nil && !errors.Is(err, errServer) {
				return err
			}
			if !r.IsErrorRetryable(errServer) {
				return errServer
			}
			releaseRetry, err := r.GetRetryToken(ctx, errServer)
			if err != nil {
				return err
			}
			if _, err := r.RetryDelay(1, errServer); err != nil {
				return err
			}
			if release, err = r.GetAttemptToken(ctx); err != nil {
				return err
			}
			return errors.Join(releaseRetry(nil), release(nil))
		},
	}
}

func BenchmarkSuccess(b *testing.B) {
	for _, p := range peers(b) {
		b.Run(p.name+"/goroutines=1", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := p.succeed(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(p.name+"/goroutines=8", func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(4) // of the two cores that the figures are from
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := p.succeed(b.Context()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func BenchmarkOneRetry(b *testing.B) {
	for _, p := range peers(b) {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := p.retryOnce(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestPeersDoWhatTheBenchmarksMeasure keeps a benchmark from measuring an error.
func TestPeersDoWhatTheBenchmarksMeasure(t *testing.T) {
	t.Parallel()
	for _, p := range peers(t) {
		require.NoError(t, p.succeed(t.Context()), p.name)
		require.NoError(t, p.retryOnce(t.Context()), p.name)
	}
}

func BenchmarkClassify(b *testing.B) {
	wrapped := &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "GetItem", Err: errThrottle}
	ours, err := standard.New(standard.Config{})
	require.NoError(b, err)
	theirs := awsretryer.NewStandard()
	b.Run("of=awsretry", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = ours.Judge(retry.Operation{}, 1, wrapped)
		}
	})
	b.Run("of=aws-sdk-go-v2", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = theirs.IsErrorRetryable(wrapped)
		}
	})
}
