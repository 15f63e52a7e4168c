package micro

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// callGroups is a whole call: GetItem of a DynamoDB client, over loopback, to a
// server that knows one item. The least for it is the same request without the SDK.
func callGroups() []group {
	return []group{
		{"mode=standard", []subject{
			{ours, getItem(installed(newStandard))},
			{sdk, getItem(with(awsretryer.NewStandard()))},
			{limit, bareRequest},
		}},
		{"mode=adaptive", []subject{
			{ours, getItem(installed(newAdaptive))},
			{sdk, getItem(with(awsretryer.NewAdaptiveMode()))},
			{limit, bareRequest},
		}},
	}
}

func BenchmarkCall(b *testing.B) { measure(b, callGroups()) }

const item = `{"Item":{"id":{"S":"1"},"name":{"S":"one"}}}`

// table serves the item.
func table(tb testing.TB) *httptest.Server {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, item)
	}))
	tb.Cleanup(server.Close)
	return server
}

// pooled keeps a connection for every goroutine of a benchmark.
func pooled(tb testing.TB) *http.Client {
	tb.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// configure gives a configuration its retryer.
type configure func(cfg *aws.Config) error

func with(r aws.Retryer) configure {
	return func(cfg *aws.Config) error {
		cfg.Retryer = func() aws.Retryer { return r }
		return nil
	}
}

// installed puts the adapter in: the loop of the SDK and three middlewares.
func installed(make func() (retry.Strategy, error)) configure {
	return func(cfg *aws.Config) error {
		strategy, err := make()
		if err != nil {
			return err
		}
		return awssdk.Install(cfg, awssdk.WithStrategy(strategy))
	}
}

func newStandard() (retry.Strategy, error) { return standard.New(standard.Config{}) }

func newAdaptive() (retry.Strategy, error) { return adaptive.New(adaptive.Config{}) }

func getItem(retryer configure) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		cfg := loopback(tb)
		require.NoError(tb, retryer(&cfg))
		client := dynamodb.NewFromConfig(cfg)
		return func(ctx context.Context) error {
			out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
				TableName: aws.String("table"),
				Key:       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}},
			})
			if err == nil && len(out.Item) != 2 {
				err = fmt.Errorf("got %d attributes", len(out.Item))
			}
			return err
		}
	}
}

// loopback is the configuration of a client of a new server.
func loopback(tb testing.TB) aws.Config {
	tb.Helper()
	return aws.Config{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String(table(tb).URL),
		HTTPClient:   pooled(tb),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "key"}, nil
		}),
	}
}

func bareRequest(tb testing.TB) round {
	tb.Helper()
	server, client := table(tb), pooled(tb)
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, http.NoBody)
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.ReadAll(answer.Body)
		return err
	}
}
