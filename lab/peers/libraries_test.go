//go:build long

package peers

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/cenkalti/backoff/v7"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/awsretry/awsretry/lab/conformance"
)

// libraries are retry libraries that do not know AWS. All but the number of attempts is as they have it
// by default.
func libraries() []peer {
	return []peer{
		{
			column: "cenkalti/backoff",
			about: "v7, Retry with its exponential backoff. The calls mark no error as permanent; WithMaxTries is set where a case " +
				"asks for a limit.",
			ways: []conformance.Subject{{Name: "cenkalti/backoff", New: newBackoff, NotMeant: generic()}},
			notes: map[string]note{
				"S09": {effect: "In an outage every call goes on retrying, by default for up to 15 minutes."},
				"S11": {effect: "Where the rule retries within 50 ms, it waits at least 250 ms; after throttles waits grow more slowly."},
				"S13": {effect: "No retry comes before half of the mean wait, so clients are spread less."},
				"C03": {from: []string{"C06"}},
				"C06": {
					effect: "Hopeless requests are repeated until the limit, unless the call marks their errors with Permanent.",
					issue:  "https://github.com/cenkalti/backoff/issues/33",
				},
			},
		},
		{
			column: "go-retryablehttp",
			about: "hashicorp, a Client with its default policy and backoff. RetryMax is set where a case asks for a limit. The " +
				"caller takes every status but 200 for an error.",
			ways: []conformance.Subject{{Name: "go-retryablehttp", New: newRetryableHTTP, NotMeant: generic()}},
			notes: map[string]note{
				"S09": {effect: "In an outage the service gets up to five times the usual requests by default."},
				"S11": {effect: "Where the rule retries within 50 ms, it waits a second."},
				"S13": {
					effect: "Clients that failed together come back together, after exactly 1 s, 2 s, 4 s; LinearJitterBackoff is an option.",
					issue:  "https://github.com/hashicorp/go-retryablehttp/pull/25",
				},
				"C01": {effect: "Throttles with status 400, such as those of DynamoDB, fail at once."},
				"C02": {effect: "Transient codes with status 400 fail at once: the policy reads only the status."},
				"C03": {effect: "Every status from 500 on except 501 is retried."},
				"C08": {effect: "Throttles below status 500, other than 429, fail at once."},
			},
		},
	}
}

func newBackoff(s *conformance.Settings) (conformance.Do, error) {
	limit := uint(s.MaxAttempts()) //nolint:gosec // not negative
	return func(ctx context.Context, attempt func(context.Context) error) error {
		_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, attempt(ctx) }, backoff.WithMaxTries(limit))
		return err
	}, nil
}

// newRetryableHTTP makes a client for each operation, since clients share nothing but connections.
func newRetryableHTTP(s *conformance.Settings) (conformance.Do, error) {
	limit := s.MaxAttempts()
	return func(ctx context.Context, attempt func(context.Context) error) error {
		client := retryablehttp.NewClient()
		client.Logger = nil
		if limit > 0 {
			client.RetryMax = limit - 1
		}
		client.HTTPClient = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			return conformance.HTTPResponse(attempt(r.Context()))
		})}
		request, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, "https://service.example/", strings.NewReader("{}"))
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	}, nil
}

// transport is a function that is an [http.RoundTripper].
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// generic are the rules that need knowledge of AWS.
func generic() map[string]string {
	const aws = "It does not know AWS: its hints, services and clocks."
	return map[string]string{"S14": aws, "S15": aws, "S16": aws, "S17": aws, "S21": aws, "C05": aws}
}
