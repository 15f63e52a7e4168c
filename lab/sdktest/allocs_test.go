//go:build !race

package sdktest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

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

// A call allocates for itself, for its context and to look for the account of its credentials. Three more allocations are
// of a header, where the attempts of the loop can be read only through one, as when the SDK renames a field that awssdk
// looks for.
func TestCallAllocatesSixTimesMoreAtMost(t *testing.T) {
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
	plain := allocations(func(*aws.Config) error { return nil })
	require.LessOrEqual(t, allocations(func(cfg *aws.Config) error { return awssdk.Install(cfg, hermetic()) }), plain+6)
}
