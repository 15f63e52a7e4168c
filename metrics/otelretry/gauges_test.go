package otelretry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestTheHottestScopesHaveGaugesAndTheRestIsSummed(t *testing.T) {
	t.Parallel()
	tables := make([]string, 30)
	for i := range tables {
		tables[i] = fmt.Sprintf("t%02d", i)
	}
	for name, c := range map[string]struct {
		scopes, points int
		others         string
	}{
		"20 by default": {0, 21, "{awsretry.scope=other cloud.region=eu-central-1 rpc.service=dynamodb} 4945"},
		"2":             {2, 3, "{awsretry.scope=other cloud.region=eu-central-1 rpc.service=dynamodb} 13594"},
		"all":           {30, 30, ""},
		"none":          {-1, 1, "{awsretry.scope=other cloud.region=eu-central-1 rpc.service=dynamodb} 14535"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, config := newReader()
			config.Scopes = c.scopes
			require.NoError(t, newTelemetry(t, config).Watch(show(t, tables...)))
			metrics := collect(t, reader)
			points := figures(t, metrics, "awsretry.quota.available")
			require.Len(t, points, c.points)
			require.Equal(t, c.others != "", strings.Contains(points[len(points)-1]+points[0], "=other"))
			if c.others != "" {
				require.Contains(t, points, c.others)
			}
			require.Equal(t, []string{"{} 30"}, figures(t, metrics, "awsretry.scopes"))
		})
	}
}

func TestScopesAreRenamedAndDropped(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	config.ScopeName = func(key retry.ScopeKey) string {
		switch key.Resource {
		case "secret":
			return ""
		case "claims":
			return "other"
		case "broken":
			return "a\xfftable"
		case "long":
			return strings.Repeat("x", 201)
		}
		return "a table"
	}
	require.NoError(t, newTelemetry(t, config).Watch(show(t, "orders", "users", "secret", "claims", "broken", "long")))
	require.Equal(t, []string{
		"{awsretry.scope=a table cloud.region=eu-central-1 rpc.service=dynamodb} 1000",
		"{awsretry.scope=a\uFFFDtable cloud.region=eu-central-1 rpc.service=dynamodb} 500",
		"{awsretry.scope=other cloud.region=eu-central-1 rpc.service=dynamodb} 1000",
		"{awsretry.scope=" + strings.Repeat("x", 200) + " cloud.region=eu-central-1 rpc.service=dynamodb} 500",
	}, figures(t, collect(t, reader), "awsretry.quota.capacity"))
}

func TestNamesOfScopesMayBeOdd(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	config.Scopes = 4 // three scopes are the rest
	s, long := show(t), strings.Repeat("x", 200)
	for i, key := range []retry.ScopeKey{
		{},
		retry.OverflowKey(),
		{Scope: "other"},
		{Service: "\xff"},
		{Service: long + "y", Region: long + "y"},
		{Service: long + "z"},
		{Scope: "cold"},
		{Scope: "colder"},
	} {
		s.snapshot.Scopes = append(s.snapshot.Scopes, retry.ScopeSnapshot{Key: key, Scope: key.String(), Quota: i, QuotaCapacity: 500})
	}
	require.NoError(t, newTelemetry(t, config).Watch(s))
	require.Equal(t, []string{
		"{awsretry.scope=(all)} 500", "{awsretry.scope=(overflow)} 500", "{awsretry.scope=other} 1500",
		"{awsretry.scope=" + long + "} 1000", "{awsretry.scope=\uFFFD rpc.service=\uFFFD} 500",
	}, figures(t, collect(t, reader), "awsretry.quota.capacity"))
}

func TestSeveralStrategiesAddUp(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	a, b := show(t, "orders", "users"), show(t, "orders")
	a.snapshot.Overflowed, a.snapshot.Evicted, b.snapshot.Overflowed, b.snapshot.Evicted = 1, 2, 30, 40
	require.NoError(t, telemetry.Watch(a))
	require.NoError(t, telemetry.Watch(b))
	metrics := collect(t, reader)
	require.Equal(t, []string{"{} 3"}, figures(t, metrics, "awsretry.scopes"))
	require.Equal(t, []string{"{} 31"}, figures(t, metrics, "awsretry.scopes.overflowed"))
	require.Equal(t, []string{"{} 42"}, figures(t, metrics, "awsretry.scopes.evicted"))
	require.Equal(t, []string{
		"{awsretry.scope=dynamodb/eu-central-1/orders cloud.region=eu-central-1 rpc.service=dynamodb} 1000",
		"{awsretry.scope=dynamodb/eu-central-1/users cloud.region=eu-central-1 rpc.service=dynamodb} 500",
	}, figures(t, metrics, "awsretry.quota.capacity"))
}

func TestGaugesOfTheSendRateAreForAdaptiveModeOnly(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	s := show(t, "standard", "free", "limited", "both")
	s.snapshot.Scopes[1].SendRateSource = "local"
	s.snapshot.Scopes[2].SendRateSource = "redis"
	s.snapshot.Scopes[2].Limited, s.snapshot.Scopes[2].FillRate = true, 2.5
	s.snapshot.Scopes[3].Waiting, s.snapshot.Scopes[3].MeasuredRate, s.snapshot.Scopes[3].SendRateSource = 3, 1.5, "local"
	s.snapshot.Scopes = append(s.snapshot.Scopes, show(t, "both").snapshot.Scopes...) // in standard mode
	config.ScopeName = func(key retry.ScopeKey) string { return key.Resource }
	require.NoError(t, newTelemetry(t, config).Watch(s))
	metrics := collect(t, reader)
	line := "{awsretry.scope=%s cloud.region=eu-central-1 rpc.service=dynamodb} %v"
	require.Equal(t, []string{fmt.Sprintf(line, "limited", 2.5)}, figures(t, metrics, "awsretry.send.rate"))
	require.Equal(t, []string{fmt.Sprintf(line, "both", 1.5), fmt.Sprintf(line, "free", 0), fmt.Sprintf(line, "limited", 0)},
		figures(t, metrics, "awsretry.send.measured_rate"))
	require.Equal(t, []string{fmt.Sprintf(line, "both", 3), fmt.Sprintf(line, "free", 0), fmt.Sprintf(line, "limited", 0)},
		figures(t, metrics, "awsretry.send.waiting"))
}

func TestMetricsOfAFleetAreForScopesInAFleetOnly(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	config.ScopeName = func(key retry.ScopeKey) string { return key.Resource }
	telemetry := newTelemetry(t, config)
	one := showFleet(t, []string{"fleet-lost", "local"}, "lost", "open", "local")
	one.snapshot.Scopes[1].FleetRate, one.snapshot.Scopes[1].StoreFailures = 0, 0
	one.snapshot.Scopes[2] = show(t, "local").snapshot.Scopes[0]
	one.snapshot.Scopes[2].SendRateSource, one.snapshot.Scopes[2].SendTokens = "local", 5
	require.NoError(t, telemetry.Watch(one, showFleet(t, []string{"fleet"}, "lost")))
	metrics := collect(t, reader)
	line := func(table string, value any) string {
		return fmt.Sprintf("{awsretry.scope=%s cloud.region=eu-central-1 rpc.service=dynamodb} %v", table, value)
	}
	require.Equal(t, []string{line("lost", 40)}, figures(t, metrics, "awsretry.fleet.rate"))
	require.Equal(t, []string{line("lost", 6)}, figures(t, metrics, "awsretry.fleet.slots"))
	require.Equal(t, []string{line("lost", 400), line("open", 200)}, figures(t, metrics, "awsretry.fleet.store.calls"))
	require.Equal(t, []string{line("lost", 14), line("open", 0)}, figures(t, metrics, "awsretry.fleet.store.failures"))
	require.Equal(t, []string{
		"{awsretry.fleet.state=fleet-lost awsretry.scope=lost cloud.region=eu-central-1 rpc.service=dynamodb} 1",
		"{awsretry.fleet.state=local awsretry.scope=open cloud.region=eu-central-1 rpc.service=dynamodb} 1",
	}, figures(t, metrics, "awsretry.fleet.state"))
}

// A scope that leaves the rest would make its counters go back.
func TestTheRestSaysOnlyWhetherAFleetIsLost(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	config.Scopes = 1
	config.ScopeName = func(key retry.ScopeKey) string { return key.Resource }
	require.NoError(t, newTelemetry(t, config).Watch(showFleet(t, []string{"fleet", "fleet-lost"}, "hot", "cold", "other", "colder")))
	metrics := collect(t, reader)
	for _, name := range []string{"rate", "slots", "store.calls", "store.failures"} {
		points := figures(t, metrics, "awsretry.fleet."+name)
		require.Len(t, points, 1, name)
		require.Contains(t, points[0], "awsretry.scope=hot", name)
	}
	require.Contains(t, figures(t, metrics, "awsretry.fleet.state"),
		"{awsretry.fleet.state=fleet-lost awsretry.scope=other cloud.region=eu-central-1 rpc.service=dynamodb} 1")
}

func TestStrategiesSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	reader, config := newReader()
	plain, err := standard.New(standard.Config{})
	require.NoError(t, err)
	old, err := standard.New(standard.Config{MaxAttempts: 10, Behavior: retry.V20})
	require.NoError(t, err)
	require.NoError(t, newTelemetry(t, config).Watch(plain, old, newStrategy(t)))
	require.Equal(t, []string{
		"{awsretry.attempts=10 awsretry.behavior=v2.0 awsretry.mode=standard awsretry.version=(devel)} 1",
		"{awsretry.attempts=3 awsretry.behavior=v2.1 awsretry.mode=standard awsretry.version=(devel)} 1",
	}, figures(t, collect(t, reader), "awsretry.info"))
}
