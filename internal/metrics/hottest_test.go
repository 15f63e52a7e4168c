package metrics_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/metrics"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// showing is a strategy with a snapshot that a test has made.
type showing struct {
	retry.Strategy
	snapshot retry.Snapshot
}

func (s *showing) Snapshot() retry.Snapshot { return s.snapshot }

func show(tb testing.TB, scopes ...retry.ScopeSnapshot) *showing {
	tb.Helper()
	s, err := standard.New(standard.Config{})
	require.NoError(tb, err)
	return &showing{s, retry.Snapshot{Pool: 14, Scopes: scopes}}
}

// table is a scope with so many waiting attempts and used tokens.
func table(name string, waiting, used int) retry.ScopeSnapshot {
	key := retry.ScopeKey{Service: "dynamodb", Region: "eu-west-1", Resource: name}
	return retry.ScopeSnapshot{Key: key, Scope: key.String(), Waiting: waiting, Quota: 500 - used, QuotaCapacity: 500}
}

// lines returns the scopes of a reading: name, waiting attempts, used tokens.
func lines(r metrics.Reading) (all []string) {
	for _, s := range r.Scopes {
		all = append(all, fmt.Sprint(strings.TrimPrefix(s.Scope, "dynamodb/eu-west-1/"), " ", s.Waiting, " ", s.QuotaCapacity-s.Quota))
	}
	return all
}

func TestHottestScopesComeFirstAndTheRestIsOne(t *testing.T) {
	t.Parallel()
	s := show(t, retry.ScopeSnapshot{QuotaCapacity: 500, Quota: 500}, table("a", 0, 10), table("b", 0, 10), table("c", 3, 0), table("d", 0, 400))
	before := slices.Clone(s.snapshot.Scopes)
	for n, want := range map[int]string{
		-1: "other 3 420", 0: "other 3 420", 1: "c 3 0,other 0 420", 2: "c 3 0,d 0 400,other 0 20",
		4: "c 3 0,d 0 400,a 0 10,b 0 10,other 0 0", 5: "c 3 0,d 0 400,a 0 10,b 0 10,(all) 0 0", 100: "c 3 0,d 0 400,a 0 10,b 0 10,(all) 0 0",
	} {
		r := (&metrics.Scopes{Limit: n}).Read([]retry.Strategy{s})
		require.Equal(t, want, strings.Join(lines(r), ","), n)
		require.Equal(t, 5, r.AllScopes)
	}
	require.Equal(t, before, s.snapshot.Scopes, "the snapshot stays as it is")
	require.Empty(t, (&metrics.Scopes{Limit: 20}).Read(nil).Scopes)
}

func TestScopesWithOneNameAreOne(t *testing.T) {
	t.Parallel()
	one, two := show(t, table("tenant-1", 1, 10), table("tenant-2", 2, 20), table("orders", 0, 5)), show(t, table("orders", 1, 7), table("secret", 9, 9))
	for i, source := range []string{"local", "fleet-lost", "fleet"} {
		s := &one.snapshot.Scopes[i]
		s.SendRateSource, s.FleetRate, s.StoreCalls, s.RefusedCalls = source, float64(20+i), 10, 2
	}
	two.snapshot.Scopes[0].FleetRate, two.snapshot.Scopes[0].Key.Region = 19, "eu-north-1"
	two.snapshot.Scopes[0].Limited = true
	two.snapshot.EvictedStrainedCalls, two.snapshot.EvictedRefusedCalls = 5, 3
	r := (&metrics.Scopes{Limit: 20, Name: func(key retry.ScopeKey) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(key.Resource, "secret"), "-")
		return name
	}}).Read([]retry.Strategy{one, two})
	require.Equal(t, []string{"tenant 3 30", "orders 1 12", "other 9 9"}, lines(r))
	tenant, orders := r.Scopes[0], r.Scopes[1]
	require.Equal(t, retry.ScopeKey{Service: "dynamodb", Region: "eu-west-1"}, retry.ScopeKey{Service: tenant.Key.Service, Region: tenant.Key.Region})
	require.Equal(t, "fleet-lost", tenant.SendRateSource)
	require.Equal(t, []uint64{20, 4}, []uint64{tenant.StoreCalls, tenant.RefusedCalls})
	require.Equal(t, []uint64{5, 3}, []uint64{r.Scopes[2].StrainedCalls, r.Scopes[2].RefusedCalls}, "of scopes that are gone")
	require.Equal(t, "fleet", orders.SendRateSource)
	require.Empty(t, orders.Key.Region)
	require.True(t, orders.Limited)
	require.InDelta(t, 22, orders.FleetRate, 0, "both strategies say the rate of the same fleet")
}

func TestNamesAreLabels(t *testing.T) {
	t.Parallel()
	r := (&metrics.Scopes{Limit: 20, Name: func(key retry.ScopeKey) string {
		return map[string]string{"a": "x\xff", "b": strings.Repeat("é", 200), "c": metrics.Rest, "d": ""}[key.Resource]
	}}).Read([]retry.Strategy{show(t, table("a", 4, 0), table("b", 3, 0), table("c", 2, 0), table("d", 1, 0))})
	require.Equal(t, []string{"x\uFFFD 4 0", strings.Repeat("é", 100) + " 3 0", "other 3 0"}, lines(r))
}

func TestStrategiesThatCannotPayOrReachTheirStoreCount(t *testing.T) {
	t.Parallel()
	read := func(s *showing) string {
		r := (&metrics.Scopes{Limit: 1}).Read([]retry.Strategy{s, s})
		return fmt.Sprint(r.PoolsEmpty, r.StoresUnreached, r.Kinds)
	}
	store := func(pool, used int, calls, failures uint64) *showing {
		s := show(t, table("a", 0, used))
		s.snapshot.Mode, s.snapshot.Pool = "adaptive", pool
		s.snapshot.Scopes[0].StoreCalls, s.snapshot.Scopes[0].StoreFailures = calls, failures
		return s
	}
	require.Equal(t, "0 0 [[adaptive 3 ]]", read(store(14, 500, 0, 0)))
	require.Equal(t, "2 0 [[adaptive 3 ]]", read(store(13, 487, 1, 0)))
	require.Equal(t, "0 2 [[adaptive 3 ]]", read(store(13, 486, 9, 8)))
	require.Equal(t, "0 0 [[adaptive 3 ]]", read(store(13, 486, 9, 7)))
	whole := show(t, retry.ScopeSnapshot{QuotaCapacity: 500})
	whole.snapshot.Pool = 0
	require.Equal(t, "0 0 [[ 3 ]]", read(whole), "the pool pays nothing for the strategy as a whole")
}

// A thousand tables have the same load. Without a scope that keeps its place, 236 would have series, and 21 do.
func TestUniformTroubleMakesFewSeries(t *testing.T) {
	t.Parallel()
	random, scopes, seen := rand.New(rand.NewPCG(1, 2)), &metrics.Scopes{Limit: 20}, map[string]bool{}
	var tables []retry.ScopeSnapshot
	for i := range 1000 {
		tables = append(tables, table(fmt.Sprintf("table-%04d", i), 0, 0))
	}
	for range 13 { // three minutes, with a scrape in 15 s
		for i := range tables {
			tables[i].Waiting, tables[i].Quota = random.IntN(5), 500-random.IntN(100)
		}
		for _, s := range scopes.Read([]retry.Strategy{show(t, tables...)}).Scopes {
			seen[s.Scope] = true
		}
	}
	require.Less(t, len(seen), 40)

	// What is clearly hotter takes a place at once, and what is healthy gives one up.
	tables[999].Quota, tables[999].Waiting = 0, 5
	r := scopes.Read([]retry.Strategy{show(t, tables...)})
	require.Contains(t, lines(r), "table-0999 5 500")
	for i := range tables {
		tables[i].Quota, tables[i].Waiting = 500, 0
	}
	tables[500].Quota = 499
	require.Equal(t, "table-0500 0 1", lines(scopes.Read([]retry.Strategy{show(t, tables...)}))[0])
}

// However scopes are put together, and with readers side by side, no token and no attempt is lost.
func TestReadingLosesNothingConcurrentSafe(t *testing.T) {
	t.Parallel()
	var strategies []retry.Strategy
	waiting, quota := 0, 0
	for i := range 3 {
		var tables []retry.ScopeSnapshot
		for j := range 50 {
			tables = append(tables, table(strconv.Itoa(j*(i+1)), (i*j)%7, (i+j)%11))
			waiting, quota = waiting+(i*j)%7, quota+500-(i+j)%11
		}
		strategies = append(strategies, show(t, tables...))
	}
	for _, n := range []int{0, 1, 20, 49, 149, 200} {
		for _, name := range []func(retry.ScopeKey) string{nil, func(k retry.ScopeKey) string { return k.Resource[:1] }} {
			scopes := &metrics.Scopes{Limit: n, Name: name}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					r := scopes.Read(strategies)
					sums := [2]int{}
					for _, s := range r.Scopes {
						sums[0], sums[1] = sums[0]+s.Waiting, sums[1]+s.Quota
					}
					if sums != [2]int{waiting, quota} || len(r.Scopes) > n+1 {
						t.Errorf("%d: %v", n, sums)
					}
				})
			}
			all.Wait()
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var tables []retry.ScopeSnapshot
	for i := range 10_000 {
		tables = append(tables, table(fmt.Sprintf("table-%05d", i), i%3, i%7))
	}
	strategies, scopes := []retry.Strategy{show(b, tables...)}, &metrics.Scopes{Limit: 20}
	b.ReportAllocs()
	for b.Loop() {
		scopes.Read(strategies)
	}
}
