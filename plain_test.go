package awsretry_test

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// noSettings are neither variables nor files.
var noSettings = []awsretry.ResolveOption{awsretry.WithEnv(variables{}.lookup), awsretry.WithFS(fstest.MapFS{})}

func TestPlainReadsNoSettings(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "9")
	t.Setenv("AWS_RETRY_MODE", "adaptive")
	clk := &clock.Fake{}
	s, err := awsretry.Plain(5, 200*time.Millisecond, 2*time.Second, awsretry.WithClock(clk),
		awsretry.WithClassifier(classify.All()), awsretry.WithRandom(func() float64 { return 1 }))
	require.NoError(t, err)
	plan := s.Plan(retry.Operation{Service: "dynamodb"})
	require.Equal(t, 5, plan.MaxAttempts)
	require.Equal(t, 2*time.Second, plan.MaxBackoff)
	require.Equal(t, "standard", s.Snapshot().Mode)

	attempts := 0
	clk.Run(func() {
		err = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error {
			attempts++
			return errors.New("down")
		})
	})

	require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	require.Equal(t, 5, attempts)
	require.Equal(t, []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond}, clk.Waits())
}

func TestPlainRefusesWhatStandardModeRefuses(t *testing.T) {
	t.Parallel()
	_, err := awsretry.Plain(-1, 0, 0)
	require.EqualError(t, err, "standard: MaxAttempts -1: must not be negative")
	_, err = awsretry.Plain(5, 0, 0, awsretry.WithConfig(adaptive.Config{NoSendWait: true}))
	require.EqualError(t, err, "awsretry: Plain is in standard mode, so adaptive.Config.NoSendWait has no effect")
}

func TestOptionsForDelaysBeatAConfig(t *testing.T) {
	t.Parallel()
	options := []awsretry.Option{
		noSettings[0], noSettings[1], awsretry.WithMaxBackoff(3 * time.Second), awsretry.WithMinDelay(time.Second),
		awsretry.WithStandard(standard.Config{MaxBackoff: 5 * time.Second, RetryCost: 7}),
	}
	for range 2 {
		s, err := awsretry.Load(t.Context(), options...)
		require.NoError(t, err)
		plan := s.Plan(retry.Operation{})
		require.Equal(t, 3*time.Second, plan.MaxBackoff)
		require.Equal(t, time.Second, plan.MinDelay)
		require.Equal(t, 7, plan.RetryCost)
		options[2], options[4] = options[4], options[2]
	}
	settings, err := awsretry.Resolve(t.Context(), noSettings[0], noSettings[1], awsretry.WithMaxBackoff(3*time.Second))
	require.NoError(t, err)
	require.Equal(t, "option WithMaxBackoff", settings.MaxBackoff.Origin.String())
	_, err = awsretry.Resolve(t.Context(), noSettings[0], noSettings[1], awsretry.WithMaxBackoff(0))
	require.ErrorContains(t, err, "option WithMaxBackoff")
}

func TestWithStandardLeavesTheOtherFields(t *testing.T) {
	t.Parallel()
	s, err := awsretry.Load(t.Context(), noSettings[0], noSettings[1], awsretry.WithMode(awsretry.ModeAdaptive),
		awsretry.WithConfig(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 5} }}),
		awsretry.WithStandard(standard.Config{RetryCost: 7}))
	require.NoError(t, err)
	require.Equal(t, 7, s.Plan(retry.Operation{}).RetryCost)
	require.True(t, s.Snapshot().Scopes[0].Limited)
}

func TestWithRetryIfRetriesWhatTheFunctionSays(t *testing.T) {
	t.Parallel()
	errGone := errors.New("gone")
	s, err := awsretry.Plain(3, time.Second, time.Second,
		awsretry.WithRetryIf(func(err error) bool { return !errors.Is(err, errGone) }))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"yes":                {errors.New("down"), "retry(transient)"},
		"no":                 {errGone, "forbid"},
		"no, though a mark":  {errors.Join(errGone, context.DeadlineExceeded), "forbid"},
		"permanent":          {retry.Permanent(errors.New("down")), "forbid"},
		"a timeout":          {context.DeadlineExceeded, "retry(timeout)"},
		"another's canceled": {context.Canceled, "retry(transient)"},
	} {
		require.Equal(t, c.want, s.Judge(retry.Operation{}, c.err).String(), name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	err = retry.DoErr(ctx, s, retry.Operation{}, func(context.Context) error { attempts++; cancel(); return ctx.Err() })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, attempts)
	nothing, err := awsretry.Plain(3, time.Second, time.Second, awsretry.WithRetryIf(nil))
	require.NoError(t, err)
	require.Equal(t, "none", nothing.Judge(retry.Operation{}, errGone).String())
}
