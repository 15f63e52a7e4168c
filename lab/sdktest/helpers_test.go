package sdktest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
)

// TestHelpersOfTheSDKMakeCallsThatAreRetried has paginators, waiters and the transfer manager call gofakes3, which
// throttles the first two requests of every call: each page, look and part has attempts of its own.
func TestHelpersOfTheSDKMakeCallsThatAreRetried(t *testing.T) {
	s, server := newService(t, twice(throttled))
	s.next = gofakes3.New(s3mem.New()).Server()
	cfg := installed(t, overTCP(t, s.peers), hermetic(noBackoff()))
	cfg.BaseEndpoint = &server.URL
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	ctx, bucket := t.Context(), aws.String("photos")
	_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: bucket})
	require.NoError(t, err)
	put := func(key string) {
		_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: strings.NewReader("meow")})
		require.NoError(t, err)
	}
	calls := 1

	for i := range 5 {
		put(fmt.Sprint("cat", i))
	}
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: bucket, MaxKeys: aws.Int32(2)})
	var keys []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		require.NoError(t, err)
		for _, object := range page.Contents {
			keys = append(keys, *object.Key)
		}
	}
	require.Equal(t, []string{"cat0", "cat1", "cat2", "cat3", "cat4"}, keys)
	calls += 5 + 3
	s.requireBooks(t, calls, 3)
	require.Equal(t, 500-calls*5, quotaOf(t, cfg)) // two throttles take 5 each, and a success gives back those of the last

	key, content := aws.String("film"), bytes.Repeat([]byte("0123456789abcdef"), 12<<20/16)
	manager := transfermanager.New(client, func(o *transfermanager.Options) {
		o.PartSizeBytes, o.MultipartUploadThreshold = 5<<20, 5<<20
	})
	_, err = manager.UploadObject(ctx, &transfermanager.UploadObjectInput{Bucket: bucket, Key: key, Body: bytes.NewReader(content)})
	require.NoError(t, err)
	calls += 1 + 3 + 1 // it creates the upload, sends parts of 5, 5 and 2 MiB, and completes it
	s.requireBooks(t, calls, 3)
	object, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: key})
	require.NoError(t, err)
	got, err := io.ReadAll(object.Body)
	require.NoError(t, err)
	require.NoError(t, object.Body.Close())
	require.True(t, bytes.Equal(content, got))
	calls++
	require.Equal(t, 500-calls*5, quotaOf(t, cfg))

	const looks = 5
	next, looked := s.next, 0
	s.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			if looked++; looked == looks {
				put("dog")
			}
		}
		next.ServeHTTP(w, r)
	})
	waiter := s3.NewObjectExistsWaiter(client, func(o *s3.ObjectExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Millisecond, time.Millisecond
	})
	require.NoError(t, waiter.Wait(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("dog")}, time.Minute))
	s.requireBooks(t, calls+looks+1, 3)
	// A look that finds nothing is no success and gives nothing back. An answer to HEAD has no code, so a retry costs 14.
	require.Equal(t, 500-(calls+1)*5-(looks-1)*2*14-14, quotaOf(t, cfg))
}
