package promretry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

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

func TestServicesAreSpelledAsTheSDKsDo(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{SDKServices: true})
	key := retry.ScopeKey{Service: "secrets manager"}
	require.NoError(t, metrics.Watch(show(t, retry.ScopeSnapshot{Key: key, Scope: key.String()})))
	for range 2 {
		for _, service := range []string{"dynamodb", "of mine", ""} {
			op := retry.Operation{Service: service, Name: "Call"}
			metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Operation: op})
			metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Operation: op, Err: apiError("X")})
		}
	}
	for _, service := range []string{"DynamoDB", "of mine", ""} {
		require.Contains(t, series(t, metrics, "awsretry_attempts_total{"),
			`awsretry_attempts_total{aws_region="",awsretry_kind="ok",error_type="",rpc_method="Call",rpc_service="`+service+`"} 2`)
	}
	require.Len(t, series(t, metrics, "awsretry_attempts_total{"), 6)
	require.Contains(t, series(t, metrics, "awsretry_quota_available{")[0], `rpc_service="Secrets Manager"`)
}

func TestNativeHistogramsAreThereBesideTheClassicOnes(t *testing.T) {
	t.Parallel()
	for _, native := range []bool{false, true} {
		metrics := promretry.New(promretry.Config{NativeHistograms: native})
		metrics.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Elapsed: 3 * time.Second, Attempt: 2})
		found, err := registryOf(t, metrics).Gather()
		require.NoError(t, err)
		histograms := 0
		for _, family := range found {
			for _, m := range family.GetMetric() {
				if h := m.GetHistogram(); h != nil {
					histograms++
					require.NotEmpty(t, h.GetBucket(), family.GetName())
					require.Equal(t, native, h.Schema != nil, family.GetName())
					require.Equal(t, native, len(h.GetPositiveSpan())+len(h.GetNegativeSpan()) > 0 || h.GetZeroCount() > 0, family.GetName())
				}
			}
		}
		require.Equal(t, 3, histograms, "of calls, retries and delays")
	}
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
