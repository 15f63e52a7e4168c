package promretry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Which scopes these are, the internal package metrics tests.
func TestHottestScopesHaveGaugesAndTheOthersAreOne(t *testing.T) {
	t.Parallel()
	for scopes, want := range map[int][]string{
		0:  {`"table a"} 99`, `"table b"} 50`, `"table c"} 60`, `"table d"} 100`},
		2:  {`"other"} 199`, `"table b"} 50`, `"table c"} 60`},
		-1: {`"other"} 309`},
	} {
		metrics := promretry.New(promretry.Config{Scopes: scopes, ScopeName: func(k retry.ScopeKey) string { return "table " + k.Scope }})
		require.NoError(t, metrics.Watch(show(t, scope("a", 1), scope("b", 50), scope("c", 40), scope("d", 0))))
		for i, line := range want {
			want[i] = `quota_available{scope=` + line
		}
		require.Equal(t, want, series(t, metrics, "quota_available{"))
	}
}

func TestServiceAndRegionOfAScopeAreLabels(t *testing.T) {
	t.Parallel()
	key := retry.ScopeKey{Service: "sqs\xff", Region: "eu-central-1", Resource: "jobs"}
	other := key
	other.Region, other.Resource = "eu-west-1", "mails"
	metrics := promretry.New(promretry.Config{ScopeName: func(retry.ScopeKey) string { return "queues" }})
	require.NoError(t, metrics.Watch(show(t, retry.ScopeSnapshot{Key: key, Quota: 1}, retry.ScopeSnapshot{Key: other, Quota: 2})))
	require.Equal(t, []string{
		"quota_available{scope=\"queues\",rpc_service=\"sqs\uFFFD\"} 3",
	}, series(t, metrics, "quota_available{"))
}

func TestSendRatesAreShownWhereThereAreAny(t *testing.T) {
	t.Parallel()
	plain, free, limited, both := scope("plain", 0), scope("free", 0), scope("limited", 0), scope("plain", 0)
	free.SendRateSource, free.MeasuredRate = "local", 7
	limited.SendRateSource, limited.Limited, limited.FillRate, limited.MeasuredRate, limited.Waiting = "local", true, 2.5, 2, 4
	both.SendRateSource, both.MeasuredRate = "local", 3

	metrics := promretry.New(promretry.Config{})
	require.NoError(t, metrics.Watch(show(t, plain, free, limited)))
	require.Equal(t, []string{
		`send_measured_rate_per_second{scope="free"} 7`,
		`send_measured_rate_per_second{scope="limited"} 2`,
		`send_rate_per_second{scope="limited"} 2.5`,
		`send_waiting{scope="free"} 0`,
		`send_waiting{scope="limited"} 4`,
	}, series(t, metrics, "send_"))

	// A scope of a strategy in each mode.
	require.NoError(t, metrics.Watch(show(t, both)))
	require.Contains(t, series(t, metrics, "send_"),
		`send_measured_rate_per_second{scope="plain"} 3`)
}

func TestFleetsAreShownWhereThereAreAny(t *testing.T) {
	t.Parallel()
	open, local := fleetScope("open", "local"), scope("local", 0)
	open.FleetRate, open.StoreFailures = 0, 0
	local.SendRateSource, local.SendTokens = "local", 5
	metrics := promretry.New(promretry.Config{})
	require.NoError(t, metrics.Watch(show(t, scope("plain", 0), local, open, fleetScope("lost", "fleet-lost"))))
	require.NoError(t, metrics.Watch(show(t, fleetScope("lost", "fleet"))), "a strategy with a scope of the same name")
	require.Equal(t, []string{
		`fleet_rate_per_second{scope="lost"} 40`,
		`fleet_slots{scope="lost"} 6`,
		`fleet_state{fleet_state="fleet-lost",scope="lost"} 1`,
		`fleet_state{fleet_state="local",scope="open"} 1`,
		`fleet_store_calls_total{scope="lost"} 400`,
		`fleet_store_calls_total{scope="open"} 200`,
		`fleet_store_failures_total{scope="lost"} 14`,
		`fleet_store_failures_total{scope="open"} 0`,
		"fleet_stores_unreached 0",
	}, series(t, metrics, "fleet_"))
}

func TestStrategiesSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	plain, err := standard.New(standard.Config{})
	require.NoError(t, err)
	same, err := standard.New(standard.Config{MaxAttempts: 3})
	require.NoError(t, err)
	old, err := adaptive.New(adaptive.Config{Standard: standard.Config{MaxAttempts: 10, Behavior: retry.V20}})
	require.NoError(t, err)
	metrics := promretry.New(promretry.Config{})
	require.Empty(t, series(t, metrics, "info"))
	require.NoError(t, metrics.Watch(old, plain, same))
	require.Equal(t, []string{
		`info{attempts="10",behavior="v2.0",mode="adaptive",version="(devel)"} 1`,
		`info{attempts="3",behavior="v2.1",mode="standard",version="(devel)"} 1`,
	}, series(t, metrics, "info"))
}

func TestMetricsWithoutStrategiesCanBeScraped(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"fleet_stores_unreached 0", "quota_pool_available 0", "quota_pool_capacity 0", "quota_pools_empty 0",
		"scopes 0", "scopes_evicted_total 0", "scopes_overflowed_total 0",
	}, series(t, promretry.New(promretry.Config{}), ""))
}
