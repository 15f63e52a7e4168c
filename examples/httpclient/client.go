package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

// newClient does what a program needs to do: it makes a strategy, a transport with it, and a
// client with that.
func newClient(ctx context.Context, out io.Writer, base http.RoundTripper, opts ...awsretry.Option) (*http.Client, error) {
	strategy, err := awsretry.Load(ctx, append(opts, awsretry.WithObserver(retries{out}))...)
	if err != nil {
		return nil, err
	}
	transport, err := httpretry.New(httpretry.Config{Strategy: strategy, Base: base, AttemptTimeout: retry.FixedTimeout{First: 2 * time.Second}})
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: transport}, nil
}

// use sends one request after the other to the service.
func use(ctx context.Context, out io.Writer, client *http.Client, url string) error {
	for _, r := range []struct {
		method, path, body string
		timeout            time.Duration
	}{
		{method: http.MethodGet, path: "/fine"},
		{method: http.MethodGet, path: "/recovers"},
		{method: http.MethodPut, path: "/throttles", body: "an item"},
		{method: http.MethodGet, path: "/hangs"},
		{method: http.MethodPost, path: "/breaks", body: "an order"},
		{method: http.MethodGet, path: "/breaks"},
		{method: http.MethodGet, path: "/pauses", timeout: 150 * time.Millisecond},
	} {
		client.Timeout = r.timeout
		request, err := http.NewRequestWithContext(ctx, r.method, url+r.path, strings.NewReader(r.body))
		if err != nil {
			return err
		}
		fmt.Fprintln(out, r.method, r.path)
		if err := send(out, client, request); err != nil {
			return err
		}
	}
	return nil
}

// send sends a request and prints its result.
func send(out io.Writer, client *http.Client, request *http.Request) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  %s: %s\n", response.Status, body)
	if refusal, ok := errors.AsType[*retry.Error](httpretry.Refusal(response)); ok {
		reason := refusal.Reason
		if errors.Is(reason, retry.ErrNotRetryable) {
			reason = refusal.Detail // the rule that stopped the retry
		}
		fmt.Fprintf(out, "  %v\n", reason)
	}
	return nil
}

// retries prints the retries of requests.
type retries struct{ out io.Writer }

// Observe prints an event.
func (r retries) Observe(_ context.Context, e retry.Event) {
	if e.Kind == retry.RetryScheduled {
		fmt.Fprintf(r.out, "  %v: %v, again in %v\n", e.Err, e.Verdict.Kind(), e.Delay.Round(time.Millisecond))
	}
}
