package sdktest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
)

// limitOf allows a rate with a burst.
type limitOf struct {
	rate, burst float64

	mu     sync.Mutex // guards both
	tokens float64
	at     time.Time
}

// take takes up to n tokens.
func (b *limitOf) take(n int) (taken int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.at.IsZero() {
		b.tokens = b.burst
	} else {
		b.tokens = min(b.burst, b.tokens+b.rate*now.Sub(b.at).Seconds())
	}
	b.at = now
	taken = min(n, int(b.tokens+1e-9))
	b.tokens -= float64(taken)
	return taken
}

// tableOfBatches answers BatchWriteItem: calls above its rate come back with all items unprocessed.
type tableOfBatches struct {
	limitOf

	seen []batchAnswer // guarded by mu
}

type batchAnswer struct {
	at        time.Time
	throttled bool
}

func (s *tableOfBatches) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	pause(answerTime)
	throttled := s.take(1) == 0
	s.mu.Lock()
	s.seen = append(s.seen, batchAnswer{time.Now(), throttled})
	s.mu.Unlock()
	if !throttled {
		return response(200, `{"UnprocessedItems":{}}`), nil
	}
	var in struct{ RequestItems json.RawMessage }
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	return response(200, `{"UnprocessedItems":`+string(in.RequestItems)+`}`), nil
}

// TestThrottlesInsideOfSuccessesAreHeard prints a table of RESULTS.md with -v: four workers that call
// again at once, against a table that takes ten calls a second.
func TestThrottlesInsideOfSuccessesAreHeard(t *testing.T) {
	t.Setenv("AWS_NEW_RETRIES_2026", "true")
	const limit, length, learned = 10, 63 * time.Second, 3 * time.Second
	t.Log("| | calls/s | throttled | goodput |")
	for _, name := range append(named(), "loop of the documentation, standard", "loop of the documentation, adaptive") {
		synctest.Test(t, func(t *testing.T) {
			service := &tableOfBatches{limitOf: limitOf{rate: limit, burst: limit}}
			loop, mode := false, name
			if rest, ok := strings.CutPrefix(name, "loop of the documentation, "); ok {
				loop, mode = true, "aws-sdk-go-v2, "+rest
			}
			client := dynamodb.NewFromConfig(clientsOf(t, service)[mode])
			// This is no deadline, because a call that cannot end before one is refused at once.
			ctx, cancel := context.WithCancel(t.Context())
			began := time.Now()
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					for wait := 100 * time.Millisecond; ctx.Err() == nil; {
						out, err := client.BatchWriteItem(ctx, oneItem())
						switch {
						case !loop || err != nil:
						case len(out.UnprocessedItems) == 0:
							wait = 100 * time.Millisecond
						default:
							pause(wait)
							wait = min(2*wait, 20*time.Second)
						}
					}
				})
			}
			pause(length)
			cancel()
			workers.Wait()
			calls, throttled := 0, 0
			for _, a := range service.seen {
				if a.at.Sub(began) >= learned {
					calls++
					if a.throttled {
						throttled++
					}
				}
			}
			seconds := (length - learned).Seconds()
			share, goodput := float64(throttled)/float64(calls), float64(calls-throttled)/seconds/limit
			t.Logf("| %s | %.1f | %.1f %% | %.2f |", name, float64(calls)/seconds, 100*share, goodput)
			if name == "awsretry, adaptive" {
				require.LessOrEqual(t, share, 0.1)
				require.GreaterOrEqual(t, goodput, 0.9)
			}
		})
	}
}

func oneItem() *dynamodb.BatchWriteItemInput {
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
		"orders": {{PutRequest: &types.PutRequest{Item: item}}},
	}}
}
