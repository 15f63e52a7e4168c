package sdktest

import (
	"net/http"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
)

// A client of the SDK is tested in virtual time, without environment, files and network.
func TestThrottledCallIsMadeAgain(t *testing.T) {
	requests := 0
	service := answerFunc(func(*http.Request) (*http.Response, error) {
		if requests++; requests == 1 {
			return response(http.StatusBadRequest, `{"__type": "ThrottlingException"}`), nil
		}
		return response(http.StatusOK, `{"TableNames":["orders"]}`), nil
	})

	synctest.Test(t, func(t *testing.T) {
		cfg := aws.Config{
			Region:      "eu-central-1",
			Credentials: credentials.NewStaticCredentialsProvider("ID", "SECRET", ""),
			HTTPClient:  service,
		}
		require.NoError(t, awssdk.Install(&cfg, awssdk.WithSettings(
			awsretry.WithSources(awsretry.Sources{LookupEnv: func(string) (string, bool) { return "", false }, FS: fstest.MapFS{}}),
			awsretry.WithRandom(func() float64 { return 1 }), // the longest delays
		)))
		start := time.Now()
		tables, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
		require.NoError(t, err)
		require.Equal(t, []string{"orders"}, tables.TableNames)
		require.Equal(t, time.Second, time.Since(start))
	})
}
