package retry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

func TestKeysOfScopes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key  retry.ScopeKey
		want string // its name
	}{
		"nothing":      {retry.ScopeKey{}, ""},
		"a name":       {retry.ScopeKey{Scope: "orders"}, "orders"},
		"an account":   {retry.ScopeKey{Account: "111122223333"}, "111122223333"},
		"a service":    {retry.ScopeKey{Service: "s3"}, "s3"},
		"a region":     {retry.ScopeKey{Region: "eu-west-1"}, "/eu-west-1"},
		"an operation": {retry.ScopeKey{Name: "GetItem"}, "//GetItem"},
		"a resource":   {retry.ScopeKey{Resource: "orders"}, "//orders"},
		"all but a name": {
			retry.ScopeKey{Account: "111122223333", Service: "s3", Region: "eu-west-1", Name: "Get", Resource: "b"},
			"111122223333/s3/eu-west-1/Get/b",
		},
		"a table of an account": {
			retry.ScopeKey{Account: "111122223333", Service: "dynamodb", Region: "eu-west-1", Resource: "orders"},
			"111122223333/dynamodb/eu-west-1/orders",
		},
		"a name and more":     {retry.ScopeKey{Scope: "mine", Service: "s3"}, "mine/s3"},
		"that of an overflow": {retry.OverflowKey(), "(overflow)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.key.String())
			require.Equal(t, name == "nothing", tt.key == retry.ScopeKey{})
		})
	}
}

func TestOperationsWithTheSameKeyShareAScope(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		op   retry.Operation
		want retry.ScopeKey
	}{
		"nothing":              {retry.Operation{}, retry.ScopeKey{}},
		"what does not matter": {retry.Operation{Name: "GetItem", LongPolling: true, MaxAttempts: 2}, retry.ScopeKey{}},
		"an account":           {retry.Operation{Account: "111122223333"}, retry.ScopeKey{Account: "111122223333"}},
		"a service":            {retry.Operation{Service: "s3"}, retry.ScopeKey{Service: "s3"}},
		"a region":             {retry.Operation{Region: "eu-west-1"}, retry.ScopeKey{Region: "eu-west-1"}},
		"a resource":           {retry.Operation{Resource: "orders"}, retry.ScopeKey{Resource: "orders"}},
		"all of these": {
			retry.Operation{Account: "111122223333", Service: "s3", Region: "eu-west-1", Name: "Get", Resource: "b"},
			retry.ScopeKey{Account: "111122223333", Service: "s3", Region: "eu-west-1", Resource: "b"},
		},
		"a name takes their place": {
			retry.Operation{Account: "111122223333", Service: "s3", Region: "eu-west-1", Resource: "b", Scope: "mine"},
			retry.ScopeKey{Scope: "mine"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.op.Key())
			clk := &clock.Fake{}
			for mode, s := range modes(t, clk, nil) {
				want := []string{"", tt.want.String()}
				if tt.want == (retry.ScopeKey{}) {
					want = want[:1] // that of the strategy as a whole
				}
				for range 2 {
					_, err := retry.Do(t.Context(), s, tt.op, failing(nil))
					require.NoError(t, err)
				}
				var names []string
				for _, scope := range s.(snapshotter).Snapshot().Scopes {
					names = append(names, scope.Scope)
				}
				require.Equal(t, want, names, mode)
			}
		})
	}
}

// A throttle of one account says nothing of another, whose limits are its own.
func TestAccountsHaveScopesOfTheirOwn(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	forBoth(t, clk, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		var want []int
		for i, account := range []string{"", "111122223333", "444455556666"} {
			op := retry.Operation{Account: account, Service: "dynamodb", Region: "eu-west-1", Resource: "orders"}
			token, err := s.AcquireInitialToken(t.Context(), op)
			require.NoError(t, err)
			for range i {
				token, err = s.RefreshRetryToken(t.Context(), token, errServer)
				require.NoError(t, err)
			}
			want = append(want, 500-i*retryCost)
		}
		var got []int
		for _, scope := range s.(snapshotter).Snapshot().Scopes[1:] { // sorted by name
			got = append(got, scope.Quota)
		}
		require.ElementsMatch(t, want, got)
	})
}
