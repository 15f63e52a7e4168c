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
		for _, scope := range s.Snapshot().Scopes[1:] { // sorted by name
			got = append(got, scope.Quota)
		}
		require.ElementsMatch(t, want, got)
	})
}

func TestOverridesOfOneCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		op     retry.Operation
		opt    retry.Option
		answer error
		want   int
	}{
		{"more attempts", retry.Operation{MaxAttempts: 5}, nil, errServer, 5},
		{"zero attempts means as the strategy says", retry.Operation{}, nil, errServer, 3},
		{"no retry", retry.Operation{MaxAttempts: 1}, nil, errServer, 1},
		{"another classifier", retry.Operation{Classifier: always{}}, nil, errClient, 3},
		{"no policy", retry.Operation{}, retry.WithPolicy[int](nil), errServer, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			attempts := 0
			clk.Run(func() {
				_, _ = retry.Do(t.Context(), modes(t, clk, nil)["adaptive"], c.op, func(context.Context) (int, error) {
					attempts++
					return 0, c.answer
				}, c.opt)
			})
			require.Equal(t, c.want, attempts)
		})
	}
}

func TestScopeOfOneCall(t *testing.T) {
	t.Parallel()
	s := modes(t, &clock.Fake{}, nil)["standard"]
	_, err := retry.Do(t.Context(), s, retry.Operation{Scope: "mine"}, func(context.Context) (int, error) { return 0, nil })
	require.NoError(t, err)
	require.Equal(t, "mine", s.Snapshot().Scopes[1].Scope)
}

func TestNegativeAttemptsAreAnError(t *testing.T) {
	t.Parallel()
	s := modes(t, &clock.Fake{}, nil)["standard"]
	_, err := retry.Do(t.Context(), s, retry.Operation{MaxAttempts: -1}, func(context.Context) (int, error) { return 0, nil })
	require.EqualError(t, err, "retry: MaxAttempts -1: must not be negative")
}

// attemptsFor returns how many attempts an operation makes that always gets the answer.
func attemptsFor(t *testing.T, mode string, op classify.Classifier, answer error) (attempts int) {
	t.Helper()
	clk := &clock.Fake{}
	clk.Run(func() {
		operation := retry.Operation{Classifier: op}
		_, _ = retry.Do(t.Context(), modes(t, clk, nil)[mode], operation, func(context.Context) (int, error) {
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
				require.Equal(t, c.want, attemptsFor(t, mode, c.op, c.answer))
			})
		}
	}
}
