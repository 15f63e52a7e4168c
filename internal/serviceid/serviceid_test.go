package serviceid_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/serviceid"
)

func TestServicesAreSpelledAsAWSDoes(t *testing.T) {
	t.Parallel()
	for service, want := range map[string]string{
		"dynamodb": "DynamoDB", "DYNAMODB": "DynamoDB", "DynamoDB": "DynamoDB", "secrets manager": "Secrets Manager",
		"s3": "S3", "of mine": "of mine", "_OTHER": "_OTHER", "": "",
	} {
		require.Equal(t, want, serviceid.Spelled(service))
	}
	ids := serviceid.All()
	require.Greater(t, len(ids), 400)
	for _, id := range ids {
		require.Equal(t, id, serviceid.Spelled(strings.ToLower(id)), "no other id differs only in its case")
	}
	require.NotContains(t, ids, "")
	require.False(t, slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, "#") }))
}

func TestDynamoDBIsKnownInEachSpelling(t *testing.T) {
	t.Parallel()
	for _, service := range []string{
		"dynamodb", "DynamoDB", "DynamoDB Streams", "dynamodb-streams", "dynamodb_streams", "DynamoDBStreams",
	} {
		require.True(t, serviceid.IsDynamoDB(service), service)
		require.True(t, serviceid.IsDynamoDB(strings.ToUpper(service)), service)
	}
	for _, service := range []string{"", "dynamo", "dynamodb ", "dynamodbx", "dynamodb streams ", "dax", "s3"} {
		require.False(t, serviceid.IsDynamoDB(service), service)
	}
}
