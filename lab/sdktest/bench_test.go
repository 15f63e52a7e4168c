package sdktest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
)

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
