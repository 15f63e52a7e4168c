package sdktest

import (
	"bytes"
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
)

// bucket is the token bucket of a service that takes so many requests a second.
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

// TestServiceThrottlesByItsOwnBucket: all four clients at once, each against the
// limit of its own resource, over TCP.
func TestServiceThrottlesByItsOwnBucket(t *testing.T) {
	generations(t, func(t *testing.T) {
		t.Helper()
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
					awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(50), awsretry.WithClock(clk),
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
	})
}

// TestUploadThatCannotBeReadAgainIsNotRetried: the SDK waits, tries, fails to
// rewind the body and forgets what the service said.
func TestUploadThatCannotBeReadAgainIsNotRetried(t *testing.T) {
	s, server := newService(t, twice(unavailable))
	cfg := installed(t, overTCP(t, s.peers), hermetic(awsretry.WithClock(&clock.Fake{}))) // it stands still
	cfg.BaseEndpoint = &server.URL
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = true
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String("photos"), Key: aws.String("cat"), Body: &onlyReader{strings.NewReader("meow")}, ContentLength: aws.Int64(4),
	}, s3.WithAPIOptions(unsignedPayload))
	require.ErrorContains(t, err, "ServiceUnavailable")
	require.NotContains(t, err.Error(), "rewind")
	require.Equal(t, 500, quotaOf(t, cfg))
}

// TestS3ThatIsNotOurs: gofakes3 behind the faults.
func TestS3ThatIsNotOurs(t *testing.T) {
	for _, f := range []fault{throttled, unavailable, reset, closed, silence} {
		generations(t, func(t *testing.T) {
			t.Helper()
			s, server := newService(t, twice(f))
			s.next = gofakes3.New(s3mem.New()).Server()
			clk := &clock.Fake{}
			cfg := installed(t, overTCP(t, s.peers), hermetic(awsretry.WithClock(clk)))
			cfg.BaseEndpoint = &server.URL
			clk.Run(func() { useBucket(t, s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })) })
			s.requireBooks(t, 8, 3)
		})
	}
}

// useBucket makes eight calls, and looks at what has come of them.
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
