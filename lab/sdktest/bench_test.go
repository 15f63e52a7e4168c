//go:build !race

package sdktest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

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

// BenchmarkSuccess is a call over the loopback interface that succeeds at once. It shows what a retryer costs.
func BenchmarkSuccess(b *testing.B) {
	for _, c := range compared() {
		b.Run("retryer="+c.name, func(b *testing.B) {
			call := describing(b, c.setup)
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

// BenchmarkBesideTheSDK plays the same calls, with Install and with the SDK's retryer of the same mode in turns: fifty of each
// in a turn, so that what else the machine does meets both alike. The ratio is the median of the turns.
func BenchmarkBesideTheSDK(b *testing.B) {
	const inTurn = 50
	all := compared()
	for i, mode := range []string{"standard", "adaptive"} {
		b.Run("mode="+mode, func(b *testing.B) {
			took := func(call func()) float64 {
				start := time.Now()
				for range inTurn {
					call()
				}
				return float64(time.Since(start))
			}
			theirs, ours := describing(b, all[1+i].setup), describing(b, all[3+i].setup)
			var ratios []float64
			for b.Loop() {
				if len(ratios)%2 == 0 {
					before := took(theirs)
					ratios = append(ratios, took(ours)/before)
				} else {
					before := took(ours)
					ratios = append(ratios, before/took(theirs))
				}
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
		})
	}
}

type comparedRetryer struct {
	name  string
	setup func(cfg *aws.Config) error
}

// compared are none, those of the SDK, and those of Install.
func compared() []comparedRetryer {
	given := func(make func() aws.Retryer) func(cfg *aws.Config) error {
		return func(cfg *aws.Config) error { cfg.Retryer = make; return nil }
	}
	return []comparedRetryer{
		{"none", given(func() aws.Retryer { return aws.NopRetryer{} })},
		{"sdk-standard", given(func() aws.Retryer { return sdkretry.NewStandard() })},
		{"sdk-adaptive", given(func() aws.Retryer { return sdkretry.NewAdaptiveMode() })},
		{"install-standard", func(cfg *aws.Config) error { return awssdk.Install(cfg, hermetic()) }},
		{"install-adaptive", func(cfg *aws.Config) error {
			return awssdk.Install(cfg, hermetic(awsretry.WithMode(awsretry.ModeAdaptive)))
		}},
	}
}

// describing returns a call of a client with the retryer, to a server that answers at once.
func describing(b *testing.B, setup func(cfg *aws.Config) error) func() {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = w.Write([]byte("{}"))
	}))
	b.Cleanup(server.Close)
	cfg := configFor(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}})
	cfg.BaseEndpoint = &server.URL
	if err := setup(&cfg); err != nil {
		b.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cfg)
	in := &dynamodb.DescribeTableInput{TableName: aws.String("orders")}
	return func() {
		if _, err := client.DescribeTable(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
