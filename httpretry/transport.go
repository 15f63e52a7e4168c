package httpretry

import (
	"errors"
	"net/http"

	"github.com/awsretry/awsretry/retry"
)

// Transport is an http.RoundTripper that retries. Use New; the zero Transport refuses
// every request. It is safe for
// concurrent use and meant to be shared, as its strategy is.
type Transport struct {
	config Config
}

var _ http.RoundTripper = (*Transport)(nil)

// New returns a Transport, or the error of [Config.Validate].
func New(config Config) (*Transport, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Transport{config: config}, nil
}

var errNotMade = errors.New("httpretry: a *httpretry.Transport that was not made by httpretry.New: use what that returns")

// RoundTrip makes as many attempts as the strategy allows. It returns the response
// of the last one; or an error, if that attempt got none, if the request's context
// ended, or if the client gave up and Config.RefusalAsError says so. The error is
// that of the attempt if nobody wants it retried, else a *retry.Error. Like
// any round tripper it leaves the request as it was and closes its body.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t == nil {
		t = &Transport{}
	}
	config, err := t.config.in(r.Context())
	if err == nil && config.Strategy == nil {
		err = errNotMade
	}
	if err != nil {
		closeBody(r)
		return nil, err
	}
	c := newCall(config, r)
	defer c.abandon()
	c.operation = config.operation(r)
	var options []retry.Option
	if config.Policy != nil {
		options = []retry.Option{retry.WithPolicy(config.Policy)}
	}
	response, err := retry.Do(c, guard{c.config.Strategy, c}, c.operation, c.attempt, options...)
	return c.end(response, err)
}

// CloseIdleConnections passes on what http.Client asks for.
func (t *Transport) CloseIdleConnections() {
	if t == nil {
		return
	}
	if base, ok := t.config.base().(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
