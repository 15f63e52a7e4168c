//go:build long

package sdktest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/stretchr/testify/require"
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
	title string // in the table of docs/modes.md
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
	title: "two keys of a table",
	isA:   func(_ *http.Request, body string) bool { return strings.Contains(body, `"S":"hot"`) },
	code:  "ThrottlingException",
	word:  "TableReadKeyRangeThroughputExceeded",
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
	title: "the same table in two accounts",
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
	limitOf
}

func newMeter(p pair) *meter {
	return &meter{pair: p, limitOf: limitOf{rate: limitOfA, burst: limitOfA}}
}

func (s *meter) Do(r *http.Request) (*http.Response, error) {
	body := bodyOf(r)
	pause(latency)
	if s.isA(r, body) && s.take(1) == 0 {
		return throttledBy(s.code, s.word), nil
	}
	return response(200, `{}`), nil
}

// drive lets the workers of both, or of B alone, call again at once.
func (p pair) drive(t *testing.T, cfg aws.Config, withA bool) (a, b *crew) {
	t.Helper()
	callA, callB := p.calls(cfg)
	a, b = &crew{call: callA}, &crew{workers: workers, call: callB}
	if withA {
		a.workers = workers
	}
	work(t, warmUp, measured, func() {}, a, b)
	return a, b
}

// TestThrottledTableLeavesTheOtherAlone prints a table of docs/modes.md with -v, and so do the three
// tests below.
func TestThrottledTableLeavesTheOtherAlone(t *testing.T) { requireApart(t, twoTables) }

func TestThrottledAccountLeavesTheOtherAlone(t *testing.T) { requireApart(t, twoAccounts) }

func TestThrottledOperationLeavesTheOtherAlone(t *testing.T) { requireApart(t, twoOperations) }

// TestThrottledKeyLeavesTheOtherAlone also holds what the hot key itself gets: in adaptive mode no call
// of it fails.
func TestThrottledKeyLeavesTheOtherAlone(t *testing.T) {
	require.Zero(t, requireApart(t, twoKeys)["awsretry, adaptive"].failed)
}

// requireApart returns the calls of A by rival.
func requireApart(t *testing.T, p pair) map[string]*crew {
	t.Helper()
	all := map[string]*crew{}
	lines := []string{"", "| | A, succeeded/s | A, failed/s | B/s | B/s without A | B, p99 |", "|---|---|---|---|---|---|"}
	for _, rival := range rivals {
		t.Run(rival.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, alone := p.drive(t, rival.config(t, newMeter(p)), false)
				a, b := p.drive(t, rival.config(t, newMeter(p)), true)
				all[rival.name] = a
				lines = append(lines, fmt.Sprintf("| %s | %.1f | %.1f | %.1f | %.1f | %v |", rival.name,
					perSecond(a.succeeded), perSecond(a.failed), perSecond(b.succeeded), perSecond(alone.succeeded), b.p99()))
				if p.title != "" && rival.ours && rival.adapts() {
					requireFigures(t, "modes.md", "| "+p.title+", awsretry | N | N | N s |", 1.02, perSecond(a.succeeded), perSecond(b.succeeded), b.p99().Seconds())
				}
				if rival.ours {
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

// TestHealthyTableHelpsTheThrottledOne prints a table of docs/modes.md with -v. Workers call again
// after 50 ms, in standard mode. A quota of its own alone would leave table A without retries: then nine of
// ten of its calls fail, where one of eight does with the SDK.
func TestHealthyTableHelpsTheThrottledOne(t *testing.T) {
	const runs, ofA = 5, 8
	t.Log("| | workers of B | A, failed | A, succeeded/s | A, throttles/s |")
	for _, ofB := range []int{8, 2, 0} {
		failed := map[bool]float64{}
		for _, rival := range []rival{rivals[0], rivals[2]} {
			a, b := &crew{workers: ofA, between: latency}, &crew{workers: ofB, between: latency}
			throttles := 0
			for range runs {
				synctest.Test(t, func(t *testing.T) {
					service := newMeter(twoTables)
					a.call, b.call = twoTables.calls(rival.config(t, service))
					work(t, 0, warmUp+measured, func() {}, a, b)
					throttles += service.refused
				})
			}
			failed[rival.ours] = a.failedShare()
			seconds := runs * (warmUp + measured).Seconds()
			t.Logf("| %s | %d | %.1f %% | %.1f | %.0f |", rival.name, ofB, 100*a.failedShare(), float64(a.succeeded)/seconds, float64(throttles)/seconds)
			require.Zero(t, b.failed, rival.name)
		}
		if ofB > 0 { // else it depends on the jitter how long the tokens last
			requireFigures(t, "modes.md", fmt.Sprintf("| %d | N %% | N %% |", ofB), 2, 100*failed[false], 100*failed[true])
			require.Less(t, failed[true], failed[false]+0.05, ofB)
		}
	}
}
