package sdktest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// tableOfBatches answers BatchWriteItem: calls above its rate come back with all items unprocessed.
type tableOfBatches struct{ limitOf }

func (s *tableOfBatches) Do(r *http.Request) (*http.Response, error) {
	var in struct{ RequestItems json.RawMessage }
	if err := json.Unmarshal([]byte(bodyOf(r)), &in); err != nil {
		return nil, err
	}
	pause(answerTime)
	if s.take(1) == 1 {
		return response(200, `{"UnprocessedItems":{}}`), nil
	}
	return response(200, `{"UnprocessedItems":`+string(in.RequestItems)+`}`), nil
}

// TestThrottlesInsideOfSuccessesAreHeard prints a table with -v: four workers that call
// again at once, against a table that takes ten calls a second. The last two have the loop of the documentation.
func TestThrottlesInsideOfSuccessesAreHeard(t *testing.T) {
	const limit, length, learned = 10, time.Minute, 3 * time.Second
	t.Log("| | calls/s | throttled | goodput |")
	for i, rival := range append(rivals, rivals[:2]...) {
		loop := i >= len(rivals)
		if !rival.adapts() && !testing.Verbose() { // half a minute of a processor
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			service := &tableOfBatches{limitOf{rate: limit, burst: limit}}
			client := dynamodb.NewFromConfig(rival.config(t, service))
			call := func(ctx context.Context) error {
				for wait := 100 * time.Millisecond; ; wait = min(2*wait, 20*time.Second) {
					out, err := client.BatchWriteItem(ctx, oneItem())
					if !loop || err != nil || len(out.UnprocessedItems) == 0 {
						return err
					}
					sleep(ctx, wait)
				}
			}
			work(t, learned, length, service.forget, &crew{workers: 4, call: call})
			calls := float64(service.allowed + service.refused)
			share, goodput := float64(service.refused)/calls, float64(service.allowed)/length.Seconds()/limit
			t.Logf("| %s, loop %t | %.1f | %.1f %% | %.2f |", rival.name, loop, calls/length.Seconds(), 100*share, goodput)
			if rival.adapts() {
				require.LessOrEqual(t, share, 0.1)
				require.GreaterOrEqual(t, goodput, 0.9)
			}
		})
	}
}

func oneItem() *dynamodb.BatchWriteItemInput {
	item := map[string]dynamotypes.AttributeValue{"id": &dynamotypes.AttributeValueMemberS{Value: "1"}}
	return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]dynamotypes.WriteRequest{
		"orders": {{PutRequest: &dynamotypes.PutRequest{Item: item}}},
	}}
}

// stream answers PutRecords: records above its rate are throttled, and one in a hundred fails otherwise.
type stream struct {
	limitOf

	random  *rand.Rand // guarded by mu, as all below
	written map[string]int
	last    time.Time // when a record was written last
}

func (s *stream) Do(r *http.Request) (*http.Response, error) {
	var in struct {
		Records []struct{ PartitionKey string }
	}
	if err := json.Unmarshal([]byte(bodyOf(r)), &in); err != nil {
		return nil, err
	}
	pause(answerTime)
	room := s.take(len(in.Records))
	s.mu.Lock()
	defer s.mu.Unlock()
	var records []string
	failed := 0
	for _, record := range in.Records {
		switch {
		case room == 0:
			records = append(records, `{"ErrorCode":"ProvisionedThroughputExceededException","ErrorMessage":"slow down"}`)
			failed++
		case s.random.Float64() < 0.01:
			room--
			records = append(records, `{"ErrorCode":"InternalFailure","ErrorMessage":"sorry"}`)
			failed++
		default:
			room--
			s.written[record.PartitionKey]++
			s.last = time.Now()
			records = append(records, fmt.Sprintf(`{"SequenceNumber":"%d","ShardId":"0"}`, len(s.written)))
		}
	}
	return response(200, fmt.Sprintf(`{"FailedRecordCount":%d,"Records":[%s]}`, failed, strings.Join(records, ","))), nil
}

// putByLoop puts records as the documentation of AWS says: what failed is sent again, with a backoff.
func putByLoop(ctx context.Context, client *kinesis.Client, stream string, records []types.PutRecordsRequestEntry, size int) (left int) {
	for len(records) > 0 {
		some := records[:min(size, len(records))]
		records = records[len(some):]
		for attempt := 0; len(some) > 0; attempt++ {
			out, err := client.PutRecords(ctx, &kinesis.PutRecordsInput{StreamName: &stream, Records: some})
			if err != nil {
				left += len(some)
				break
			}
			var again []types.PutRecordsRequestEntry
			for i, r := range out.Records {
				if r.ErrorCode != nil {
					again = append(again, some[i])
				}
			}
			if some = again; len(some) > 0 {
				pause(time.Duration(rand.Float64() * float64(min(100*time.Millisecond<<attempt, 20*time.Second))))
			}
		}
	}
	return left
}

// newStream is a stream whose clients put records.
func newStream(rate, burst float64) *stream {
	return &stream{limitOf: limitOf{rate: rate, burst: burst}, written: map[string]int{}, random: rand.New(rand.NewPCG(1, 2))}
}

// putting returns a function that puts n records with keys of their own, so many in a call, and returns how many are left. The
// SDK has the loop of its documentation.
func (s *stream) putting(t *testing.T, rival rival) func(ctx context.Context, key string, n, inCall int) (left int) {
	t.Helper()
	cfg := rival.config(t, s)
	client := kinesis.NewFromConfig(cfg)
	return func(ctx context.Context, key string, n, inCall int) (left int) {
		records := make([]record, n)
		for i := range records {
			records[i] = record{PartitionKey: aws.String(fmt.Sprint(key, "-", i)), Data: []byte("x")}
		}
		if !rival.ours {
			return putByLoop(ctx, client, "clicks", records, inCall)
		}
		sent, _ := putRecords(ctx, cfg, client, "clicks", records, inCall)
		for _, one := range sent {
			if one.Err != nil {
				left++
			}
		}
		return left
	}
}

// TestSendAllWritesEachRecordOnceOrReportsIt prints a table with -v: 10,000 records of eight
// goroutines, ten in a call, for a stream that takes 200 a second and saves up those of one second.
func TestSendAllWritesEachRecordOnceOrReportsIt(t *testing.T) {
	const goroutines, each, limit, burst = 8, 1250, 200, 200
	const ideal = (goroutines*each - burst) / limit // seconds
	t.Log("| | time, of the ideal | sent for nothing | not written |")
	for _, rival := range rivals {
		if !rival.ours && !testing.Verbose() {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			service := newStream(limit, burst)
			put, began := service.putting(t, rival), time.Now()
			var all sync.WaitGroup
			var left atomic.Int64
			for g := range goroutines {
				all.Go(func() { left.Add(int64(put(t.Context(), strconv.Itoa(g), each, 10))) })
			}
			all.Wait()
			took := service.last.Sub(began).Seconds()
			nothing := float64(service.refused) / (goroutines * each)
			t.Logf("| %s | %.2f | %.1f %% | %d |", rival.name, took/ideal, 100*nothing, left.Load())
			for key, times := range service.written {
				require.Equal(t, 1, times, key)
			}
			require.Equal(t, goroutines*each, len(service.written)+int(left.Load()))
			if of := map[string]string{
				"aws-sdk-go-v2, standard": "and N with a hand-written loop", "awsretry, standard": "N in standard mode",
				"awsretry, adaptive": "For 100 written records, N is throttled in adaptive mode",
			}[rival.name]; of != "" {
				requireFigures(t, "clients.md", of, 1.5, 100*nothing)
			}
			if rival.adapts() {
				require.LessOrEqual(t, nothing, 0.02)
				require.LessOrEqual(t, took, 1.1*ideal)
			}
		})
	}
}

// TestBatchesOfThreeServicesAreSentAgain holds the functions that docs/clients.md points to: the service
// throttles one entry of the first call.
func TestBatchesOfThreeServicesAreSentAgain(t *testing.T) {
	key := func(id string) write {
		return write{PutRequest: &dynamotypes.PutRequest{Item: map[string]dynamotypes.AttributeValue{"id": &dynamotypes.AttributeValueMemberS{Value: id}}}}
	}
	same := func(a, b write) bool { return reflect.DeepEqual(a.PutRequest.Item["id"], b.PutRequest.Item["id"]) }
	for name, c := range map[string]struct {
		answers []string
		send    func(ctx context.Context, cfg aws.Config) (entries int, err error)
	}{
		"PutRecords": {[]string{
			`{"FailedRecordCount":1,"Records":[{"SequenceNumber":"1","ShardId":"0"},{"ErrorCode":"ProvisionedThroughputExceededException"}]}`,
			`{"FailedRecordCount":0,"Records":[{"SequenceNumber":"2","ShardId":"0"}]}`,
		}, func(ctx context.Context, cfg aws.Config) (int, error) {
			records := []record{{PartitionKey: aws.String("a"), Data: []byte("x")}, {PartitionKey: aws.String("b"), Data: []byte("x")}}
			sent, err := putRecords(ctx, cfg, kinesis.NewFromConfig(cfg), "clicks", records, 500)
			return len(sent), err
		}},
		"BatchWriteItem": {[]string{
			`{"UnprocessedItems":{"orders":[{"PutRequest":{"Item":{"id":{"S":"b"}}}}]}}`, `{"UnprocessedItems":{}}`,
		}, func(ctx context.Context, cfg aws.Config) (int, error) {
			sent, err := writeItems(ctx, cfg, dynamodb.NewFromConfig(cfg), "orders", []write{key("a"), key("b")}, same)
			return len(sent), err
		}},
		"SendMessageBatch": {[]string{
			`{"Successful":[],"Failed":[{"Id":"b","Code":"RequestThrottled","SenderFault":false}]}`, `{"Successful":[],"Failed":[]}`,
		}, func(ctx context.Context, cfg aws.Config) (int, error) {
			messages := []message{{Id: aws.String("a"), MessageBody: aws.String("x")}, {Id: aws.String("b"), MessageBody: aws.String("x")}}
			sent, err := sendMessages(ctx, cfg, sqs.NewFromConfig(cfg, func(o *sqs.Options) { o.DisableMessageChecksumValidation = true }), "http://service.test/1/q", messages)
			return len(sent), err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				cfg := installed(t, answerFunc(func(*http.Request) (*http.Response, error) {
					calls++
					return response(200, c.answers[calls-1]), nil
				}), hermetic(awsretry.WithMode(awsretry.ModeAdaptive)))
				strategy, ok := awssdk.StrategyOf(cfg)
				require.True(t, ok)
				cfg.Credentials = credentials.StaticCredentialsProvider{
					Value: aws.Credentials{AccessKeyID: "ID", SecretAccessKey: "SECRET", AccountID: "111122223333"},
				}
				entries, err := c.send(t.Context(), cfg)
				require.NoError(t, err)
				require.Equal(t, 2, entries)
				require.Equal(t, 2, calls)
				scopes := strategy.Snapshot().Scopes
				require.Len(t, scopes, 2, "that of the zero operation, and one that the loop and its calls share")
				require.True(t, scopes[1].Limited, "the throttle inside of the success is heard")
				require.NotEmpty(t, scopes[1].Key.Region)
			})
		})
	}
}

// TestThrottledEntriesOfAnOutputAreCounted makes each call twice: the second time from what the first one has learned.
func TestThrottledEntriesOfAnOutputAreCounted(t *testing.T) {
	const table = "orders"
	list := func(n int, entry string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(entry+",", n), ",") + "]"
	}
	const key, put = `{"id":{"S":"1"}}`, `{"PutRequest":{"Item":{"id":{"S":"1"}}}}`
	item := map[string]dynamotypes.AttributeValue{"id": &dynamotypes.AttributeValueMemberS{Value: "1"}}
	write := func(ctx context.Context, client *dynamodb.Client) error {
		writes := slices.Repeat([]dynamotypes.WriteRequest{{PutRequest: &dynamotypes.PutRequest{Item: item}}}, 25)
		_, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]dynamotypes.WriteRequest{table: writes}})
		return err
	}
	get := func(ctx context.Context, client *dynamodb.Client) error {
		keys := dynamotypes.KeysAndAttributes{Keys: slices.Repeat([]map[string]dynamotypes.AttributeValue{item}, 100)}
		_, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]dynamotypes.KeysAndAttributes{table: keys}})
		return err
	}
	execute := func(ctx context.Context, client *dynamodb.Client) error {
		statements := slices.Repeat([]dynamotypes.BatchStatementRequest{{Statement: aws.String("SELECT * FROM orders")}}, 2)
		_, err := client.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: statements})
		return err
	}
	single := func(ctx context.Context, client *dynamodb.Client) error {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: item})
		return err
	}
	unprocessedKeys := `{"UnprocessedKeys":{"orders":{"Keys":` + list(7, key) + `}}}`
	for _, c := range []struct {
		name          string
		call          func(ctx context.Context, client *dynamodb.Client) error
		body          string
		size          int64 // that the response has; 0 for that of the body
		throttled, of int
	}{
		{"writes", write, `{"UnprocessedItems":{"orders":` + list(3, put) + `}}`, 0, 3, 25},
		{"all written", write, `{"UnprocessedItems":{}}`, 0, 0, 0},
		{"keys", get, unprocessedKeys, 1 << 20, 7, 100},
		{"keys, of a response whose size is not known", get, unprocessedKeys, -1, 7, 100},
		{"keys that did not fit into the response", get, unprocessedKeys, 16 << 20, 0, 0},
		{"statements", execute, `{"Responses":[{},{"Error":{"Code":"ThrottlingError"}}]}`, 0, 1, 2},
		{"no batch", single, `{}`, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ended []retry.Event
			observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.AttemptEnded {
					ended = append(ended, e)
				}
			})
			client := dynamodb.NewFromConfig(installed(t, answerFunc(func(*http.Request) (*http.Response, error) {
				answer := response(200, c.body)
				answer.ContentLength = cmp.Or(c.size, answer.ContentLength)
				return answer, nil
			}), hermetic(awsretry.WithObserver(observer))))
			for range 2 {
				require.NoError(t, c.call(t.Context(), client))
			}
			require.Len(t, ended, 2)
			for _, e := range ended {
				require.Equal(t, c.throttled, e.EntriesThrottled)
				require.Equal(t, c.of, e.Entries)
			}
		})
	}
}

// TestReasonsOfCanceledTransactions: a throttle among them counts by its share, and ThrottledTransactions retries it if nothing
// else has canceled the transaction.
func TestReasonsOfCanceledTransactions(t *testing.T) {
	t.Parallel()
	operations := []func(ctx context.Context, c *dynamodb.Client) error{
		func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: make([]dynamotypes.TransactWriteItem, 1)})
			return err
		},
		func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []dynamotypes.TransactGetItem{{Get: &dynamotypes.Get{
				TableName: aws.String("orders"), Key: map[string]dynamotypes.AttributeValue{},
			}}}})
			return err
		},
		func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{TransactStatements: []dynamotypes.ParameterizedStatement{{Statement: aws.String("s")}}})
			return err
		},
	}
	for reasons, want := range map[string]struct {
		throttled, of int
		retried       bool
	}{
		"ThrottlingError":                                       {1, 1, true},
		"None ProvisionedThroughputExceeded None":               {1, 3, true},
		"ThrottlingError RequestLimitExceeded":                  {2, 2, true},
		"ThrottlingError ConditionalCheckFailed ItemCollection": {1, 3, false},
		"None TransactionConflict":                              {},
		"":                                                      {},
	} {
		var list []string
		for code := range strings.FieldsSeq(reasons) {
			list = append(list, `{"Code":"`+code+`"}`)
		}
		service := newScript(say(400, `{"__type":"TransactionCanceledException","CancellationReasons":[`+strings.Join(list, ",")+`]}`))
		var ended retry.Event
		cfg := installed(t, service, hermetic(noBackoff(), awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(2),
			awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.AttemptEnded {
					ended = e
				}
			}))))
		also := installed(t, service, hermetic(noBackoff(), awsretry.WithMaxAttempts(2),
			awsretry.WithClassifier(classify.Also(classify.ThrottledTransactions()))))
		for _, call := range operations {
			before := service.requests()
			var canceled *dynamotypes.TransactionCanceledException
			require.ErrorAs(t, call(t.Context(), dynamodb.NewFromConfig(cfg)), &canceled)
			require.Equal(t, before+1, service.requests(), "as the SDK: no retry")
			require.False(t, ended.Verdict.Retryable())
			require.Equal(t, want.throttled, ended.EntriesThrottled, reasons)
			require.Equal(t, want.of, ended.Entries, reasons)
			require.Error(t, call(t.Context(), dynamodb.NewFromConfig(also)))
			require.Equal(t, want.retried, service.requests() == before+3, reasons)
		}
	}
}

// tableOfTransactions cancels transactions above its rate, because of a throttle of their first item.
type tableOfTransactions struct{ limitOf }

func (s *tableOfTransactions) Do(r *http.Request) (*http.Response, error) {
	var in struct{ TransactItems []any }
	if err := json.Unmarshal([]byte(bodyOf(r)), &in); err != nil {
		return nil, err
	}
	pause(answerTime)
	if s.take(1) == 1 {
		return response(200, `{}`), nil
	}
	reasons := slices.Repeat([]string{`{"Code":"None"}`}, len(in.TransactItems))
	reasons[0] = `{"Code":"ThrottlingError","Message":"slow down"}`
	return response(400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[`+strings.Join(reasons, ",")+`]}`), nil
}

// TestThrottledTransactionsAreHeard prints a table with -v: six workers that call again at once, against a table
// that takes twenty transactions a second, or hardly any, and throttles one item of those above.
func TestThrottledTransactionsAreHeard(t *testing.T) {
	const length = 20 * time.Second
	retried := awsretry.WithClassifier(classify.Also(classify.ThrottledTransactions()))
	t.Log("| | calls | fail | throttled requests | goodput |")
	for i, rival := range append(rivals, rivals[2:]...) {
		also := i >= len(rivals)
		for limit, items := range map[float64]int{20: 2, 1: 100} {
			if !rival.adapts() && limit == 1 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				service := &tableOfTransactions{limitOf{rate: limit, burst: limit}}
				cfg := rival.config(t, service)
				if also {
					cfg = installed(t, service, hermetic(awsretry.WithMode(rival.mode), retried))
				}
				client := dynamodb.NewFromConfig(cfg)
				item := dynamotypes.TransactWriteItem{Put: &dynamotypes.Put{TableName: aws.String("orders"), Item: map[string]dynamotypes.AttributeValue{}}}
				all := slices.Repeat([]dynamotypes.TransactWriteItem{item}, items)
				calls := &crew{workers: 6, call: func(ctx context.Context) error { // the client writes a token into the input
					_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: all})
					return err
				}}
				work(t, 0, length, service.forget, calls)
				requests := service.allowed + service.refused
				share, goodput := float64(service.refused)/float64(requests), float64(service.allowed)/limit/length.Seconds()
				t.Logf("| %s, of %d items, retried %t | %d | %d | %.1f %% of %d | %.2f |", rival.name, items, also,
					calls.succeeded+calls.failed, calls.failed, 100*share, requests, goodput)
				if of := map[string]string{
					"aws-sdk-go-v2, adaptive": "and N % with the SDK", "awsretry, adaptive": "have N % of their requests throttled",
				}[rival.name]; of != "" && limit == 20 && !also {
					requireFigures(t, "clients.md", of, 1.5, 100*share)
				}
				switch {
				case !rival.adapts():
				case limit == 1: // and no success for long
					require.Less(t, requests, 60)
				default:
					require.LessOrEqual(t, share, 0.05)
					require.GreaterOrEqual(t, goodput, 0.9)
					require.Equal(t, also, calls.failed == 0)
				}
			})
		}
	}
}
