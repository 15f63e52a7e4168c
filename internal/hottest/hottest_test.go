package hottest_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/hottest"
	"github.com/awsretry/awsretry/retry"
)

// hotScope is a scope with so many waiting attempts and used tokens.
func hotScope(resource string, waiting, used int) retry.ScopeSnapshot {
	key := retry.ScopeKey{Service: "dynamodb", Region: "eu-west-1", Resource: resource}
	return retry.ScopeSnapshot{
		Key: key, Scope: key.String(), Waiting: waiting, Quota: 500 - used, QuotaCapacity: 500,
		FillRate: 2, MeasuredRate: 1, SendTokens: 0.5, SendCapacity: 3,
	}
}

// pick returns what is picked the first time: the scopes that are shown, and the rest.
func pick(n int, name func(retry.ScopeKey) string, snapshots ...retry.Snapshot) (hot []retry.ScopeSnapshot, rest retry.ScopeSnapshot) {
	hot = hottest.New(n, name).Pick(time.Unix(0, 0), snapshots...)
	if last := len(hot) - 1; last >= 0 && hot[last].Scope == hottest.Rest {
		hot, rest = hot[:last], hot[last]
	}
	return hot, rest
}

func names(scopes []retry.ScopeSnapshot) string {
	var all []string
	for _, s := range scopes {
		all = append(all, strings.TrimPrefix(s.Scope, "dynamodb/eu-west-1/"))
	}
	return strings.Join(all, " ")
}

func TestHottestScopesComeFirstAndTheRestIsOne(t *testing.T) {
	t.Parallel()
	snapshot := retry.Snapshot{Scopes: []retry.ScopeSnapshot{
		{QuotaCapacity: 500, Quota: 500}, hotScope("a", 0, 10), hotScope("b", 0, 10), hotScope("c", 3, 0), hotScope("d", 0, 400),
	}}
	before := slices.Clone(snapshot.Scopes)
	for n, want := range map[int][2]string{
		-1: {"", "2080 of 2500"}, 0: {"", "2080 of 2500"}, 1: {"c", "1580 of 2000"}, 2: {"c d", "1480 of 1500"}, 3: {"c d a", "990 of 1000"},
		4: {"c d a b", "500 of 500"}, 5: {"c d a b (all)", "0 of 0"}, 100: {"c d a b (all)", "0 of 0"},
	} {
		hot, rest := pick(n, nil, snapshot)
		require.Equal(t, want[0], names(hot), n)
		require.Equal(t, want[1], fmt.Sprintf("%d of %d", rest.Quota, rest.QuotaCapacity), n)
	}
	_, rest := pick(1, nil, snapshot)
	require.Equal(t, retry.ScopeKey{}, rest.Key, "the whole strategy differs from the tables")
	require.Equal(t, before, snapshot.Scopes)
}

func TestHottestScopesWithOneNameAreOne(t *testing.T) {
	t.Parallel()
	late := time.Unix(100, 0)
	one := retry.Snapshot{Scopes: []retry.ScopeSnapshot{hotScope("tenant-1", 1, 10), hotScope("tenant-2", 2, 20), hotScope("orders", 0, 5)}}
	other := retry.Snapshot{Scopes: []retry.ScopeSnapshot{hotScope("orders", 1, 7), hotScope("secret", 9, 9)}}
	other.Scopes[0].Limited, other.Scopes[0].LastThrottle, other.Scopes[0].SendRateSource = true, late, "local"
	tenants := func(key retry.ScopeKey) string {
		if key.Resource == "secret" {
			return ""
		}
		name, _, _ := strings.Cut(key.Resource, "-")
		return name
	}
	hot, rest := pick(20, tenants, one, other)
	require.Equal(t, "tenant orders", names(hot))
	require.Equal(t, retry.ScopeSnapshot{
		Key:   retry.ScopeKey{Service: "dynamodb", Region: "eu-west-1"},
		Scope: "tenant", Quota: 970, QuotaCapacity: 1000, FillRate: 4, MeasuredRate: 2, SendTokens: 1, SendCapacity: 6, Waiting: 3,
	}, hot[0])
	require.Equal(t, retry.ScopeKey{Service: "dynamodb", Region: "eu-west-1", Resource: "orders"}, hot[1].Key)
	require.True(t, hot[1].Limited)
	require.Equal(t, late, hot[1].LastThrottle)
	require.Equal(t, 1, hot[1].Waiting)
	require.Equal(t, "local", hot[1].SendRateSource, "of the one in adaptive mode")
	require.Equal(t, 9, rest.Waiting)
	require.Equal(t, hotScope("orders", 0, 5), one.Scopes[2], "the snapshot stays as it is")

	hot, rest = pick(20, nil, one, other)
	require.Equal(t, "secret tenant-2 orders tenant-1", names(hot))
	require.Zero(t, rest)
	hot, rest = pick(20, nil)
	require.Empty(t, hot)
	require.Zero(t, rest)
}

// fleetScope is a scope of a fleet with such a rate and a number of calls of which the tenth failed.
func fleetScope(resource, source string, rate float64, calls uint64) retry.ScopeSnapshot {
	s := hotScope(resource, 1, 0)
	s.SendRateSource, s.FleetRate, s.StoreCalls, s.StoreFailures = source, rate, calls, calls/10
	return s
}

func TestScopesOfAFleetWithOneNameAreOne(t *testing.T) {
	t.Parallel()
	one := retry.Snapshot{Scopes: []retry.ScopeSnapshot{
		fleetScope("a", "fleet", 20, 100), fleetScope("b", "fleet", 7, 30), hotScope("c", 0, 0),
	}}
	two := retry.Snapshot{Scopes: []retry.ScopeSnapshot{
		fleetScope("a", "fleet", 19, 50), fleetScope("b", "local", 0, 10), fleetScope("c", "fleet", 3, 10),
	}}
	fleet := func(s retry.ScopeSnapshot) string {
		return fmt.Sprintf("%s %v/s, %d of %d failed", s.SendRateSource, s.FleetRate, s.StoreFailures, s.StoreCalls)
	}
	hot, rest := pick(20, nil, one, two)
	require.Equal(t, "a b c", names(hot))
	require.Equal(t, "fleet 20/s, 15 of 150 failed", fleet(hot[0]), "both strategies say the rate of the same fleet")
	require.Equal(t, "fleet 7/s, 4 of 40 failed", fleet(hot[1]), "one strategy has not heard of a limit")
	require.Equal(t, "fleet 3/s, 1 of 10 failed", fleet(hot[2]), "one strategy is in no fleet")
	require.Zero(t, rest)

	const all = "fleet 30/s, 20 of 200 failed"
	for _, order := range [][]retry.Snapshot{{one, two}, {two, one}} {
		hot, rest = pick(0, nil, order...)
		require.Empty(t, hot)
		require.Equal(t, all, fleet(rest))
		hot, _ = pick(20, func(retry.ScopeKey) string { return "tables" }, order...)
		require.Equal(t, all, fleet(hot[0]))
		_, rest = pick(20, func(retry.ScopeKey) string { return "" }, order...)
		require.Equal(t, all, fleet(rest))
	}
	require.Equal(t, fleetScope("a", "fleet", 20, 100), one.Scopes[0], "the snapshot stays as it is")
}

func TestAFleetThatIsLostIsSeenBesideOtherScopes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sources []string
		want    string
	}{
		{[]string{"", ""}, ""},
		{[]string{"", "local"}, "local"},
		{[]string{"local", "of another module"}, "local"},
		{[]string{"local", "fleet", ""}, "fleet"},
		{[]string{"fleet", "local"}, "fleet"},
		{[]string{"local", "fleet", "fleet-lost", "fleet"}, "fleet-lost"},
		{[]string{"fleet-lost", "fleet", "local", ""}, "fleet-lost"},
	} {
		var s retry.Snapshot
		for i, source := range c.sources {
			s.Scopes = append(s.Scopes, fleetScope(strconv.Itoa(i), source, 0, 0))
		}
		_, rest := pick(0, nil, s)
		require.Equal(t, c.want, rest.SendRateSource, c.sources)
	}
}

// The number of tokens and of attempts stays the same, however the scopes are put together.
func TestHottestLosesNothing(t *testing.T) {
	t.Parallel()
	var snapshots []retry.Snapshot
	waiting, quota := 0, 0
	for i := range 3 {
		var s retry.Snapshot
		for j := range 50 {
			s.Scopes = append(s.Scopes, hotScope(strconv.Itoa(j*(i+1)), (i*j)%7, (i+j)%11))
			waiting, quota = waiting+(i*j)%7, quota+500-(i+j)%11
		}
		snapshots = append(snapshots, s)
	}
	for n := range 160 {
		for _, name := range []func(retry.ScopeKey) string{nil, func(k retry.ScopeKey) string { return k.Resource[:1] }} {
			hot, rest := pick(n, name, snapshots...)
			require.LessOrEqual(t, len(hot), n)
			require.True(t, slices.IsSortedFunc(hot, func(a, b retry.ScopeSnapshot) int { return b.Waiting - a.Waiting }))
			sums := [2]int{rest.Waiting, rest.Quota}
			for _, s := range hot {
				sums[0], sums[1] = sums[0]+s.Waiting, sums[1]+s.Quota
			}
			require.Equal(t, [2]int{waiting, quota}, sums)
		}
	}
}

func BenchmarkHottest(b *testing.B) {
	var s retry.Snapshot
	for i := range 10_000 {
		s.Scopes = append(s.Scopes, hotScope(fmt.Sprintf("table-%05d", i), i%3, i%7))
	}
	shown := hottest.New(20, nil)
	b.ReportAllocs()
	for b.Loop() {
		shown.Pick(time.Unix(0, 0), s)
	}
}
