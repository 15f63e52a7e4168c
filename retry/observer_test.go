package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestObserverThatPanicsHearsOfTheEnd(t *testing.T) {
	t.Parallel()
	r := &play.Recorder{}
	s := modes(t, &clock.Fake{}, func(config *standard.Config) {
		config.Observer = retry.Observers(nil, retry.ObserverFunc(func(context.Context, retry.Event) { panic("observer") }), r)
	})["standard"]
	require.NoError(t, s.RecordSuccess(sent(t.Context(), t, s, ordersTable()), retry.Result{}))
	require.Len(t, r.Events, 3, "scope created, attempt ended, operation ended: a panic is that of one observer")
	require.Nil(t, retry.Observers(nil, nil))
	require.Same(t, r, retry.Observers(nil, r))
}
