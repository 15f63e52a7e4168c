//go:build long

package peers

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/awsretry/awsretry/lab/conformance"
)

// attemptKey is the key of the attempt of the suite in the context of a request.
type attemptKey struct{}

// answers makes the attempt of the suite in place of sending a request. It is the HTTP client of a
// client of AWS, and the round tripper of one of net/http.
type answers struct{}

func (answers) Do(r *http.Request) (*http.Response, error) {
	attempt, _ := r.Context().Value(attemptKey{}).(func(context.Context) error)
	return conformance.HTTPResponse(attempt(r.Context()))
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a.Do(r) }

// withAttempt returns the operation whose requests make the attempts of the suite.
func withAttempt(call func(ctx context.Context) error) conformance.Do {
	return func(ctx context.Context, attempt func(context.Context) error) error {
		return call(context.WithValue(ctx, attemptKey{}, attempt))
	}
}

// configOfClients is the config of clients without files, environment and network.
func configOfClients() aws.Config {
	return aws.Config{Region: "eu-central-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: answers{}}
}

// callOf returns a call of a client of the service. A long poll is one of SQS; the clients of the other
// services have none.
func callOf(cfg aws.Config, service string, longPolling bool) conformance.Do {
	switch {
	case longPolling && isSQS(service):
		client := sqs.NewFromConfig(cfg)
		return withAttempt(func(ctx context.Context) error {
			_, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
				QueueUrl: aws.String("https://service.example/1/jobs"), WaitTimeSeconds: 20,
			})
			return err
		})
	case service == "dynamodb":
		client := dynamodb.NewFromConfig(cfg)
		return withAttempt(func(ctx context.Context) error {
			_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{})
			return err
		})
	case service == "dynamodb-streams":
		client := dynamodbstreams.NewFromConfig(cfg)
		return withAttempt(func(ctx context.Context) error {
			_, err := client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{})
			return err
		})
	default:
		client := sqs.NewFromConfig(cfg)
		return withAttempt(func(ctx context.Context) error {
			_, err := client.ListQueues(ctx, &sqs.ListQueuesInput{})
			return err
		})
	}
}

// isSQS reports whether a case is about SQS, or about any service.
func isSQS(service string) bool { return service == "" || service == "sqs" }
