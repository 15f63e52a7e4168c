package classify_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

func TestAllRetriesEveryErrorThatNothingForbids(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome classify.Outcome
		want    string
	}{
		"any error":                  {classify.Outcome{Err: errors.New("any")}, "retry(transient)"},
		"a status that is final":     {classify.Outcome{Err: statusError(400)}, "retry(transient)"},
		"a throttle":                 {classify.Outcome{Err: statusError(429)}, "retry(throttling)"},
		"a timeout":                  {classify.Outcome{Err: os.ErrDeadlineExceeded}, "retry(timeout)"},
		"context.Canceled of others": {classify.Outcome{Err: context.Canceled}, "retry(transient)"},
		"context.Canceled":           {classify.Outcome{Err: context.Canceled, CallerGone: true}, "none"},
		"any error after the end":    {classify.Outcome{Err: errors.New("any"), CallerGone: true}, "none"},
		"permanent":                  {classify.Outcome{Err: retry.Permanent(errors.New("any"))}, "forbid"},
		"one that says no":           {classify.Outcome{Err: no}, "forbid"},
	} {
		require.Equal(t, c.want, classify.All().Classify(c.outcome).String(), name)
		require.Equal(t, c.want, c.outcome.Judge(classify.All(), nil).String(), name)
	}
}

func TestFuncDecidesWhetherAndTheErrorHow(t *testing.T) {
	t.Parallel()
	errBusy := errors.New("busy")
	busy := classify.Func(func(err error) bool { return errors.Is(err, errBusy) })
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"yes":           {errBusy, "retry(transient)"},
		"no":            {errors.New("other"), "forbid"},
		"no, a status":  {statusError(503), "forbid"},
		"yes, a status": {errors.Join(errBusy, statusError(503)), "retry(transient)"},
		"a throttle":    {errors.Join(errBusy, statusError(429)), "retry(throttling)"},
		"a timeout":     {errors.Join(errBusy, os.ErrDeadlineExceeded), "retry(timeout)"},
	} {
		require.Equal(t, c.want, classify.Outcome{Err: c.err}.Judge(busy, nil).String(), name)
	}
	after := classify.Outcome{Err: errors.Join(errBusy, statusError(503))}.Judge(classify.Default(), classify.Also(busy))
	require.Equal(t, "retry(transient)", after.String())
}
