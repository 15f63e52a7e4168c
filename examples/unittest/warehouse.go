// Package unittest shows how to test code of one's own that retries: Warehouse is
// such code, and its tests wait for nothing, open no socket, and see every delay.
//
//	go test -v ./examples/unittest
package unittest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

// Warehouse asks a service what is in stock.
type Warehouse struct {
	url    string
	client *http.Client
}

// NewWarehouse returns a Warehouse for the service at the URL. What can be replaced
// in a test comes from outside: the strategy, which has the clock, and the round
// tripper, which is http.DefaultTransport if it is nil. A program passes the
// strategy of awsretry.Load.
func NewWarehouse(serviceURL string, strategy retry.Strategy, base http.RoundTripper) (*Warehouse, error) {
	transport, err := httpretry.New(httpretry.Config{Strategy: strategy, Base: base, RefusalAsError: true})
	if err != nil {
		return nil, err
	}
	return &Warehouse{url: serviceURL, client: &http.Client{Transport: transport}}, nil
}

// ErrUnknownItem is the error of Stock for an item that the service does not have.
var ErrUnknownItem = errors.New("unknown item")

// Stock returns how many of an item there are.
func (w *Warehouse) Stock(ctx context.Context, item string) (count int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/stock/"+url.PathEscape(item), http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		err = json.NewDecoder(response.Body).Decode(&count)
		return count, err
	case http.StatusNotFound:
		return 0, ErrUnknownItem
	default:
		return 0, fmt.Errorf("stock of %q: %s", item, response.Status)
	}
}
