package examples_test

import (
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// A serviceFunc answers the requests of a client in the place of a service.
type serviceFunc func(r *http.Request) (*http.Response, error)

// Do is the method that clients of the SDK call.
func (f serviceFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// answer makes a response in the protocol of DynamoDB.
func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// configFor returns a config that depends neither on the environment nor on files.
func configFor(service aws.HTTPClient) aws.Config {
	return aws.Config{
		Region:      "eu-central-1",
		Credentials: credentials.NewStaticCredentialsProvider("ID", "SECRET", ""),
		HTTPClient:  service,
	}
}
