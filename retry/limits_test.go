package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// The retries of these strategies wait for a second.
func TestRetryWithoutRoomForItsWaitIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		deadline, notAfter time.Duration // from now; 0 for none
		want               error
	}{
		{"no limit", 0, 0, nil},
		{"just within the deadline", time.Second + 1, 0, nil},
		{"to the deadline", time.Second, 0, retry.ErrDeadline},
		{"to the end of the operation", 0, time.Second, nil},
		{"past the end of the operation", 0, time.Second - 1, retry.ErrMaxElapsed},
		{"past both", time.Second - 1, time.Second - 1, retry.ErrDeadline},
		{"within a late deadline", time.Hour, time.Second - 1, retry.ErrMaxElapsed},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				ctx, op := t.Context(), retry.Operation{}
				if c.deadline > 0 {
					limited, cancel := clk.WithTimeout(ctx, c.deadline)
					defer cancel()
					ctx = limited
				}
				if c.notAfter > 0 {
					op.NotAfter = clk.Now().Add(c.notAfter)
				}
				s := modes(t, clk, nil)[mode]
				token, err := s.AcquireInitialToken(ctx, op)
				require.NoError(t, err)
				require.NoError(t, token.Wait(ctx))
				next, err := s.RefreshRetryToken(ctx, token, errServer)
				if c.want == nil {
					require.NoError(t, err)
					clk.Run(func() { err = next.Wait(ctx) })
					require.NoError(t, err)
					return
				}
				refusal, ok := errors.AsType[*retry.Error](err)
				require.True(t, ok)
				require.Equal(t, c.want, refusal.Reason)
				require.Equal(t, time.Second, refusal.Wait)
			})
		}
	}
}

func TestNoAttemptBeginsAfterTheSoonestEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                           string
		notAfter, maxElapsed, strategy time.Duration // 0 for none
		want                           int
	}{
		{"instant first", 500 * time.Millisecond, time.Hour, 0, 1},
		{"duration first", time.Hour, 500 * time.Millisecond, 0, 1},
		{"exactly at the instant", time.Second, time.Hour, 0, 2},
		{"exactly at the end of the duration", time.Hour, time.Second, 0, 2},
		{"strategy alone", 0, 0, 500 * time.Millisecond, 1},
		{"strategy first", time.Hour, time.Hour, 500 * time.Millisecond, 1},
		{"exactly at the end of the strategy", time.Hour, time.Hour, time.Second, 2},
		{"instant before the strategy", 500 * time.Millisecond, 0, time.Hour, 1},
		{"duration before the strategy", 0, 500 * time.Millisecond, time.Hour, 1},
		{"no end of the operation", 0, -1, time.Second, 2},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				op := retry.Operation{MaxElapsed: c.maxElapsed}
				if c.notAfter > 0 {
					op.NotAfter = clk.Now().Add(c.notAfter)
				}
				s := modes(t, clk, func(config *standard.Config) { config.MaxElapsed = c.strategy })[mode]
				n := 0
				var err error
				clk.Run(func() {
					_, err = retry.Do(t.Context(), s, op, func(context.Context) (int, error) {
						n++
						return 0, errServer
					})
				})
				require.ErrorIs(t, err, retry.ErrMaxElapsed)
				require.Equal(t, c.want, n)
			})
		}
	}
}

func TestWaitWithoutRoomIsRefusedAndItsCostGivenBack(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		for _, c := range []struct {
			name   string
			late   time.Duration // how much later than the grant the wait begins
			within time.Duration // the caller's deadline, from then
			want   error
		}{
			{"caller's deadline", 0, time.Second, retry.ErrDeadline},
			{"end of the operation", 2 * time.Second, time.Hour, retry.ErrMaxElapsed},
		} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s := modes(t, clk, nil)[mode]
				token, err := s.AcquireInitialToken(t.Context(), retry.Operation{MaxElapsed: 2 * time.Second})
				require.NoError(t, err)
				require.NoError(t, token.Wait(t.Context()))
				token, err = s.RefreshRetryToken(t.Context(), token, errServer)
				require.NoError(t, err)
				require.Equal(t, 486, s.(snapshotter).Snapshot().Scopes[0].Quota)
				clk.Advance(c.late)
				ctx, cancel := clk.WithTimeout(t.Context(), c.within)
				defer cancel()
				err = token.Wait(ctx) // the clock stands still
				require.ErrorIs(t, err, c.want)
				require.ErrorIs(t, err, errServer)
				refusal, ok := errors.AsType[*retry.Error](err)
				require.True(t, ok)
				require.Equal(t, time.Second, refusal.Wait)
				require.Equal(t, 1, refusal.Attempts)
				require.NoError(t, s.RecordFailure(token, errServer))
				require.Equal(t, 500, s.(snapshotter).Snapshot().Scopes[0].Quota)
			})
		}
	}
}

func TestPolicyOfAnInnerLoopDoesNotJudgeTheOuterOne(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := modes(t, clk, nil)[mode]
			inner, outer := 0, 0
			clk.Run(func() {
				_, _ = retry.Do(t.Context(), s, retry.Operation{}, func(ctx context.Context) (int, error) {
					outer++
					return retry.Do(ctx, s, retry.Operation{}, func(context.Context) (int, error) { inner++; return 0, nil },
						retry.WithPolicy(func(int, error) error { return retry.Mark(errNotReady, classify.Transient) }))
				})
			})
			require.Equal(t, []int{3, 1}, []int{inner, outer})
		})
	}
}

type never struct{}

func (never) Name() string                               { return "never" }
func (never) Classify(classify.Outcome) classify.Verdict { return classify.Forbidden() }

func TestPolicyCountsWhateverTheUsersClassifierThinks(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := modes(t, clk, nil)[mode]
			n := 0
			var err error
			clk.Run(func() {
				_, err = retry.Do(t.Context(), s, retry.Operation{Classifier: never{}}, func(context.Context) (int, error) { n++; return n, nil },
					retry.WithPolicy(func(value int, err error) error {
						if value < 3 {
							return retry.Mark(errNotReady, classify.Transient)
						}
						return err
					}))
			})
			require.NoError(t, err)
			require.Equal(t, 3, n)
		})
	}
}

func TestNilPolicyFitsEveryType(t *testing.T) {
	t.Parallel()
	_, err := retry.Do(t.Context(), modes(t, &clock.Fake{}, nil)["standard"], retry.Operation{}, failing(nil),
		retry.WithPolicy[string](nil))
	require.NoError(t, err)
}
