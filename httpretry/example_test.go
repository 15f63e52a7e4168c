package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// flaky starts a service that throttles the first requests to each path.
func flaky(throttled int) *httptest.Server {
	attempts := map[string]int{}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if attempts[r.URL.Path]++; attempts[r.URL.Path] <= throttled {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
}

// withoutDelay is a strategy for examples; programs have that of awsretry.Load.
func withoutDelay() retry.Strategy {
	strategy, err := standard.New(standard.Config{Random: func() float64 { return 0 }})
	if err != nil {
		log.Fatal(err)
	}
	return strategy
}

func Example() {
	service := flaky(2)
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
	if errors.Is(httpretry.Refusal(response), retry.ErrAttemptsExhausted) {
		log.Print("it failed each time")
	}
	fmt.Println(response.Status)
	// Output: 200 OK
}

// A context changes the Config for its requests.
func ExampleWith() {
	service := flaky(1)
	defer service.Close()
	transport, err := httpretry.New(httpretry.Config{Strategy: withoutDelay(), RefusalAsError: true})
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Transport: transport}

	ctx := httpretry.With(context.Background(), func(c *httpretry.Config) { c.MaxAttempts = 1 })
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, service.URL, http.NoBody)
	if err != nil {
		log.Fatal(err)
	}
	response, err := client.Do(request)
	if err == nil {
		log.Fatal(response.Body.Close())
	}
	said, _ := errors.AsType[*httpretry.ResponseError](err)
	fmt.Println(errors.Is(err, retry.ErrAttemptsExhausted), said.Status)
	// Output: true 429
}
