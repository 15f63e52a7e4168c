package promretry_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// apiError is an error with a code of AWS.
type apiError string

func (e apiError) Error() string { return "the service said " + string(e) }

func (e apiError) ErrorCode() string { return string(e) }

var getItem = retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "orders", Name: "GetItem"}

// registryOf returns a registry that checks more than others do.
func registryOf(t *testing.T, metrics *promretry.Metrics) *prometheus.Registry {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(metrics))
	return registry
}

// scrape returns what Prometheus reads.
func scrape(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	response := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).
		ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, response.Code, response.Body)
	return response.Body.String()
}

// noLabel is a label with an empty value, which is as if it were absent.
var noLabel = regexp.MustCompile(`\w+="",|,?\w+=""|awsretry_`)

// series returns the lines of a scrape that begin with awsretry_ and the name, without awsretry_ and without labels that
// are empty. Those of buckets are only there if the name says so.
func series(t *testing.T, metrics *promretry.Metrics, name string) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(scrape(t, registryOf(t, metrics))) {
		if strings.HasPrefix(line, "awsretry_"+name) && strings.Contains(line, "_bucket{") == strings.HasSuffix(name, "_bucket") {
			found = append(found, strings.Replace(noLabel.ReplaceAllString(strings.TrimSpace(line), ""), "{}", "", 1))
		}
	}
	return found
}

// observed are metrics that have observed these events, of one kind.
func observed(t *testing.T, kind retry.EventKind, events ...retry.Event) *promretry.Metrics {
	t.Helper()
	metrics := promretry.New(promretry.Config{})
	for _, e := range events {
		e.Kind = kind
		metrics.Observe(t.Context(), e)
	}
	return metrics
}

// shown is a strategy with a snapshot of its own.
type shown struct {
	retry.Strategy
	snapshot retry.Snapshot
}

func (s *shown) Snapshot() retry.Snapshot { return s.snapshot }

func show(t *testing.T, scopes ...retry.ScopeSnapshot) *shown {
	t.Helper()
	strategy, err := standard.New(standard.Config{})
	require.NoError(t, err)
	return &shown{strategy, retry.Snapshot{Scopes: scopes}}
}

// scope is a scope with a name, of whose quota so much is used.
func scope(name string, used int) retry.ScopeSnapshot {
	return retry.ScopeSnapshot{
		Key: retry.ScopeKey{Scope: name}, Scope: name, Quota: 100 - used, QuotaCapacity: 100,
	}
}

// fleetScope is a scope of a fleet that sends 40 a second, of which it has 3 slots.
func fleetScope(name, source string) retry.ScopeSnapshot {
	s := scope(name, 0)
	s.SendRateSource, s.Limited, s.FillRate, s.SendTokens = source, true, 10, 3
	s.FleetRate, s.StoreCalls, s.StoreFailures = 40, 200, 7
	return s
}

func TestLinterOfPrometheusHasNothingToSay(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	strategy, err := adaptive.New(adaptive.Config{
		Standard:  standard.Config{Observer: metrics},
		SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 1e6} },
	})
	require.NoError(t, err)
	require.NoError(t, metrics.Watch(strategy, show(t, fleetScope("shared", "fleet"))))
	for kind := range retry.OperationEnded + 1 {
		metrics.Observe(t.Context(), retry.Event{Kind: kind, Attempt: 2})
	}
	problems, err := testutil.CollectAndLint(metrics)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Equal(t, 27, families(t, metrics), "all metrics were looked at")
}

func families(t *testing.T, metrics *promretry.Metrics) int {
	t.Helper()
	found, err := registryOf(t, metrics).Gather()
	require.NoError(t, err)
	return len(found)
}

// Every attempt is counted once, whatever is scraped meanwhile.
func TestAttemptsCountedAreAttemptsMade(t *testing.T) {
	t.Parallel()
	const workers, calls = 8, 300
	metrics := promretry.New(promretry.Config{Scopes: 2})
	strategy, err := standard.New(standard.Config{Observer: metrics, QuotaCapacity: new(1 << 30), Clock: &clock.Fake{}})
	require.NoError(t, err)
	require.NoError(t, metrics.Watch(strategy))
	registry := registryOf(t, metrics)

	done := make(chan struct{})
	var scraper, callers sync.WaitGroup
	scraper.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_, err := registry.Gather()
				require.NoError(t, err)
			}
		}
	})
	for worker := range workers {
		callers.Go(func() {
			for i := range calls {
				op := retry.Operation{Service: "s3", Name: string(rune('A' + (i+worker)%26)), Resource: string(rune('a' + i%7))}
				token, err := strategy.AcquireInitialToken(t.Context(), op)
				require.NoError(t, err)
				failure := retry.Mark(apiError("SlowDown"), classify.Throttling)
				token, err = strategy.RefreshRetryToken(t.Context(), token, failure)
				require.NoError(t, err)
				require.NoError(t, token.WithoutDelay().Wait(t.Context()))
				require.NoError(t, strategy.RecordSuccess(token, retry.Result{}))
			}
		})
	}
	callers.Wait()
	close(done)
	scraper.Wait()

	sums := map[string]int{}
	gathered, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range gathered {
		for _, metric := range family.GetMetric() {
			sums[family.GetName()] += int(metric.GetCounter().GetValue()) + int(metric.GetHistogram().GetSampleCount())
		}
	}
	require.Equal(t, 2*workers*calls, sums["awsretry_attempts_total"])
	require.Equal(t, 2*workers*calls, sums["awsretry_attempt_duration_seconds"])
	require.Equal(t, workers*calls, sums["awsretry_call_duration_seconds"])
	require.Equal(t, workers*calls, sums["awsretry_call_retries"])
}
