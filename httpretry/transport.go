package httpretry

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/awsretry/awsretry/retry"
)

// Transport is an [http.RoundTripper] that sends failed requests again. [New] makes one; the
// zero Transport refuses every request. It is safe for concurrent use. One Transport serves
// all requests of a client.
type Transport struct {
	config Config
}

var _ http.RoundTripper = (*Transport)(nil)

// New returns a Transport, or an error that names every field that is out of range.
func New(config Config) (*Transport, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	return &Transport{config: config}, nil
}

var errNotMade = errors.New("httpretry: a *httpretry.Transport that was not made by httpretry.New: use what that returns")

// RoundTrip makes as many attempts as the strategy allows, and returns the response of the last one.
// It returns an error if that attempt got no response, if the context of the request has ended, or if
// [Config.RefusalAsError] asks for one. If no classifier asked for a retry, the error is that of the
// attempt, else a [*retry.Error] like that of [Refusal]. RoundTrip does not change the request, and
// closes its body.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t == nil {
		t = &Transport{}
	}
	c := newCall(r)
	defer c.abandon()
	config, err := t.config.in(r.Context())
	if err == nil && config.Strategy == nil {
		err = errNotMade
	}
	if err != nil {
		return c.end(nil, err)
	}
	c.config, c.operation = config, config.operation(r)
	if c.timeout, err = retry.TimeoutOf(config.AttemptTimeout, c.operation); err != nil {
		return c.end(nil, fmt.Errorf("httpretry: AttemptTimeout: %w", err))
	}
	var options []retry.Option
	if config.Policy != nil {
		options = []retry.Option{retry.WithPolicy(config.Policy)}
	}
	response, err := retry.Do(c, replayGuard{config.Strategy, c}, c.operation, c.attempt, options...)
	return c.end(response, err)
}

// CloseIdleConnections closes the idle connections of Base if Base can do that.
// [http.Client.CloseIdleConnections] calls it.
func (t *Transport) CloseIdleConnections() {
	if t == nil {
		return
	}
	if base, ok := t.config.base().(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
