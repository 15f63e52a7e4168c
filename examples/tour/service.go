package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// answer is what the service says to a request.
type answer struct {
	status int
	code   string
	hintMS int // x-amz-retry-after
}

// call is an operation and what the service answers to its attempts; when it has
// no answer left it says 200.
type call struct {
	name    string
	answers []answer
}

// itinerary is what the quick start sends, one call after the other.
func itinerary() []call {
	throttle := answer{status: 400, code: "ThrottlingException"}
	return []call{
		{name: "ListTables"},
		{name: "GetItem", answers: []answer{{status: 500}}},
		{name: "PutItem", answers: []answer{throttle, throttle}},
		{name: "DescribeTable", answers: []answer{{status: 404, code: "ResourceNotFoundException"}}},
		{name: "Query", answers: []answer{{status: 503, hintMS: 400}}},
		{name: "PutItem"},
		{name: "GetItem"},
		{name: "ListTables"},
	}
}

// service answers the requests of each call as the itinerary says. The path of a
// request is the call's place in it.
type service struct {
	calls []call

	mu       sync.Mutex
	attempts map[string]int // by path; guarded by mu
}

// ServeHTTP answers one attempt.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	place, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil || place < 0 || place >= len(s.calls) {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	attempt := s.attempts[r.URL.Path]
	s.attempts[r.URL.Path]++
	s.mu.Unlock()
	if answers := s.calls[place].answers; attempt < len(answers) {
		a := answers[attempt]
		if a.hintMS > 0 {
			w.Header().Set("X-Amz-Retry-After", strconv.Itoa(a.hintMS))
		}
		w.Header().Set("X-Amzn-Errortype", a.code)
		w.WriteHeader(a.status)
	}
}

// send makes one attempt.
func send(ctx context.Context, client *http.Client, url string) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		return response.StatusCode, &serviceError{
			status: response.StatusCode,
			code:   response.Header.Get("X-Amzn-Errortype"),
			hint:   response.Header.Get("X-Amz-Retry-After"),
		}
	}
	return response.StatusCode, nil
}

// serviceError tells the classifiers what they look for: a status, a code and how
// long the server asked to wait.
type serviceError struct {
	status     int
	code, hint string
}

func (e *serviceError) Error() string {
	if e.code == "" {
		return strconv.Itoa(e.status)
	}
	return fmt.Sprintf("%d %s", e.status, e.code)
}

func (e *serviceError) HTTPStatusCode() int { return e.status }

func (e *serviceError) ErrorCode() string { return e.code }

func (e *serviceError) RetryAfter() (time.Duration, bool) {
	return classify.ParseRetryAfterMillis(e.hint)
}
