package classify_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

func TestTransactionsThatOnlyThrottlesHaveCanceledMayBeRetried(t *testing.T) {
	t.Parallel()
	code := codeError("TransactionCanceledException")
	also := classify.Also(classify.ThrottledTransactions())
	for _, c := range []struct {
		err  error
		want classify.Verdict
	}{
		{wire.CanceledError{Err: code, Throttled: 2, Causes: 2, Entries: 5}, throttle},
		{wire.CanceledError{Err: code, Throttled: 1, Causes: 2, Entries: 5}, none},
		{wire.CanceledError{Err: fmt.Errorf("%w %w", code, no), Throttled: 1, Causes: 1, Entries: 1}, forbidden},
		{code, none},
	} {
		o := classify.Outcome{Err: fmt.Errorf("call: %w", c.err)}
		require.Equal(t, c.want, o.Judge(also, nil), "%+v", c.err)
		require.False(t, classify.Default().Classify(o).Retryable(), "%+v", c.err)
	}
	o := classify.Outcome{Err: wire.CanceledError{Err: code, Throttled: 1, Causes: 1}}
	require.Equal(t, throttle, classify.ThrottledTransactions().Classify(o))
}
