package promretry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

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

// quotas returns the gauge of the quota for each scope.
func quotas(t *testing.T, c promretry.Config, strategies ...retry.Strategy) []string {
	t.Helper()
	metrics := promretry.New(c)
	require.NoError(t, metrics.Watch(strategies...))
	found := series(t, metrics, "awsretry_quota_available{")
	for i, line := range found {
		line = strings.TrimPrefix(line, `awsretry_quota_available{aws_region="",awsretry_scope=`)
		found[i] = strings.Replace(line, `,rpc_service=""}`, "", 1)
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

func TestScopesKeepTheirGaugesForFiveMinutes(t *testing.T) {
	t.Parallel()
	clk, strategy := &clock.Fake{}, show(t, scope("a", 50), scope("b", 40))
	timed, err := standard.New(standard.Config{Clock: clk})
	require.NoError(t, err)
	strategy.Strategy = timed
	metrics := promretry.New(promretry.Config{Scopes: 1})
	require.NoError(t, metrics.Watch(strategy))
	for _, step := range []struct {
		wait time.Duration
		want string
	}{{0, "a"}, {5*time.Minute - 1, "a"}, {1, "b"}} {
		clk.Advance(step.wait)
		got := series(t, metrics, "awsretry_quota_available{")
		require.Contains(t, got[0], `awsretry_scope="`+step.want+`"`)
		strategy.snapshot.Scopes[0].Quota = 65 // so that b is hotter
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
		"awsretry_quota_available{aws_region=\"\",awsretry_scope=\"queues\",rpc_service=\"sqs\uFFFD\"} 3",
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
		`awsretry_send_measured_rate_per_second{aws_region="",awsretry_scope="free",rpc_service=""} 7`,
		`awsretry_send_measured_rate_per_second{aws_region="",awsretry_scope="limited",rpc_service=""} 2`,
		`awsretry_send_rate_per_second{aws_region="",awsretry_scope="limited",rpc_service=""} 2.5`,
		`awsretry_send_waiting{aws_region="",awsretry_scope="free",rpc_service=""} 0`,
		`awsretry_send_waiting{aws_region="",awsretry_scope="limited",rpc_service=""} 4`,
	}, series(t, metrics, "awsretry_send_"))

	// A scope of a strategy in each mode.
	require.NoError(t, metrics.Watch(show(t, both)))
	require.Contains(t, series(t, metrics, "awsretry_send_"),
		`awsretry_send_measured_rate_per_second{aws_region="",awsretry_scope="plain",rpc_service=""} 3`)
}

// fleetScope is a scope of a fleet that sends 40 a second, of which it has 3 slots.
func fleetScope(name, source string, used int) retry.ScopeSnapshot {
	s := scope(name, used)
	s.SendRateSource, s.Limited, s.FillRate, s.SendTokens = source, true, 10, 3
	s.FleetRate, s.StoreCalls, s.StoreFailures = 40, 200, 7
	return s
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
		`awsretry_fleet_rate_per_second{aws_region="",awsretry_scope="lost",rpc_service=""} 40`,
		`awsretry_fleet_slots{aws_region="",awsretry_scope="lost",rpc_service=""} 6`,
		`awsretry_fleet_state{aws_region="",awsretry_fleet_state="fleet-lost",awsretry_scope="lost",rpc_service=""} 1`,
		`awsretry_fleet_state{aws_region="",awsretry_fleet_state="local",awsretry_scope="open",rpc_service=""} 1`,
		`awsretry_fleet_store_calls_total{aws_region="",awsretry_scope="lost",rpc_service=""} 400`,
		`awsretry_fleet_store_calls_total{aws_region="",awsretry_scope="open",rpc_service=""} 200`,
		`awsretry_fleet_store_failures_total{aws_region="",awsretry_scope="lost",rpc_service=""} 14`,
		`awsretry_fleet_store_failures_total{aws_region="",awsretry_scope="open",rpc_service=""} 0`,
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
				`awsretry_fleet_state{aws_region="",awsretry_fleet_state="fleet-lost",awsretry_scope="other",rpc_service=""} 1`,
			}, others)
		})
	}
}

func TestWordsOfAnotherLimiterAreCut(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	require.NoError(t, metrics.Watch(show(t, fleetScope("a", "\xff"+strings.Repeat("w", 300), 0))))
	require.Equal(t, []string{
		`awsretry_fleet_state{aws_region="",awsretry_fleet_state="` + "\uFFFD" + strings.Repeat("w", 199) +
			`",awsretry_scope="a",rpc_service=""} 1`,
	}, series(t, metrics, "awsretry_fleet_state"))
}

func TestStrategiesAddUpAndEachCountsOnce(t *testing.T) {
	t.Parallel()
	one, two := show(t, scope("a", 10), scope("b", 20)), show(t, scope("a", 30))
	one.snapshot.Overflowed, one.snapshot.Evicted = 1, 2
	two.snapshot.Overflowed, two.snapshot.Evicted = 10, 20
	metrics := promretry.New(promretry.Config{})
	require.NoError(t, metrics.Watch(one))
	require.NoError(t, metrics.Watch(one, two, two))
	require.NoError(t, metrics.Watch())
	require.Equal(t, []string{
		"awsretry_scopes 3", "awsretry_scopes_evicted_total 22", "awsretry_scopes_overflowed_total 11",
	}, series(t, metrics, "awsretry_scopes"))
	require.Equal(t, []string{
		`awsretry_quota_capacity{aws_region="",awsretry_scope="a",rpc_service=""} 200`,
		`awsretry_quota_capacity{aws_region="",awsretry_scope="b",rpc_service=""} 100`,
	}, series(t, metrics, "awsretry_quota_capacity"))
}

// byValue is a strategy that == cannot compare.
type byValue struct {
	retry.Strategy
	scopes []string
}

func TestStrategiesThatCannotBeComparedCanBeWatched(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	s := byValue{show(t, scope("a", 0)), nil}
	require.NoError(t, metrics.Watch(s))
	require.NoError(t, metrics.Watch(s, show(t, scope("b", 0))))
	require.NotEmpty(t, series(t, metrics, "awsretry_quota_capacity"))
}

func TestWatchRefusesStrategiesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	for name, strategy := range map[string]retry.Strategy{
		"nil": nil, "a nil pointer": (*byValue)(nil), "around nil": byValue{},
	} {
		require.ErrorIs(t, metrics.Watch(show(t, scope("a", 0)), strategy), retry.ErrNoStrategy, name)
	}
	require.Equal(t, []string{"awsretry_scopes 0"}, series(t, metrics, "awsretry_scopes "), "none was added")
}

func TestMetricsOfTwoPartsOfAProgramFitIntoOneRegistry(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	for _, part := range []string{"uploads", "mails"} {
		metrics := promretry.New(promretry.Config{})
		require.NoError(t, metrics.Watch(show(t, scope("a", 0))))
		prometheus.WrapRegistererWith(prometheus.Labels{"part": part}, registry).MustRegister(metrics)
		metrics.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded})
	}
	require.Contains(t, scrape(t, registry), `awsretry_scopes{part="mails"} 1`)
}
