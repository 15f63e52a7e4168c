package sdktest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// stream answers PutRecords: records above its rate are throttled, and one in a hundred fails otherwise.
type stream struct {
	limitOf

	random    *rand.Rand // guarded by mu, as all below
	written   map[string]int
	throttled int
	last      time.Time // when a record was written last
}

func (s *stream) Do(r *http.Request) (*http.Response, error) {
	var in struct {
		Records []struct{ PartitionKey string }
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
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
			s.throttled++
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

// putAll puts records with SendAll.
func putAll(ctx context.Context, strategy retry.Strategy, client *kinesis.Client, stream string, records []types.PutRecordsRequestEntry) ([]retry.Sent[string], error) {
	op := retry.Operation{Service: "kinesis", Resource: stream, Unpaced: true, Classifier: classify.AWSCompatible()}
	batch := retry.Batch[types.PutRecordsRequestEntry]{Entries: records, MaxEntries: 10}
	return retry.SendAll(ctx, strategy, op, batch, func(ctx context.Context, some []types.PutRecordsRequestEntry) ([]retry.Sent[string], error) {
		out, err := client.PutRecords(ctx, &kinesis.PutRecordsInput{StreamName: &stream, Records: some})
		if err != nil {
			return nil, err
		}
		sent := make([]retry.Sent[string], len(out.Records))
		for i, r := range out.Records {
			if sent[i].Value = aws.ToString(r.SequenceNumber); r.ErrorCode != nil {
				sent[i].Err = &smithy.GenericAPIError{Code: *r.ErrorCode, Message: aws.ToString(r.ErrorMessage)}
			}
		}
		return sent, nil
	})
}

// putByLoop puts records as the documentation of AWS says: what failed is sent again, with a backoff.
func putByLoop(ctx context.Context, client *kinesis.Client, stream string, records []types.PutRecordsRequestEntry) (left int) {
	for len(records) > 0 {
		some := records[:min(10, len(records))]
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

// TestSendAllWritesEachRecordOnceOrReportsIt prints a table with -v: 10,000 records of eight
// goroutines, ten in a call, for a stream that takes 200 a second and saves up those of one second.
func TestSendAllWritesEachRecordOnceOrReportsIt(t *testing.T) {
	t.Setenv("AWS_NEW_RETRIES_2026", "true")
	const goroutines, each, limit, burst = 8, 1250, 200, 200
	const ideal = (goroutines*each - burst) / limit // seconds
	t.Log("| | time, of the ideal | sent for nothing | not written |")
	for _, name := range named() {
		synctest.Test(t, func(t *testing.T) {
			service := &stream{
				limitOf: limitOf{rate: limit, burst: burst}, written: map[string]int{}, random: rand.New(rand.NewPCG(1, 2)),
			}
			cfg := clientsOf(t, service)[name]
			client := kinesis.NewFromConfig(cfg)
			strategy, ours := awssdk.StrategyOf(cfg)
			began := time.Now()
			var all sync.WaitGroup
			left := make([]int, goroutines)
			for g := range goroutines {
				all.Go(func() {
					var records []types.PutRecordsRequestEntry
					for i := range each {
						records = append(records, types.PutRecordsRequestEntry{PartitionKey: aws.String(fmt.Sprint(g, "-", i)), Data: []byte("x")})
					}
					if !ours {
						left[g] = putByLoop(t.Context(), client, "clicks", records)
						return
					}
					sent, _ := putAll(t.Context(), strategy, client, "clicks", records)
					for _, one := range sent {
						if one.Err != nil {
							left[g]++
						}
					}
				})
			}
			all.Wait()
			sum := 0
			for _, n := range left {
				sum += n
			}
			took := service.last.Sub(began).Seconds()
			nothing := float64(service.throttled) / (goroutines * each)
			t.Logf("| %s | %.2f | %.1f %% | %d |", name, took/ideal, 100*nothing, sum)
			for key, times := range service.written {
				require.Equal(t, 1, times, key)
			}
			require.Equal(t, goroutines*each, len(service.written)+sum)
			if name == "awsretry, adaptive" {
				require.LessOrEqual(t, nothing, 0.02)
				require.LessOrEqual(t, took, 1.1*ideal)
			}
		})
	}
}
