package promretry_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// quotas returns the gauge of the quota for each scope.
func quotas(t *testing.T, c promretry.Config, strategies ...retry.Strategy) []string {
	t.Helper()
	metrics := promretry.New(c)
	require.NoError(t, metrics.Watch(strategies...))
	found := series(t, metrics, "awsretry_quota_available{")
	for i, line := range found {
		line = strings.TrimPrefix(line, `awsretry_quota_available{awsretry_scope=`)
		found[i] = strings.Replace(line, `,cloud_region="",rpc_service=""}`, "", 1)
	}
	return found
}

func TestHottestScopesHaveGaugesAndTheOthersAreOne(t *testing.T) {
	t.Parallel()
	strategy := show(t, scope("a", 1), scope("b", 50), scope("c", 40), scope("d", 0))
	for name, tt := range map[string]struct {
		config promretry.Config
		want   []string
	}{
		"all of them":  {promretry.Config{}, []string{`"a" 99`, `"b" 50`, `"c" 60`, `"d" 100`}},
		"two of them":  {promretry.Config{Scopes: 2}, []string{`"b" 50`, `"c" 60`, `"other" 199`}},
		"none of them": {promretry.Config{Scopes: -1}, []string{`"other" 309`}},
		"renamed": {
			promretry.Config{ScopeName: func(k retry.ScopeKey) string { return "table " + k.Scope }},
			[]string{`"table a" 99`, `"table b" 50`, `"table c" 60`, `"table d" 100`},
		},
		"dropped": {
			promretry.Config{ScopeName: func(k retry.ScopeKey) string { return strings.Trim(k.Scope, "bc") }},
			[]string{`"a" 99`, `"d" 100`, `"other" 110`},
		},
		"merged": {
			promretry.Config{Scopes: 1, ScopeName: func(k retry.ScopeKey) string {
				return strings.NewReplacer("a", "x", "b", "x").Replace(k.Scope)
			}},
			[]string{`"other" 160`, `"x" 149`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, quotas(t, tt.config, strategy))
		})
	}
}

func TestTwentyScopesHaveGaugesUnlessTheConfigSaysOtherwise(t *testing.T) {
	t.Parallel()
	var scopes []retry.ScopeSnapshot
	for i := range 25 {
		scopes = append(scopes, scope(string(rune('a'+i)), i))
	}
	got := quotas(t, promretry.Config{}, show(t, scopes...))
	require.Len(t, got, 21)
	require.Contains(t, got, `"other" 490`)
	require.Contains(t, got, `"y" 76`)
}

// Two series with the same labels would make the whole scrape fail.
func TestScopesHaveDifferentNamesWhateverTheyAreCalled(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 199)
	for name, tt := range map[string]struct {
		scopes []retry.ScopeSnapshot
		want   []string
	}{
		"other among the hottest": {
			[]retry.ScopeSnapshot{scope("a", 1), scope("b", 2), scope("other", 50), scope("z", 40)},
			[]string{`"b" 98`, `"other" 149`, `"z" 60`},
		},
		"other among the rest": {
			[]retry.ScopeSnapshot{scope("a", 30), scope("b", 20), scope("other", 5)},
			[]string{`"a" 70`, `"b" 80`, `"other" 95`},
		},
		"other without a rest": {[]retry.ScopeSnapshot{scope("a", 30), scope("other", 5)}, []string{`"a" 70`, `"other" 95`}},
		"whole and its name":   {[]retry.ScopeSnapshot{scope("", 1), scope("(all)", 2)}, []string{`"(all)" 197`}},
		"alike once they are text": {
			[]retry.ScopeSnapshot{scope("\xff", 30), scope("\xfe", 5)}, []string{"\"\uFFFD\" 165"},
		},
		"alike once they are cut": {
			[]retry.ScopeSnapshot{scope(long+"ab", 30), scope(long+"ac", 5)}, []string{`"` + long + `a" 165`},
		},
		"cut in a letter": {[]retry.ScopeSnapshot{scope(long+"é", 30)}, []string{`"` + long + "\uFFFD\" 70"}},
		"quotes and lines": {
			[]retry.ScopeSnapshot{scope("a\"b\nc\\", 30)}, []string{`"a\"b\nc\\" 70`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, quotas(t, promretry.Config{Scopes: 2}, show(t, tt.scopes...)))
		})
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
	open, local := fleetScope("open", "local", 0), scope("local", 0)
	open.FleetRate, open.StoreFailures = 0, 0
	local.SendRateSource, local.SendTokens = "local", 5
	metrics := promretry.New(promretry.Config{})
	require.NoError(t, metrics.Watch(show(t, scope("plain", 0), local, open, fleetScope("lost", "fleet-lost", 0))))
	require.NoError(t, metrics.Watch(show(t, fleetScope("lost", "fleet", 0))), "a strategy with a scope of the same name")
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

// A scope that leaves the rest would make its counters go back.
func TestTheRestSaysOnlyWhetherAFleetIsLost(t *testing.T) {
	t.Parallel()
	for name, scopes := range map[string][]retry.ScopeSnapshot{
		"the rest":    {fleetScope("a", "fleet", 2), fleetScope("b", "fleet-lost", 1), scope("c", 0)},
		"a namesake":  {fleetScope("a", "fleet", 1), fleetScope("other", "fleet-lost", 2)},
		"both are so": {fleetScope("a", "fleet", 2), fleetScope("b", "fleet", 1), fleetScope("other", "fleet-lost", 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			metrics := promretry.New(promretry.Config{Scopes: 1})
			require.NoError(t, metrics.Watch(show(t, scopes...)))
			var others []string
			for _, line := range series(t, metrics, "awsretry_fleet_") {
				if strings.Contains(line, `"other"`) {
					others = append(others, line)
				}
			}
			require.Equal(t, []string{
				`awsretry_fleet_state{awsretry_fleet_state="fleet-lost",awsretry_scope="other",cloud_region="",rpc_service=""} 1`,
			}, others)
		})
	}
}

func TestWordsOfAnotherLimiterAreCut(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	require.NoError(t, metrics.Watch(show(t, fleetScope("a", "\xff"+strings.Repeat("w", 300), 0))))
	require.Equal(t, []string{
		`awsretry_fleet_state{awsretry_fleet_state="` + "\uFFFD" + strings.Repeat("w", 199) +
			`",awsretry_scope="a",cloud_region="",rpc_service=""} 1`,
	}, series(t, metrics, "awsretry_fleet_state"))
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

func TestStrategiesThatCannotPayForARetryAreCounted(t *testing.T) {
	t.Parallel()
	low, whole := scope("low", 87), retry.ScopeSnapshot{QuotaCapacity: 100}
	for name, tt := range map[string]struct {
		pool   int
		scopes []retry.ScopeSnapshot
		want   string
	}{
		"quota and pool":          {13, []retry.ScopeSnapshot{scope("full", 0), low}, "1"},
		"the pool pays":           {14, []retry.ScopeSnapshot{low}, "0"},
		"the quota pays":          {0, []retry.ScopeSnapshot{scope("enough", 86)}, "0"},
		"no pool for the whole":   {0, []retry.ScopeSnapshot{whole}, "0"},
		"nothing was retried yet": {0, nil, "0"},
	} {
		strategy := show(t, tt.scopes...)
		strategy.snapshot.Pool = tt.pool
		metrics := promretry.New(promretry.Config{})
		require.NoError(t, metrics.Watch(strategy, show(t, scope("healthy", 0))))
		require.Equal(t, "awsretry_quota_pools_empty "+tt.want, strings.Join(series(t, metrics, "awsretry_quota_pools_empty"), ""), name)
	}
}

func TestWithoutQuotaQuotaAndPoolAreFull(t *testing.T) {
	t.Parallel()
	strategy, err := standard.New(standard.Config{NoQuota: true})
	require.NoError(t, err)
	op := retry.Operation{Scope: "orders"}
	for range 50 {
		token, err := strategy.AcquireInitialToken(t.Context(), op)
		require.NoError(t, err)
		_, err = strategy.RefreshRetryToken(t.Context(), token, retry.Mark(apiError("Down"), classify.Transient))
		require.NoError(t, err)
	}
	metrics := promretry.New(promretry.Config{})
	require.NoError(t, metrics.Watch(strategy))
	require.Equal(t, []string{
		`awsretry_quota_available{awsretry_scope="(all)",cloud_region="",rpc_service=""} 500`,
		`awsretry_quota_available{awsretry_scope="orders",cloud_region="",rpc_service=""} 500`,
		`awsretry_quota_capacity{awsretry_scope="(all)",cloud_region="",rpc_service=""} 500`,
		`awsretry_quota_capacity{awsretry_scope="orders",cloud_region="",rpc_service=""} 500`,
		"awsretry_quota_pool_available 100", "awsretry_quota_pool_capacity 100", "awsretry_quota_pools_empty 0",
	}, slices.DeleteFunc(series(t, metrics, "awsretry_quota_"), func(line string) bool { return strings.Contains(line, "_calls_total") }))
}

func TestFleetsThatNeverReachedTheirStoreAreCounted(t *testing.T) {
	t.Parallel()
	calls := func(calls, failures uint64) retry.ScopeSnapshot {
		return retry.ScopeSnapshot{StoreCalls: calls, StoreFailures: failures}
	}
	for name, tt := range map[string]struct {
		scopes []retry.ScopeSnapshot
		want   string
	}{
		"each call failed":             {[]retry.ScopeSnapshot{calls(9, 9), calls(1, 1)}, "1"},
		"a call of each is on its way": {[]retry.ScopeSnapshot{calls(9, 8), calls(1, 0)}, "1"},
		"one came back":                {[]retry.ScopeSnapshot{calls(9, 7), calls(1, 0)}, "0"},
		"the first is on its way":      {[]retry.ScopeSnapshot{calls(1, 0)}, "0"},
		"in no fleet":                  {[]retry.ScopeSnapshot{calls(0, 0)}, "0"},
	} {
		metrics := promretry.New(promretry.Config{Scopes: -1}) // whatever scopes are shown
		require.NoError(t, metrics.Watch(show(t, tt.scopes...), show(t, calls(100, 0))))
		require.Equal(t, "awsretry_fleet_stores_unreached "+tt.want, strings.Join(series(t, metrics, "awsretry_fleet_stores"), ""), name)
	}
}

func TestMetricsWithoutStrategiesCanBeScraped(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"awsretry_fleet_stores_unreached 0", "awsretry_quota_pool_available 0", "awsretry_quota_pool_capacity 0", "awsretry_quota_pools_empty 0",
		"awsretry_scopes 0", "awsretry_scopes_evicted_total 0", "awsretry_scopes_overflowed_total 0",
	}, series(t, promretry.New(promretry.Config{}), "awsretry_"))
}
