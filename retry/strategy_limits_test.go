package retry_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestFailureHasALimitOfAttemptsOfItsOwn(t *testing.T) {
	t.Parallel()
	busy, server := repeated(errBusy, 9), repeated(errServer, 9)
	for _, c := range []struct {
		name     string
		limit    int // of errServer; errBusy has none
		op       int // MaxAttempts of the operation
		answers  []error
		attempts int
		want     int // of the error
	}{
		{"fewer than the strategy", 5, 0, server, 5, 5},
		{"as many as the strategy", 8, 0, server, 8, 8},
		{"more than the strategy", 9, 0, server, 8, 8},
		{"fewer than the operation", 5, 6, server, 5, 5},
		{"more than the operation", 5, 4, server, 4, 4},
		{"one", 1, 0, server, 1, 1},
		{"another failure", 5, 0, busy, 8, 8},
		{"attempts that failed in another way count", 5, 0, slices.Concat(busy[:3], server), 5, 5},
		{"after more attempts than its limit", 5, 0, slices.Concat(busy[:6], server), 7, 5},
		{"no such failure at the limit", 5, 0, slices.Concat(server[:4], busy[:1], server), 6, 5},
	} {
		inBoth(t, c.name, func(config *standard.Config) {
			config.MaxAttempts, config.Classifier = 8, classify.NewChain(classify.Default(), judge(func(o classify.Outcome) classify.Verdict {
				return o.Previous.AtMost(map[error]int{errServer: c.limit}[o.Err])
			}))
		}, func(t world) {
			attempts, err := t.do(t.Context(), retry.Operation{MaxAttempts: c.op}, func(_ context.Context, n int) error {
				return c.answers[n-1]
			})
			require.Equal(t, c.attempts, attempts)
			refusal := play.Refusal(t, err)
			require.Equal(t, retry.ErrAttemptsExhausted, refusal.Reason)
			require.Equal(t, []int{c.attempts, c.want}, []int{refusal.Attempts, refusal.MaxAttempts})
			require.Equal(t, 500-14*(attempts-1), t.quota(), "the last one is not charged")
			require.Equal(t, retry.ErrAttemptsExhausted, t.Of(retry.RetryRefused)[0].Reason)
		})
	}
	twice := classify.RetryAs(classify.Timeout).AtMost(2)
	inBoth(t, "that an error carries", nil, func(t world) {
		for _, late := range []bool{false, true} {
			attempts, err := t.do(t.Context(), retry.Operation{MaxAttempts: 9}, func(ctx context.Context, _ int) error {
				if late {
					_ = t.clk.Await(ctx, nil)
					return &classify.JudgedError{Verdict: twice, Err: ctx.Err()}
				}
				return &classify.JudgedError{Verdict: twice, Err: errBoom}
			}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
			require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
			require.Equal(t, 2, attempts)
		}
	})
}

func repeated(err error, n int) []error { return slices.Repeat([]error{err}, n) }

// A retry of these strategies waits for a second.
func TestWaitWithoutRoomIsRefusedAndItsCostGivenBack(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		name     string
		late     time.Duration // how much later than the grant the wait begins
		deadline time.Duration // from then
		over     time.Duration // how much longer it takes
		want     error
		wait     time.Duration // of the error
	}{
		{"to the caller's deadline", 0, s, 0, retry.ErrDeadline, s},
		{"just before the deadline", 0, s + 1, 0, nil, 0},
		{"to the end of the operation", s, time.Hour, 0, nil, 0},
		{"past the end of the operation", s + 1, time.Hour, 0, retry.ErrMaxElapsed, s},
		{"past both", s + 1, s - 1, 0, retry.ErrDeadline, s},
		{"longer than it should, past the end", 0, time.Hour, s + 1, retry.ErrMaxElapsed, 0},
	} {
		inBoth(t, c.name, func(config *standard.Config) {
			config.Clock = oversleeper{config.Clock.(*clock.Fake), c.over}
		}, func(t world) {
			token := sent(t.Context(), t.T, t, retry.Operation{MaxElapsed: 2 * s})
			token = t.grant(token)
			require.Equal(t, 486, t.quota())
			t.clk.Advance(c.late)
			ctx, cancel := t.clk.WithTimeout(t.Context(), c.deadline)
			defer cancel()
			err := token.Wait(ctx)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
			require.ErrorIs(t, err, errServer)
			require.Equal(t, c.wait, play.Refusal(t, err).Wait)
			require.Equal(t, 1, play.Refusal(t, err).Attempts)
			require.NoError(t, t.RecordFailure(token, errServer))
			require.Equal(t, 500, t.quota())
		})
	}
}

// oversleeper is a clock whose sleeps last longer than they were asked to.
type oversleeper struct {
	*clock.Fake
	by time.Duration
}

func (o oversleeper) Sleep(_ context.Context, d time.Duration) error {
	o.Advance(d + o.by)
	return nil
}
