package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

func TestKeysOfScopes(t *testing.T) {
	t.Parallel()
	const account = "111122223333"
	all := retry.ScopeKey{Account: account, Service: "s3", Region: "eu-west-1", Name: "Get", Resource: "b"}
	table := retry.ScopeKey{Account: account, Service: "dynamodb", Region: "eu-west-1", Resource: "orders"}
	for want, key := range map[string]retry.ScopeKey{
		"": {}, "orders": {Scope: "orders"}, account: {Account: account}, "s3": {Service: "s3"},
		"/eu-west-1": {Region: "eu-west-1"}, "//GetItem": {Name: "GetItem"}, "//orders": {Resource: "orders"},
		account + "/s3/eu-west-1/Get/b": all, account + "/dynamodb/eu-west-1/orders": table,
		"mine/s3": {Scope: "mine", Service: "s3"}, "(overflow)": retry.OverflowKey(),
	} {
		require.Equal(t, want, key.String())
		require.Equal(t, key, key.Clone())
		require.Equal(t, want == "", key == retry.ScopeKey{})
	}
}

func TestOperationsWithTheSameKeyShareAScope(t *testing.T) {
	t.Parallel()
	all := retry.Operation{Account: "111122223333", Service: "s3", Region: "eu-west-1", Name: "Get", Resource: "b"}
	ops := []retry.Operation{all, all, all, all, all, all, {}, {Name: "GetItem", LongPolling: true, MaxAttempts: 2}}
	ops[0].Account, ops[1].Service, ops[2].Region, ops[3].Resource, ops[4].Scope, ops[5].Name = "", "sqs", "", "", "mine", "Put"
	keys := []string{"s3/eu-west-1/b", "111122223333/sqs/eu-west-1/b", "111122223333/s3//b", "111122223333/s3/eu-west-1", "mine"}
	keys = append(keys, "111122223333/s3/eu-west-1/b", "", "")
	inBoth(t, "", nil, func(t world) {
		for i, op := range ops {
			require.Equal(t, keys[i], op.Key().String())
			for _, op := range []retry.Operation{all, op, op} { // each may have the state of the one before
				_, err := t.do(t.Context(), op, always(nil))
				require.NoError(t, err)
			}
		}
		var names []string
		for _, scope := range t.Snapshot().Scopes {
			names = append(names, scope.Scope)
		}
		require.ElementsMatch(t, keys[:len(keys)-1], names, "the last two have that of the strategy as a whole")
	})
}

func TestOperationHasItsOwnNumberOfAttemptsAndClassifiers(t *testing.T) {
	t.Parallel()
	always, never := saying(classify.RetryAs(classify.Client)), saying(classify.Forbidden())
	mute := saying(classify.Verdict{})
	const retried, final = 3, 1
	for _, c := range []struct {
		name   string
		op     retry.Operation
		answer error
		want   int
	}{
		{"those of the strategy retry", retry.Operation{}, errServer, retried},
		{"another one replaces them", retry.Operation{Classifier: always}, errClient, retried},
		{"another one replaces them and has no opinion", retry.Operation{Classifier: mute}, errServer, final},
		{"none replaces them", retry.Operation{Classifier: classify.NewChain()}, errServer, final},
		{"five attempts", retry.Operation{MaxAttempts: 5}, errServer, 5},
		{"nothing is added", retry.Operation{Classifier: classify.Also()}, errServer, retried},
		{"nil is added", retry.Operation{Classifier: classify.Also(nil)}, errServer, retried},
		{"one that retries is added", retry.Operation{Classifier: classify.Also(always)}, errClient, retried},
		{"one that forbids is added", retry.Operation{Classifier: classify.Also(never)}, errServer, final},
		{"one is added to what replaces them", retry.Operation{Classifier: classify.NewChain(mute, always)}, errServer, retried},
		{"one is added twice", retry.Operation{Classifier: classify.Also(classify.Also(never), always)}, errServer, final},
	} {
		inBoth(t, c.name, nil, func(t world) {
			attempts, _ := t.do(t.Context(), c.op, func(context.Context, int) error { return c.answer })
			require.Equal(t, c.want, attempts)
		})
	}
	_, err := newWorld(t, "standard", nil).do(t.Context(), retry.Operation{MaxAttempts: -1}, nil)
	require.EqualError(t, err, "retry: MaxAttempts -1: must not be negative")
}
