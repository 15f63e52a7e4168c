package sdktest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
)

// Table A takes five requests a second, and a burst of five. Table B takes all requests. A
// request takes 50 ms.
const (
	limitOfA = 5.0
	latency  = 50 * time.Millisecond
	workers  = 4 // for each table
	warmUp   = 5 * time.Second
	measured = 20 * time.Second
)

// tables is DynamoDB with the tables A and B.
type tables struct {
	mu     sync.Mutex // guards both
	tokens float64
	at     time.Time
}

func (s *tables) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	pause(latency)
	if strings.Contains(string(body), `"TableName":"A"`) && !s.take() {
		return jsonError(400, "ProvisionedThroughputExceededException"), nil
	}
	return response(200, `{}`), nil
}

func (s *tables) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.tokens = min(limitOfA, s.tokens+limitOfA*now.Sub(s.at).Seconds())
	s.at = now
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	return true
}

// traffic is what the calls of the workers of a table came to.
type traffic struct {
	mu        sync.Mutex // guards all below
	succeeded int
	failed    int
	took      []time.Duration
}

func (t *traffic) p99() time.Duration {
	slices.Sort(t.took)
	if len(t.took) == 0 {
		return 0
	}
	return t.took[len(t.took)*99/100]
}

// drive lets the workers of both tables, or of B alone, make calls with one client.
func drive(t *testing.T, client *dynamodb.Client, withA bool) (a, b *traffic) {
	t.Helper()
	a, b = &traffic{}, &traffic{}
	start := time.Now()
	// This is no deadline, because a call that cannot end before one is refused at once.
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range workers {
		if withA {
			all.Go(func() { work(ctx, client, "A", a, start) })
		}
		all.Go(func() { work(ctx, client, "B", b, start) })
	}
	pause(warmUp + measured)
	cancel()
	all.Wait()
	return a, b
}

func work(ctx context.Context, client *dynamodb.Client, table string, done *traffic, start time.Time) {
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	for ctx.Err() == nil {
		began := time.Now()
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key})
		if began.Sub(start) < warmUp || ctx.Err() != nil {
			continue
		}
		done.mu.Lock()
		if err == nil {
			done.succeeded++
			done.took = append(done.took, time.Since(began))
		} else {
			done.failed++
		}
		done.mu.Unlock()
	}
}

// pollingAdaptive is the adaptive mode of the SDK with another wait. That of the SDK rounds
// waits down: on a clock that wakes it at the very instant it then waits for no time, for ever.
// This one asks every millisecond.
type pollingAdaptive struct{ *sdkretry.AdaptiveMode }

func (r pollingAdaptive) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	for {
		release, err := r.AdaptiveMode.GetAttemptToken(ctx)
		if err == nil || ctx.Err() != nil {
			return release, err
		}
		sleep(ctx, time.Millisecond)
	}
}

func sdkAdaptive() aws.Retryer {
	return pollingAdaptive{sdkretry.NewAdaptiveMode(func(o *sdkretry.AdaptiveModeOptions) {
		o.FailOnNoAttemptTokens = true
	})}
}

// rivals are the retryers of the test. Those of this module must keep the tables apart.
var rivals = []struct {
	name  string
	setup func(t *testing.T, client aws.HTTPClient) aws.Config
	apart bool
}{
	{"aws-sdk-go-v2, standard", func(_ *testing.T, client aws.HTTPClient) aws.Config {
		return configFor(client)
	}, false},
	{"aws-sdk-go-v2, adaptive", func(_ *testing.T, client aws.HTTPClient) aws.Config {
		cfg := configFor(client)
		cfg.Retryer = sdkAdaptive
		return cfg
	}, false},
	{"awsretry, standard", func(t *testing.T, client aws.HTTPClient) aws.Config {
		t.Helper()
		return installed(t, client, hermetic(awsretry.WithMode(awsretry.ModeStandard), awsretry.WithBehavior(generationOf(t))))
	}, true},
	{"awsretry, adaptive", func(t *testing.T, client aws.HTTPClient) aws.Config {
		t.Helper()
		return installed(t, client, hermetic(awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithBehavior(generationOf(t))))
	}, true},
}

// TestThrottledTableLeavesTheOtherAlone prints the table of docs/modes.md with -v.
func TestThrottledTableLeavesTheOtherAlone(t *testing.T) {
	generations(t, func(t *testing.T) {
		t.Helper()
		lines := []string{"generation " + string(generationOf(t)), "| | A, succeeded/s | A, failed/s | B/s | B/s without A | B, p99 |", "|---|---|---|---|---|---|"}
		for _, rival := range rivals {
			t.Run(rival.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, alone := drive(t, dynamodb.NewFromConfig(rival.setup(t, &tables{})), false)
					a, b := drive(t, dynamodb.NewFromConfig(rival.setup(t, &tables{})), true)
					lines = append(lines, fmt.Sprintf("| %s | %.1f | %.1f | %.1f | %.1f | %v |", rival.name,
						perSecond(a.succeeded), perSecond(a.failed), perSecond(b.succeeded), perSecond(alone.succeeded), b.p99()))
					if rival.apart {
						require.GreaterOrEqual(t, perSecond(b.succeeded), 0.98*perSecond(alone.succeeded))
						require.Equal(t, alone.p99(), b.p99())
						require.InDelta(t, limitOfA, perSecond(a.succeeded), 0.2*limitOfA, "A gets what it allows")
					}
				})
			})
		}
		t.Log(strings.Join(lines, "\n"))
	})
}

func perSecond(n int) float64 { return float64(n) / measured.Seconds() }
