package sdktest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
)

// exchanges is a retryer whose retryer may be exchanged at any time. Delays are a second at most.
type exchanges struct {
	mu    sync.Mutex // guards inner
	inner aws.RetryerV2
}

func (r *exchanges) set(inner aws.RetryerV2) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inner = inner
}

func (r *exchanges) get() aws.RetryerV2 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inner
}

func (r *exchanges) IsErrorRetryable(err error) bool            { return r.get().IsErrorRetryable(err) }
func (r *exchanges) MaxAttempts() int                           { return r.get().MaxAttempts() }
func (*exchanges) GetInitialToken() (release func(error) error) { return nil }

func (r *exchanges) RetryDelay(attempt int, err error) (time.Duration, error) {
	delay, delayErr := r.get().RetryDelay(attempt, err)
	return min(delay, time.Second), delayErr
}

func (r *exchanges) GetRetryToken(ctx context.Context, err error) (release func(error) error, _ error) {
	return r.get().GetRetryToken(ctx, err)
}

func (r *exchanges) GetAttemptToken(ctx context.Context) (release func(error) error, _ error) {
	return r.get().GetAttemptToken(ctx)
}

// TestRetryerAroundMayExchangeOurs while calls are made. That is for the race detector.
func TestRetryerAroundMayExchangeOurs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		s := newScript(fail(500, ""), fail(500, ""), succeeds)
		cfg := installed(t, s, hermetic())
		ours := v2(cfg.Retryer())
		around := &exchanges{inner: ours}
		client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = around })
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 50 {
					_, _ = client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
					around.set(ours)
				}
			})
		}
		all.Wait()
		require.Equal(t, 202, s.requests())
	})
}

// TestShorterBackoffOfARetryerThatExchangesOursFitsTheDeadline: nothing tells which retryer it leads
// to.
func TestShorterBackoffOfARetryerThatExchangesOursFitsTheDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		s := newScript(fail(500, ""), fail(500, ""), succeeds)
		cfg := installed(t, s, hermetic(always(), awsretry.WithConfig(adaptive.Config{
			Standard: standard.Config{Base: 10 * time.Second},
		})))
		around := &exchanges{inner: v2(cfg.Retryer())}
		client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = around })
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{})
		require.NoError(t, err)
		require.Equal(t, []time.Duration{time.Second, time.Second}, s.gaps())
	})
}
