//go:build !race

package sdktest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

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

// A call allocates for itself and its context, for the place of its middleware in the stack, and for the context of its
// attempt.
func TestCallAllocatesThreeTimesMoreAtMost(t *testing.T) {
	allocations := func(setup func(cfg *aws.Config) error) float64 {
		cfg := configFor(storedItem{})
		require.NoError(t, setup(&cfg))
		client := dynamodb.NewFromConfig(cfg)
		input := &dynamodb.GetItemInput{
			TableName: aws.String("orders"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}},
		}
		return testing.AllocsPerRun(200, func() {
			_, err := client.GetItem(context.Background(), input)
			require.NoError(t, err)
		})
	}
	plain := allocations(func(cfg *aws.Config) error {
		r := sdkretry.NewStandard() // with its mark in the User-Agent
		cfg.Retryer = func() aws.Retryer { return r }
		return nil
	})
	require.LessOrEqual(t, allocations(func(cfg *aws.Config) error { return awssdk.Install(cfg, hermetic()) }), plain+3)
}

// BenchmarkSuccess is a call over the loopback interface that succeeds at once. It shows what a
// retryer costs.
func BenchmarkSuccess(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	for _, c := range []struct {
		name  string
		setup func(cfg *aws.Config) error
	}{
		{"none", func(cfg *aws.Config) error { cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }; return nil }},
		{"sdk-standard", func(cfg *aws.Config) error {
			cfg.Retryer = func() aws.Retryer { return sdkretry.NewStandard() }
			return nil
		}},
		{"sdk-adaptive", func(cfg *aws.Config) error {
			cfg.Retryer = func() aws.Retryer { return sdkretry.NewAdaptiveMode() }
			return nil
		}},
		{"install-standard", func(cfg *aws.Config) error { return awssdk.Install(cfg, hermetic()) }},
		{"install-adaptive", func(cfg *aws.Config) error {
			return awssdk.Install(cfg, hermetic(awsretry.WithMode(awsretry.ModeAdaptive)))
		}},
	} {
		b.Run("retryer="+c.name, func(b *testing.B) {
			cfg := configFor(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}})
			cfg.BaseEndpoint = &server.URL
			if err := c.setup(&cfg); err != nil {
				b.Fatal(err)
			}
			client := dynamodb.NewFromConfig(cfg)
			in := &dynamodb.DescribeTableInput{TableName: aws.String("orders")}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.DescribeTable(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
