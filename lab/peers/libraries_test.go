//go:build long

package peers

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/cenkalti/backoff/v7"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/awsretry/awsretry/conformance"
)

// libraries are retry libraries that do not know AWS. All but the number of attempts is as they have it
// by default.
func libraries() []peer {
	return []peer{
		{
			column: "cenkalti/backoff",
			about: "github.com/cenkalti/backoff/v7: Retry with its exponential backoff, which begins with half a second and " +
				"grows by half. The calls mark no error as permanent. WithMaxTries is set where a case asks for a limit.",
			ways: []conformance.Subject{{Name: "cenkalti/backoff", New: newBackoff, NotMeant: generic()}},
			notes: map[string]note{
				"S09": {effect: "Without a retry quota every call goes on with its retries in an outage, up to 15 minutes by default."},
				"S11": {effect: "A retry that could come within 50 ms comes after a quarter of a second or later; after throttles the waits grow more slowly."},
				"S13": {effect: "No retry comes before half of the mean wait, so that clients that failed together are spread less."},
				"C03": {from: []string{"C06"}},
				"C06": {
					effect: "Requests that can never work are repeated until the limit, unless the call marks their errors with Permanent.",
					issue:  "https://github.com/cenkalti/backoff/issues/33",
				},
			},
		},
		{
			column: "go-retryablehttp",
			about: "github.com/hashicorp/go-retryablehttp: a Client with its default policy and backoff. RetryMax is set where " +
				"a case asks for a limit. The caller takes every status but 200 for an error.",
			ways: []conformance.Subject{{Name: "go-retryablehttp", New: newRetryableHTTP, NotMeant: generic()}},
			notes: map[string]note{
				"S09": {effect: "Without a retry quota an outage gets all retries of all calls, up to five times the usual requests by default."},
				"S11": {effect: "A retry that could come within 50 ms comes after a second."},
				"S13": {
					effect: "The waits are exactly 1 s, 2 s, 4 s and so on, so that clients that failed together come back together; LinearJitterBackoff is an option.",
					issue:  "https://github.com/hashicorp/go-retryablehttp/pull/25",
				},
				"C01": {effect: "Throttles with status 400, such as those of DynamoDB, fail at once: the policy reads the status only."},
				"C02": {effect: "Transient codes with status 400 fail at once: the policy reads the status only."},
				"C03": {effect: "Every status from 500 on but 501 is retried, those that will not pass included."},
				"C08": {effect: "Throttles with a status below 500 other than 429 fail at once: the policy reads the status only."},
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
	const services = "It does not know the services of AWS."
	const clock = "It does not sign requests, and does not know their clock."
	return map[string]string{
		"S14": "It does not know the header x-amz-retry-after.", "S15": services, "S16": services, "S17": services,
		"S21": clock, "C05": clock,
	}
}
