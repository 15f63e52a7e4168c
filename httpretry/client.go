package httpretry

import (
	"net/http"

	"github.com/awsretry/awsretry/retry"
)

// NewClient returns an HTTP client with a [Transport] of this strategy. It does not limit the time of a
// request: set its Timeout, or give requests a context with a deadline. If [New] refuses the strategy,
// each request returns that error.
func NewClient(strategy retry.Strategy) *http.Client {
	transport, err := New(Config{Strategy: strategy})
	if err != nil {
		return &http.Client{Transport: refusing{err}}
	}
	return &http.Client{Transport: transport}
}

// refusing sends no request.
type refusing struct{ err error }

func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	closeBody(request)
	return nil, r.err
}
