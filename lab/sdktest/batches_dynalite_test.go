//go:build dynalite

package sdktest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
)

// narrow is a client of dynalite, which has no limits, that lets a table take so many writes a second: it sends
// on what fits, and says of the rest that it is unprocessed.
type narrow struct {
	limitOf

	unprocessed int // guarded by mu
}

func (n *narrow) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var in struct {
		RequestItems map[string][]json.RawMessage
	}
	if r.Header.Get("X-Amz-Target") != "DynamoDB_20120810.BatchWriteItem" {
		r.Body = io.NopCloser(bytes.NewReader(body))
		return http.DefaultClient.Do(r)
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	const table = "orders"
	items := in.RequestItems[table]
	room := n.take(len(items))
	rest := items[room:]
	n.mu.Lock()
	n.unprocessed += len(rest)
	n.mu.Unlock()
	if room > 0 {
		if body, err = json.Marshal(map[string]any{"RequestItems": map[string]any{table: items[:room]}}); err != nil {
			return nil, err
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		answer, err := http.DefaultClient.Do(r)
		if err != nil || answer.StatusCode != http.StatusOK {
			return answer, err
		}
		if err := answer.Body.Close(); err != nil {
			return nil, err
		}
	}
	left := map[string]any{}
	if len(rest) > 0 {
		left[table] = rest
	}
	text, err := json.Marshal(map[string]any{"UnprocessedItems": left})
	return response(http.StatusOK, string(text)), err
}

// TestNothingIsLostInATableOfFiveWritesASecond prints figures of RESULTS.md with -v. DYNALITE is the path of
// dynalite's cli.js, see lab/scripts/dynalite.
func TestNothingIsLostInATableOfFiveWritesASecond(t *testing.T) {
	program := os.Getenv("DYNALITE") //nolint:forbidigo // of the test alone
	require.NotEmpty(t, program, "DYNALITE is not set: run make dynalite")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	server := exec.CommandContext(t.Context(), "node", program, "--port", port, "--createTableMs", "0")
	server.Stderr = os.Stderr
	require.NoError(t, server.Start())
	require.Eventually(t, func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		return err == nil && conn.Close() == nil
	}, 20*time.Second, 50*time.Millisecond)

	const goroutines, each = 4, 20
	service := &narrow{limitOf: limitOf{rate: 5, burst: 5}}
	cfg := installed(t, service, hermetic(awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(10)))
	cfg.BaseEndpoint = aws.String("http://" + address)
	client := dynamodb.NewFromConfig(cfg)
	_, err = client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:             aws.String("orders"),
		AttributeDefinitions:  []dynamotypes.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: dynamotypes.ScalarAttributeTypeS}},
		KeySchema:             []dynamotypes.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: dynamotypes.KeyTypeHash}},
		ProvisionedThroughput: &dynamotypes.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(5)},
	})
	require.NoError(t, err)
	require.NoError(t, dynamodb.NewTableExistsWaiter(client).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")}, 10*time.Second))

	strategy, _ := awssdk.StrategyOf(cfg)
	same := func(a, b write) bool { return reflect.DeepEqual(a.PutRequest.Item["id"], b.PutRequest.Item["id"]) }
	reported := make([]int, goroutines)
	began := time.Now()
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			var items []write
			for i := range each {
				id := &dynamotypes.AttributeValueMemberS{Value: fmt.Sprint(g, "-", i)}
				items = append(items, write{PutRequest: &dynamotypes.PutRequest{Item: map[string]dynamotypes.AttributeValue{"id": id}}})
			}
			sent, _ := writeItems(context.WithoutCancel(t.Context()), strategy, client, "orders", items, same)
			for _, one := range sent {
				if one.Err != nil {
					reported[g]++
				}
			}
		})
	}
	all.Wait()
	took, left := time.Since(began), 0
	for _, n := range reported {
		left += n
	}
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders")})
	require.NoError(t, err)
	t.Logf("%d written, %d left, %d unprocessed, %.1f s", out.Count, left, service.unprocessed, took.Seconds())
	require.Equal(t, goroutines*each, int(out.Count)+left)
	require.Zero(t, left)
}
