//go:build long

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
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
)

// A takes five requests a second, and a burst of five. B takes all requests. A request takes 50
// ms.
const (
	limitOfA = 5.0
	latency  = 50 * time.Millisecond
	workers  = 4 // for each of the two
	warmUp   = 5 * time.Second
	measured = 20 * time.Second
)

// pair is two things that one service counts apart, and calls that use them.
type pair struct {
	isA   func(r *http.Request, body string) bool
	code  string // of the error of a throttle
	word  string // for the limit, or empty
	calls func(cfg aws.Config) (a, b func(ctx context.Context) error)
}

// throttledBy is a throttle of DynamoDB with a word for the limit, or without one.
func throttledBy(code, word string) *http.Response {
	answer := jsonError(400, code)
	if word != "" {
		body := `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"made up","throttlingReasons":[{"reason":"` +
			word + `","resource":"arn:aws:dynamodb:eu-central-1:111122223333:table/orders"}]}`
		answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	return answer
}

// twoTables are the tables A and B of one client.
var twoTables = pair{
	isA:  func(_ *http.Request, body string) bool { return strings.Contains(body, `"TableName":"A"`) },
	code: "ProvisionedThroughputExceededException",
	calls: func(cfg aws.Config) (a, b func(ctx context.Context) error) {
		client := dynamodb.NewFromConfig(cfg)
		return getItem(client, "A"), getItem(client, "B")
	},
}

// twoKeys are a hot key A and other keys B of one table.
var twoKeys = pair{
	isA:  func(_ *http.Request, body string) bool { return strings.Contains(body, `"S":"hot"`) },
	code: "ThrottlingException",
	word: "TableReadKeyRangeThroughputExceeded",
	calls: func(cfg aws.Config) (a, b func(ctx context.Context) error) {
		client := dynamodb.NewFromConfig(cfg)
		get := func(key string) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				_, err := client.GetItem(ctx, &dynamodb.GetItemInput{
					TableName: aws.String("orders"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: key}},
				})
				return err
			}
		}
		return get("hot"), get("cold")
	},
}

// twoAccounts are tables of the same name in the accounts A and B, with a client for each.
var twoAccounts = pair{
	isA: func(r *http.Request, _ string) bool {
		return strings.Contains(r.Header.Get("Authorization"), "Credential=KEY-OF-111122223333/")
	},
	code: "ProvisionedThroughputExceededException",
	calls: func(cfg aws.Config) (a, b func(ctx context.Context) error) {
		in := func(account string) func(ctx context.Context) error {
			return getItem(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
				o.Credentials = aws.NewCredentialsCache(inAccount(account))
			}), "orders")
		}
		return in("111122223333"), in("444455556666")
	},
}

// twoOperations are the operations ListStreams (A), for which AWS documents five requests a second,
// and DescribeStreamSummary (B) of Kinesis.
var twoOperations = pair{
	isA: func(r *http.Request, _ string) bool {
		return strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".ListStreams")
	},
	code: "LimitExceededException",
	calls: func(cfg aws.Config) (a, b func(ctx context.Context) error) {
		client := kinesis.NewFromConfig(cfg)
		a = func(ctx context.Context) error {
			_, err := client.ListStreams(ctx, &kinesis.ListStreamsInput{})
			return err
		}
		b = func(ctx context.Context) error {
			_, err := client.DescribeStreamSummary(ctx, &kinesis.DescribeStreamSummaryInput{StreamName: aws.String("clicks")})
			return err
		}
		return a, b
	},
}

// meter is a service that throttles A.
type meter struct {
	pair

	mu     sync.Mutex // guards both
	tokens float64
	at     time.Time
}

func (s *meter) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	pause(latency)
	if s.isA(r, string(body)) && !s.take() {
		return throttledBy(s.code, s.word), nil
	}
	return response(200, `{}`), nil
}

func (s *meter) take() bool {
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

// traffic is what the calls of the workers of one of the two came to.
type traffic struct {
	mu        sync.Mutex // guards all below
	succeeded int
	failed    int
	took      []time.Duration
	ends      []time.Duration // of the successes, those of the warm-up too, since the start
}

func (t *traffic) p99() time.Duration {
	slices.Sort(t.took)
	if len(t.took) == 0 {
		return 0
	}
	return t.took[len(t.took)*99/100]
}

// drive lets the workers of both, or of B alone, make calls.
func drive(t *testing.T, callA, callB func(ctx context.Context) error, withA bool) (a, b *traffic) {
	t.Helper()
	a, b = &traffic{}, &traffic{}
	start := time.Now()
	// This is no deadline, because a call that cannot end before one is refused at once.
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range workers {
		if withA {
			all.Go(func() { work(ctx, callA, a, start) })
		}
		all.Go(func() { work(ctx, callB, b, start) })
	}
	pause(warmUp + measured)
	cancel()
	all.Wait()
	return a, b
}

func work(ctx context.Context, call func(ctx context.Context) error, done *traffic, start time.Time) {
	for ctx.Err() == nil {
		began := time.Now()
		err := call(ctx)
		if ctx.Err() != nil {
			continue
		}
		done.mu.Lock()
		if err == nil {
			done.ends = append(done.ends, time.Since(start))
		}
		switch {
		case began.Sub(start) < warmUp:
		case err == nil:
			done.succeeded++
			done.took = append(done.took, time.Since(began))
		default:
			done.failed++
		}
		done.mu.Unlock()
	}
}

// rival is a retryer of the test.
type rival struct {
	name  string
	setup func(t *testing.T, client aws.HTTPClient) aws.Config
	apart bool // must keep A and B apart
}

var rivals = []rival{
	{"aws-sdk-go-v2, standard", func(_ *testing.T, client aws.HTTPClient) aws.Config {
		return configFor(client)
	}, false},
	{"aws-sdk-go-v2, adaptive", func(_ *testing.T, client aws.HTTPClient) aws.Config {
		cfg := configFor(client)
		shared := exactAdaptive{sdkretry.NewAdaptiveMode()}
		cfg.Retryer = func() aws.Retryer { return shared } // by all clients, as our strategy is
		return cfg
	}, false},
	{"awsretry, standard", func(t *testing.T, client aws.HTTPClient) aws.Config {
		t.Helper()
		return installed(t, client, hermetic(awsretry.WithMode(awsretry.ModeStandard)))
	}, true},
	{"awsretry, adaptive", func(t *testing.T, client aws.HTTPClient) aws.Config {
		t.Helper()
		return installed(t, client, hermetic(awsretry.WithMode(awsretry.ModeAdaptive)))
	}, true},
}

// TestThrottledTableLeavesTheOtherAlone prints a table of docs/modes.md with -v, and so do the three
// tests below.
func TestThrottledTableLeavesTheOtherAlone(t *testing.T) { requireApart(t, twoTables) }

func TestThrottledAccountLeavesTheOtherAlone(t *testing.T) { requireApart(t, twoAccounts) }

func TestThrottledOperationLeavesTheOtherAlone(t *testing.T) { requireApart(t, twoOperations) }

// TestThrottledKeyLeavesTheOtherAlone also holds what the hot key itself gets: in adaptive mode no call
// of it fails.
func TestThrottledKeyLeavesTheOtherAlone(t *testing.T) {
	for name, a := range requireApart(t, twoKeys) {
		if strings.HasSuffix(name, "adaptive") {
			require.Zero(t, a.failed, name)
		}
	}
}

// requireApart returns the traffic of A by rival.
func requireApart(t *testing.T, p pair) map[string]*traffic {
	t.Helper()
	all := map[string]*traffic{}
	lines := []string{"", "| | A, succeeded/s | A, failed/s | B/s | B/s without A | B, p99 |", "|---|---|---|---|---|---|"}
	for _, rival := range rivals {
		t.Run(rival.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := func(withA bool) (a, b *traffic) {
					callA, callB := p.calls(rival.setup(t, &meter{pair: p}))
					return drive(t, callA, callB, withA)
				}
				_, alone := run(false)
				a, b := run(true)
				all[rival.name] = a
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
	return all
}

func perSecond(n int) float64 { return float64(n) / measured.Seconds() }

// throttleMeter counts the throttles of a meter.
type throttleMeter struct {
	meter

	mu        sync.Mutex
	throttles int // guarded by mu
}

func (c *throttleMeter) Do(r *http.Request) (*http.Response, error) {
	answer, err := c.meter.Do(r)
	if err == nil && answer.StatusCode != http.StatusOK {
		c.mu.Lock()
		c.throttles++
		c.mu.Unlock()
	}
	return answer, err
}

// tableCalls is what became of the calls of a table.
type tableCalls struct {
	traffic

	throttles int
}

func (s *tableCalls) failed() float64 {
	return float64(s.traffic.failed) / float64(s.traffic.failed+s.succeeded)
}

// TestHealthyTableHelpsTheThrottledOne prints a table of docs/modes.md with -v. Workers call again
// after 50 ms, in standard mode. A quota of its own alone would leave table A without retries: then nine of
// ten of its calls fail, where one of eight does with the SDK.
func TestHealthyTableHelpsTheThrottledOne(t *testing.T) {
	lines := []string{"| | workers of A / B | A, failed | A, succeeded/s | A, throttles/s | B, failed | B/s |", "|---|---|---|---|---|---|---|"}
	for _, load := range []struct{ a, b int }{{8, 8}, {8, 2}, {8, 0}} {
		failed := map[string]float64{}
		for _, name := range []string{"aws-sdk-go-v2", "awsretry"} {
			var a, b tableCalls
			for range 5 {
				synctest.Test(t, func(t *testing.T) {
					service := &throttleMeter{meter: meter{pair: twoTables}}
					cfg := configFor(service)
					if name == "awsretry" {
						cfg = installed(t, service, hermetic(awsretry.WithMode(awsretry.ModeStandard)))
					}
					callA, callB := twoTables.calls(cfg)
					pausing(t, callA, load.a, &a, callB, load.b, &b)
					a.throttles += service.throttles
				})
			}
			failed[name] = a.failed()
			seconds := 5 * (warmUp + measured).Seconds()
			line := fmt.Sprintf("| %s | %d / %d | %.1f %% | %.1f | %.0f |", name, load.a, load.b,
				100*a.failed(), float64(a.succeeded)/seconds, float64(a.throttles)/seconds)
			if load.b > 0 {
				line += fmt.Sprintf(" %.1f %% | %.0f |", 100*b.failed(), float64(b.succeeded)/seconds)
			} else {
				line += " - | - |"
			}
			lines = append(lines, line)
			require.Zero(t, b.traffic.failed, name)
		}
		if load.b > 0 { // else it depends on the jitter how long the tokens last
			require.Less(t, failed["awsretry"], failed["aws-sdk-go-v2"]+0.05, "%+v", load)
		}
	}
	t.Log(strings.Join(lines, "\n"))
}

// pausing lets workers of both tables make calls, with 50 ms between them.
func pausing(t *testing.T, callA func(context.Context) error, ofA int, a *tableCalls, callB func(context.Context) error, ofB int, b *tableCalls) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	start := func(workers int, call func(context.Context) error, done *tableCalls) {
		for range workers {
			all.Go(func() {
				for ctx.Err() == nil {
					work(ctx, func(ctx context.Context) error {
						defer pause(latency)
						return call(ctx)
					}, &done.traffic, time.Time{})
				}
			})
		}
	}
	start(ofA, callA, a)
	start(ofB, callB, b)
	pause(warmUp + measured)
	cancel()
	all.Wait()
}
