//go:build !race

package sdktest

import (
	"context"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
)

// storedItem answers each request with an item, without a network.
type storedItem struct{}

func (storedItem) Do(*http.Request) (*http.Response, error) {
	const item = `{"Item":{"id":{"S":"1"}}}`
	return &http.Response{
		StatusCode: http.StatusOK, ContentLength: int64(len(item)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(item)),
	}, nil
}

// A call allocates for itself, which is its context too, and for the places of its middlewares in the stack.
func TestCallAllocatesTwiceMoreAtMost(t *testing.T) {
	allocations := func(setup func(cfg *aws.Config) error) float64 {
		return testing.AllocsPerRun(200, stored(t, setup))
	}
	all := compared()
	require.LessOrEqual(t, allocations(all[2]), allocations(all[0])+2)
	require.LessOrEqual(t, allocations(all[3]), allocations(all[1])+2)
}

// stored returns a call of a client with the retryer, without a network.
func stored(tb testing.TB, setup func(cfg *aws.Config) error) func() {
	tb.Helper()
	cfg := configFor(storedItem{})
	require.NoError(tb, setup(&cfg))
	client := dynamodb.NewFromConfig(cfg)
	input := &dynamodb.GetItemInput{
		TableName: aws.String("orders"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}},
	}
	return func() {
		if _, err := client.GetItem(context.Background(), input); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkCostOfACall prints what Install adds to a call, in processor time: the least of many turns, in which 25 calls with
// the SDK's retryer of the same mode and 25 with Install follow each other. -benchtime 400x plays 400 turns.
func BenchmarkCostOfACall(b *testing.B) {
	const inTurn = 25
	all := compared()
	for i, mode := range []string{"standard", "adaptive"} {
		b.Run("mode="+mode, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			calls := [...]func(){stored(b, all[i]), stored(b, all[2+i])}
			least := [...]time.Duration{math.MaxInt64, math.MaxInt64}
			for b.Loop() {
				for who, call := range calls {
					began := processorTime(b)
					for range inTurn {
						call()
					}
					least[who] = min(least[who], processorTime(b)-began)
				}
			}
			perCall := func(d time.Duration) float64 { return float64(d) / float64(inTurn*time.Microsecond) }
			b.ReportMetric(perCall(least[0]), "us/call-of-the-SDK")
			b.ReportMetric(perCall(least[1]-least[0]), "us/call-more")
		})
	}
}

// processorTime returns what this thread has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Timespec
	require.NoError(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used))
	return time.Duration(used.Nano())
}

// compared are configs with the SDK's retryers of both modes, and with those of Install.
func compared() (setups [4]func(cfg *aws.Config) error) {
	for i, mode := range []awsretry.Mode{awsretry.ModeStandard, awsretry.ModeAdaptive} {
		setups[i] = func(cfg *aws.Config) error { cfg.RetryMode = aws.RetryMode(mode); return nil }
		setups[2+i] = func(cfg *aws.Config) error { return awssdk.Install(cfg, hermetic(awsretry.WithMode(mode))) }
	}
	return setups
}
