package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
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
			require.Equal(t, tt.key, tt.key.Clone())
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
				for _, scope := range s.Snapshot().Scopes {
					names = append(names, scope.Scope)
				}
				require.Equal(t, want, names, mode)
			}
		})
	}
}

func TestOperationHasItsOwnNumberOfAttempts(t *testing.T) {
	t.Parallel()
	for own, want := range map[int]int{0: 3, 1: 1, 5: 5} { // 0 means that of the strategy
		require.Equal(t, want, attemptsFor(t, "adaptive", retry.Operation{MaxAttempts: own}, errServer))
	}
	_, err := retry.Do(t.Context(), modes(t, &clock.Fake{}, nil)["standard"], retry.Operation{MaxAttempts: -1}, failing(nil))
	require.EqualError(t, err, "retry: MaxAttempts -1: must not be negative")
}

// attemptsFor returns how many attempts an operation makes that always gets the answer.
func attemptsFor(t *testing.T, mode string, op retry.Operation, answer error) (attempts int) {
	t.Helper()
	clk := &clock.Fake{}
	clk.Run(func() {
		_, _ = retry.Do(t.Context(), modes(t, clk, nil)[mode], op, func(context.Context) (int, error) {
			attempts++
			return 0, answer
		})
	})
	return attempts
}

func TestClassifiersOfOneOperation(t *testing.T) {
	t.Parallel()
	const retried, final = 3, 1
	for _, c := range []struct {
		name   string
		op     classify.Classifier
		answer error
		want   int
	}{
		{"those of the strategy retry", nil, errServer, retried},
		{"those of the strategy do not", nil, errClient, final},
		{"another one replaces them", always{}, errClient, retried},
		{"another one replaces them and has no opinion", mute{}, errServer, final},
		{"none replaces them", classify.NewChain(), errServer, final},
		{"nothing is added", classify.Also(), errServer, retried},
		{"nil is added", classify.Also(nil), errServer, retried},
		{"one without an opinion is added", classify.Also(mute{}), errServer, retried},
		{"one that retries is added", classify.Also(always{}), errClient, retried},
		{"one that forbids is added", classify.Also(never{}), errServer, final},
		{"two are added", classify.Also(always{}, never{}), errClient, final},
		{"one is added to what replaces them", classify.NewChain(mute{}, always{}), errServer, retried},
		{"one is added to what is added", classify.Also(classify.Also(never{}), always{}), errServer, final},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, attemptsFor(t, mode, retry.Operation{Classifier: c.op}, c.answer))
			})
		}
	}
}
