package main

import (
	"io"
	"net/http"
	"sync"
	"time"
)

const readHeaderTimeout = 5 * time.Second

// service fails in the way that the path names. It answers the second attempt of a request,
// or none if the path is /breaks or /pauses.
type service struct {
	mu       sync.Mutex
	attempts map[string]int // by path; guarded by mu
}

func newService() *service { return &service{attempts: make(map[string]int)} }

// ServeHTTP answers one attempt.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	s.mu.Lock()
	s.attempts[r.URL.Path]++
	first := s.attempts[r.URL.Path] == 1
	s.mu.Unlock()
	switch {
	case r.URL.Path == "/breaks":
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "no answer behind the gateway")
	case r.URL.Path == "/pauses":
		w.Header().Set("Retry-After", "10")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "come again in ten seconds")
	case first && r.URL.Path == "/recovers":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case first && r.URL.Path == "/throttles":
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.example#ThrottlingException","message":"slower"}`)
	case first && r.URL.Path == "/hangs":
		<-r.Context().Done()
	default:
		_, _ = io.WriteString(w, "hello "+string(body))
	}
}
