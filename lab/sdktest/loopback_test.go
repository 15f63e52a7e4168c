package sdktest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// bucket is the token bucket of a service that takes a number of requests a second.
type bucket struct {
	rate, tokens float64
	clk          clock.Clock
	at           time.Time
}

func (b *bucket) take() bool {
	now := b.clk.Now()
	b.tokens = min(b.rate, b.tokens+b.rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// TestServiceThrottlesByItsOwnBucket has all four clients at the same time, each with the limit
// of its own resource, over TCP.
func TestServiceThrottlesByItsOwnBucket(t *testing.T) {
	var all sync.WaitGroup
	for _, kind := range withBody {
		all.Go(func() {
			clk := &clock.Fake{}
			limit := &bucket{rate: 10, clk: clk}
			throttles := 0
			s, server := newService(t, func(string, int) fault {
				if limit.take() {
					return none
				}
				throttles++
				return throttled
			})
			cfg := installed(t, overTCP(t, s.peers), hermetic(
				awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(50), awsretry.WithClock(clk), noBackoff(),
				awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(10_000)}}),
			))
			cfg.BaseEndpoint = &server.URL
			call := kind.make(cfg)
			for range 5 {
				calls, errs := callsOf(t.Context(), call)
				clk.Run(calls...)
				if err := errors.Join(errs...); err != nil {
					t.Errorf("%s: %v", kind.name, err)
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.answered) != 5*callsOfEach || s.repeated != 0 || throttles == 0 {
				t.Errorf("%s: %d answered, %d repeated, %d throttled", kind.name, len(s.answered), s.repeated, throttles)
			}
		})
	}
	all.Wait()
}

// TestUploadThatCannotBeReadAgainIsNotRetried: the SDK waits, fails to rewind the body and
// forgets what the service said.
func TestUploadThatCannotBeReadAgainIsNotRetried(t *testing.T) {
	const rule = "awssdk: the body of the request cannot be sent again"
	for _, c := range []struct {
		name     string
		fault    fault
		around   func(aws.RetryerV2) aws.RetryerV2
		code     string
		reason   string // of the event, after that of the strategy
		told     bool   // whether the error of the call has the rule
		throttle bool
	}{
		{name: "server error", fault: unavailable, code: "ServiceUnavailable", reason: ": " + rule},
		{name: "throttle", fault: throttled, code: "SlowDown", reason: ": " + rule, throttle: true},
		{name: "client error", fault: skewed, code: "RequestTimeTooSkewed"},
		{name: "retryer that overrules", fault: unavailable, around: overruling, code: "ServiceUnavailable", reason: ": " + rule, told: true},
		{name: "retryer that does not ask", fault: unavailable, around: deaf, code: "ServiceUnavailable", reason: ": " + rule, told: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var refused []retry.Event
			s, server := newService(t, twice(c.fault))
			cfg := installed(t, overTCP(t, s.peers), hermetic(
				awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithClock(&clock.Fake{}), // it does not move
				awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.RetryRefused {
						refused = append(refused, e)
					}
				}))))
			cfg.BaseEndpoint = &server.URL
			client := s3.NewFromConfig(cfg, func(o *s3.Options) {
				o.UsePathStyle = true
				o.DisableClockSkewCorrection = true
				o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
				if c.around != nil {
					o.Retryer = c.around(o.Retryer.(aws.RetryerV2))
				}
			})
			_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
				Bucket: aws.String("photos"), Key: aws.String("cat"), Body: &onlyReader{strings.NewReader("meow")}, ContentLength: aws.Int64(4),
			}, s3.WithAPIOptions(unsignedPayload))
			require.ErrorContains(t, err, c.code)
			require.NotContains(t, err.Error(), "rewind")
			require.Equal(t, c.told, strings.Contains(err.Error(), rule), err)
			require.Equal(t, 500, quotaOf(t, cfg))
			require.Equal(t, c.throttle, strategyOf(t, cfg).Snapshot().Scopes[1].Limited)
			require.Len(t, refused, 1)
			require.ErrorIs(t, refused[0].Reason, retry.ErrNotRetryable)
			require.EqualError(t, refused[0].Reason, retry.ErrNotRetryable.Error()+c.reason)
		})
	}
}

// overrule is a retryer around another one that wants every failure retried.
type overrule struct {
	aws.RetryerV2
	ask bool // whether it asks the other one first
}

func overruling(r aws.RetryerV2) aws.RetryerV2 { return overrule{r, true} }

func deaf(r aws.RetryerV2) aws.RetryerV2 { return overrule{r, false} }

func (r overrule) IsErrorRetryable(err error) bool {
	if r.ask {
		_ = r.RetryerV2.IsErrorRetryable(err)
	}
	return true
}

// TestFaultsBeforeAnotherS3 has gofakes3 behind the faults.
func TestFaultsBeforeAnotherS3(t *testing.T) {
	for _, f := range []fault{throttled, unavailable, reset, closed, silence} {
		s, server := newService(t, twice(f))
		s.next = gofakes3.New(s3mem.New()).Server()
		cfg := installed(t, overTCP(t, s.peers), hermetic(noBackoff()))
		cfg.BaseEndpoint = &server.URL
		useBucket(t, s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }))
		s.requireBooks(t, 8, 3)
	}
}

// useBucket makes eight calls and checks their results.
func useBucket(t *testing.T, client *s3.Client) {
	t.Helper()
	ctx, name, key, copied := t.Context(), aws.String("photos"), aws.String("cat"), aws.String("copy")
	content := bytes.Repeat([]byte("meow "), 20_000)
	_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: name})
	require.NoError(t, err)
	_, err = client.PutObject(ctx, &s3.PutObjectInput{Bucket: name, Key: key, Body: bytes.NewReader(content)})
	require.NoError(t, err)
	_, err = client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: name, Key: copied, CopySource: aws.String("photos/cat")})
	require.NoError(t, err)
	head, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: name, Key: copied})
	require.NoError(t, err)
	require.EqualValues(t, len(content), *head.ContentLength)
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: copied})
	require.NoError(t, err)
	var got bytes.Buffer
	_, err = got.ReadFrom(out.Body)
	require.NoError(t, err)
	require.NoError(t, out.Body.Close())
	require.Equal(t, content, got.Bytes())
	_, err = client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: name, Key: key})
	require.NoError(t, err)
	list, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: name})
	require.NoError(t, err)
	require.Len(t, list.Contents, 1)
	_, err = client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: key})
	require.ErrorContains(t, err, "NoSuchKey")
}
