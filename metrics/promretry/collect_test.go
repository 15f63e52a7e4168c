package promretry_test

import (
	"strings"
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
			want[i] = `awsretry_quota_available{awsretry_scope=` + strings.Replace(line, "}", `,cloud_region="",rpc_service=""}`, 1)
		}
		require.Equal(t, want, series(t, metrics, "awsretry_quota_available{"))
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
		"awsretry_quota_available{awsretry_scope=\"queues\",cloud_region=\"\",rpc_service=\"sqs\uFFFD\"} 3",
	}, series(t, metrics, "awsretry_quota_available{"))
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
		`awsretry_send_measured_rate_per_second{awsretry_scope="free",cloud_region="",rpc_service=""} 7`,
		`awsretry_send_measured_rate_per_second{awsretry_scope="limited",cloud_region="",rpc_service=""} 2`,
		`awsretry_send_rate_per_second{awsretry_scope="limited",cloud_region="",rpc_service=""} 2.5`,
		`awsretry_send_waiting{awsretry_scope="free",cloud_region="",rpc_service=""} 0`,
		`awsretry_send_waiting{awsretry_scope="limited",cloud_region="",rpc_service=""} 4`,
	}, series(t, metrics, "awsretry_send_"))

	// A scope of a strategy in each mode.
	require.NoError(t, metrics.Watch(show(t, both)))
	require.Contains(t, series(t, metrics, "awsretry_send_"),
		`awsretry_send_measured_rate_per_second{awsretry_scope="plain",cloud_region="",rpc_service=""} 3`)
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
		`awsretry_fleet_rate_per_second{awsretry_scope="lost",cloud_region="",rpc_service=""} 40`,
		`awsretry_fleet_slots{awsretry_scope="lost",cloud_region="",rpc_service=""} 6`,
		`awsretry_fleet_state{awsretry_fleet_state="fleet-lost",awsretry_scope="lost",cloud_region="",rpc_service=""} 1`,
		`awsretry_fleet_state{awsretry_fleet_state="local",awsretry_scope="open",cloud_region="",rpc_service=""} 1`,
		`awsretry_fleet_store_calls_total{awsretry_scope="lost",cloud_region="",rpc_service=""} 400`,
		`awsretry_fleet_store_calls_total{awsretry_scope="open",cloud_region="",rpc_service=""} 200`,
		`awsretry_fleet_store_failures_total{awsretry_scope="lost",cloud_region="",rpc_service=""} 14`,
		`awsretry_fleet_store_failures_total{awsretry_scope="open",cloud_region="",rpc_service=""} 0`,
		"awsretry_fleet_stores_unreached 0",
	}, series(t, metrics, "awsretry_fleet_"))
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
	require.Empty(t, series(t, metrics, "awsretry_info"))
	require.NoError(t, metrics.Watch(old, plain, same))
	require.Equal(t, []string{
		`awsretry_info{awsretry_attempts="10",awsretry_behavior="v2.0",awsretry_mode="adaptive",awsretry_version="(devel)"} 1`,
		`awsretry_info{awsretry_attempts="3",awsretry_behavior="v2.1",awsretry_mode="standard",awsretry_version="(devel)"} 1`,
	}, series(t, metrics, "awsretry_info"))
}

func TestMetricsWithoutStrategiesCanBeScraped(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"awsretry_fleet_stores_unreached 0", "awsretry_quota_pool_available 0", "awsretry_quota_pool_capacity 0", "awsretry_quota_pools_empty 0",
		"awsretry_scopes 0", "awsretry_scopes_evicted_total 0", "awsretry_scopes_overflowed_total 0",
	}, series(t, promretry.New(promretry.Config{}), "awsretry_"))
}
