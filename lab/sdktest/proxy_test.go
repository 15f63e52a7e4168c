package sdktest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestConnectionsThatAProxyCuts has a TCP proxy between client and service. It breaks the
// connections of all calls, and works again once all calls wait for a retry.
func TestConnectionsThatAProxyCuts(t *testing.T) {
	for _, toxic := range []struct {
		name, json string
		retried    bool
	}{
		{"cuts the answer", `{"name":"t","type":"limit_data","stream":"downstream","attributes":{"bytes":40}}`, true},
		{"cuts the request", `{"name":"t","type":"limit_data","stream":"upstream","attributes":{"bytes":100}}`, true},
		{"resets", `{"name":"t","type":"reset_peer","stream":"downstream","attributes":{"timeout":0}}`, true},
		{"delays", `{"name":"t","type":"latency","stream":"downstream","attributes":{"latency":20,"jitter":0}}`, false},
		{"cuts into slices", `{"name":"t","type":"slicer","stream":"downstream","attributes":{"average_size":10,"size_variation":1,"delay":10}}`, false},
	} {
		for _, kind := range append(withBody, withoutBody...) {
			t.Run(toxic.name+"/"+kind.name, func(t *testing.T) {
				s, server := newService(t, func(string, int) fault { return none })
				proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
					"between", "127.0.0.1:0", strings.TrimPrefix(server.URL, "http://"))
				require.NoError(t, proxy.Start())
				t.Cleanup(proxy.Stop)
				_, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic.json))
				require.NoError(t, err)

				// Every retry waits until the proxy has been mended, after the first failure of each call.
				var failed sync.WaitGroup
				failed.Add(callsOfEach)
				mended := make(chan struct{})
				retries := atomic.Int64{}
				cfg := installed(t, overTCP(t, s.peers), hermetic(noBackoff(),
					awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(10_000)}}),
					awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
						if e.Kind == retry.RetryScheduled {
							retries.Add(1)
							failed.Done()
							<-mended
						}
					}))))
				endpoint := "http://" + proxy.Listen
				cfg.BaseEndpoint = &endpoint

				calls, errs := callsOf(t.Context(), kind.make(cfg))
				var all sync.WaitGroup
				for _, call := range calls {
					all.Go(call)
				}
				if toxic.retried {
					failed.Wait()
					require.NoError(t, proxy.Toxics.RemoveToxic(context.Background(), "t"))
				}
				close(mended)
				all.Wait()
				require.NoError(t, errors.Join(errs...))
				require.EqualValues(t, map[bool]int{true: callsOfEach}[toxic.retried], retries.Load(), "all calls are retried, or none")
				if !toxic.retried {
					s.requireBooks(t, callsOfEach, 1)
				}
			})
		}
	}
}
