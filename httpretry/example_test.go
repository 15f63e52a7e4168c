package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// flaky starts a service that throttles the first two requests.
func flaky() *httptest.Server {
	attempts := 0
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if attempts++; attempts < 3 {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
}

// withoutDelay is a strategy for examples. Programs take that of awsretry.Load.
func withoutDelay() retry.Strategy {
	strategy, err := standard.New(standard.Config{Random: func() float64 { return 0 }})
	if err != nil {
		log.Fatal(err)
	}
	return strategy
}

// answering is a round tripper that answers attempt n of a request, from 1, with a status,
// and prints both.
func answering(status func(r *http.Request, n int) int) http.RoundTripper {
	attempts := map[string]int{}
	return roundTripFunc(func(r *http.Request) (*http.Response, error) {
		attempts[r.URL.Path]++
		answer := status(r, attempts[r.URL.Path])
		fmt.Println(r.Method, r.URL.Path, answer)
		return &http.Response{StatusCode: answer, Header: http.Header{}, Body: http.NoBody}, nil
	})
}

func unavailable(*http.Request, int) int { return http.StatusServiceUnavailable }

// send sends a request without a body through a Transport with the config, and returns an answer, whose body is closed.
func send(ctx context.Context, config httpretry.Config, method, path string) (*http.Response, error) {
	transport, err := httpretry.New(config)
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, method, "https://api.example.com"+path, http.NoBody)
	if err != nil {
		log.Fatal(err)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	return response, err
}

func Example() {
	service := flaky()
	defer service.Close()
	strategy := withoutDelay()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, service.URL, http.NoBody)
	if err != nil {
		log.Fatal(err)
	}

	transport, err := httpretry.New(httpretry.Config{Strategy: strategy})
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err) // there is no response
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output: 200 OK
}

func ExampleNewClient() {
	service := flaky()
	defer service.Close()
	response, err := httpretry.NewClient(withoutDelay()).Get(service.URL) //nolint:noctx // as short as it can be
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output: 200 OK
}

// A client that exists already gets a Transport around its own.
func ExampleNew() {
	service := flaky()
	defer service.Close()
	client := service.Client()

	transport, err := httpretry.New(httpretry.Config{
		Strategy: withoutDelay(), Base: client.Transport, AttemptTimeout: retry.FixedTimeout{First: 2 * time.Second},
	})
	if err != nil {
		log.Fatal(err) // a field is out of range
	}
	client.Transport = transport
	response, err := client.Get(service.URL) //nolint:noctx // as short as it can be
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output: 200 OK
}

// A context changes the Config for its requests. Here they have one attempt.
func ExampleWith() {
	config := httpretry.Config{Strategy: withoutDelay(), Base: answering(unavailable)}
	ctx := httpretry.With(context.Background(), func(c *httpretry.Config) { c.MaxAttempts = 1 })
	response, err := send(ctx, config, http.MethodGet, "/orders") //nolint:bodyclose // send has closed it
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(errors.Is(httpretry.Refusal(response), retry.ErrAttemptsExhausted))
	// Output:
	// GET /orders 503
	// true
}

// All routes of a host share a scope unless Operation says otherwise. Here the first part of
// the path is added to the scope, so that orders, which are throttled, do not slow users.
func ExampleHostOperation() {
	strategy, err := adaptive.New(adaptive.Config{})
	if err != nil {
		log.Fatal(err)
	}
	config := httpretry.Config{
		Strategy: strategy,
		Operation: func(r *http.Request) retry.Operation {
			op := httpretry.HostOperation(r)
			route, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
			op.Resource += "/" + route
			return op
		},
		MaxAttempts: 1,
		Base: answering(func(r *http.Request, _ int) int {
			if strings.HasPrefix(r.URL.Path, "/orders") {
				return http.StatusTooManyRequests
			}
			return http.StatusOK
		}),
	}
	for _, path := range []string{"/orders/17", "/users/4"} {
		if _, err := send(context.Background(), config, http.MethodGet, path); err != nil { //nolint:bodyclose // send has closed it
			log.Fatal(err)
		}
	}
	for _, scope := range strategy.Snapshot().Scopes[1:] {
		fmt.Printf("%s: held back: %t\n", scope.Key.Resource, scope.Limited)
	}
	// Output:
	// GET /orders/17 429
	// GET /users/4 200
	// api.example.com/orders: held back: true
	// api.example.com/users: held back: false
}

// A search by POST changes nothing, so that it may be executed twice.
func ExampleIdempotent() {
	config := httpretry.Config{
		Strategy: withoutDelay(),
		Idempotent: func(r *http.Request) bool {
			return httpretry.Idempotent(r) || r.URL.Path == "/search"
		},
		Base: answering(func(_ *http.Request, n int) int {
			if n == 1 {
				return http.StatusBadGateway
			}
			return http.StatusOK
		}),
	}
	for _, path := range []string{"/search", "/orders"} {
		if _, err := send(context.Background(), config, http.MethodPost, path); err != nil { //nolint:bodyclose // send has closed it
			log.Fatal(err)
		}
	}
	// Output:
	// POST /search 502
	// POST /search 200
	// POST /orders 502
}

// A failed response comes back as it is, and Refusal says why it is the last one.
func ExampleRefusal() {
	config := httpretry.Config{
		Strategy:    withoutDelay(),
		MaxAttempts: 2,
		Base: answering(func(r *http.Request, _ int) int {
			if r.URL.Path == "/nowhere" {
				return http.StatusNotFound
			}
			return http.StatusServiceUnavailable
		}),
	}
	for _, r := range [][2]string{{"GET", "/orders"}, {"POST", "/orders"}, {"GET", "/nowhere"}} {
		response, err := send(context.Background(), config, r[0], r[1]) //nolint:bodyclose // send has closed it
		if err != nil {
			log.Fatal(err)
		}
		why := httpretry.Refusal(response)
		if refusal, ok := errors.AsType[*retry.Error](why); ok && refusal.Detail != nil {
			why = refusal.Detail // the rule that stopped the retry
		} else if ok {
			why = refusal.Reason
		}
		fmt.Println("  " + why.Error())
	}
	// Output:
	// GET /orders 503
	// GET /orders 503
	//   retry: attempts exhausted
	// POST /orders 503
	//   httpretry: POST is not sent again: it may have been executed and is not idempotent
	// GET /nowhere 404
	//   httpretry: status 404 Not Found
}

// With RefusalAsError the last response is an error.
func ExampleResponseError() {
	config := httpretry.Config{
		Strategy:       withoutDelay(),
		MaxAttempts:    1,
		RefusalAsError: true,
		Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode:    http.StatusServiceUnavailable,
				ContentLength: -1, // not known
				Header:        http.Header{"Content-Type": {"application/xml"}, "Retry-After": {"120"}},
				Body:          io.NopCloser(strings.NewReader(`<Error><Code>SlowDown</Code></Error>`)),
			}, nil
		}),
	}
	_, err := send(context.Background(), config, http.MethodGet, "/orders") //nolint:bodyclose // there is no response
	if answer, ok := errors.AsType[*httpretry.ResponseError](err); ok {
		after, _ := answer.RetryAfter()
		fmt.Println(answer.Status, answer.Code, after)
	}
	// Output: 503 SlowDown 2m0s
}

// A policy makes a response a failure that is retried: here a job that is not done yet.
func ExampleConfig_policy() {
	errPending := errors.New("job is pending")
	config := httpretry.Config{
		Strategy: withoutDelay(),
		Policy: func(response *http.Response, err error) error {
			if err == nil && response.StatusCode == http.StatusAccepted {
				return retry.Mark(errPending, classify.Transient)
			}
			return err
		},
		Base: answering(func(_ *http.Request, n int) int {
			if n < 3 {
				return http.StatusAccepted
			}
			return http.StatusOK
		}),
	}
	if _, err := send(context.Background(), config, http.MethodGet, "/jobs/1"); err != nil { //nolint:bodyclose // send has closed it
		log.Fatal(err)
	}
	// Output:
	// GET /jobs/1 202
	// GET /jobs/1 202
	// GET /jobs/1 200
}

// In a loop that retries by itself, retry.Once keeps each request to one attempt.
func Example_once() {
	config := httpretry.Config{Strategy: withoutDelay(), Base: answering(unavailable)}
	err := retry.DoErr(context.Background(), config.Strategy, retry.Operation{}, func(ctx context.Context) error {
		response, err := send(retry.Once(ctx), config, http.MethodGet, "/orders") //nolint:bodyclose // send has closed it
		if err != nil {
			return err
		}
		return httpretry.Refusal(response)
	})
	fmt.Println(errors.Is(err, retry.ErrAttemptsExhausted))
	// Output:
	// GET /orders 503
	// GET /orders 503
	// GET /orders 503
	// true
}
