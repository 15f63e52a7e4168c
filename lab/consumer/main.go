// Command consumer retries through each of the front doors: retry, httpretry and awssdk. lab/scripts/release-check builds it
// outside this checkout, with the modules as a release would publish them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

// service is an HTTP service that is unavailable for every other request.
type service struct{ requests int }

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests++
	status := http.StatusOK
	if s.requests%2 == 1 {
		status = http.StatusServiceUnavailable
	}
	body := io.NopCloser(strings.NewReader("<Response><GetCallerIdentityResult/></Response>"))
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: body, Request: r}, nil
}

func main() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx, awsretry.WithMode(awsretry.ModeStandard), awsretry.WithMaxAttempts(2))
	check("awsretry.Load", err)

	calls := 0
	check("retry.DoErr", retry.DoErr(ctx, strategy, retry.Operation{}, func(context.Context) error {
		if calls++; calls == 1 {
			return retry.Mark(errors.New("not yet"), classify.Transient)
		}
		return nil
	}))

	web := &service{}
	transport, err := httpretry.New(httpretry.Config{Strategy: strategy, Base: web})
	check("httpretry.New", err)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://service.example/", nil)
	check("http.NewRequest", err)
	response, err := (&http.Client{Transport: transport}).Do(request)
	check("httpretry", err)
	check("httpretry", response.Body.Close())

	cloud := &service{}
	cfg := aws.Config{
		Region: "eu-central-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: &http.Client{Transport: cloud},
	}
	check("awssdk.Install", awssdk.Install(&cfg, awssdk.WithStrategy(strategy)))
	_, err = sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	check("awssdk", err)

	if calls != 2 || web.requests != 2 || cloud.requests != 2 {
		log.Fatalf("attempts: retry %d, httpretry %d, awssdk %d; all should be 2", calls, web.requests, cloud.requests)
	}
	fmt.Println("retry, httpretry and awssdk have made one retry each")
}

func check(what string, err error) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}
