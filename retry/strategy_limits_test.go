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

const errBusy = statusError(503)

// rare limits each failure to the attempts that it names.
type rare struct{ atMost map[error]int }

func (rare) Name() string { return "rare" }

func (r rare) Classify(o classify.Outcome) classify.Verdict {
	return o.Previous.AtMost(r.atMost[o.Err])
}

func TestFailureHasALimitOfAttemptsOfItsOwn(t *testing.T) {
	t.Parallel()
	five := map[error]int{errServer: 5}
	mixed := append(repeated(errBusy, 3), repeated(errServer, 9)...)
	for _, c := range []struct {
		name     string
		atMost   map[error]int
		op       int // MaxAttempts of the operation
		answers  []error
		attempts int
		limit    int // of the error
	}{
		{"fewer than the strategy", five, 0, repeated(errServer, 9), 5, 5},
		{"as many as the strategy", map[error]int{errServer: 8}, 0, repeated(errServer, 9), 8, 8},
		{"more than the strategy", map[error]int{errServer: 9}, 0, repeated(errServer, 9), 8, 8},
		{"fewer than the operation", five, 6, repeated(errServer, 9), 5, 5},
		{"more than the operation", five, 4, repeated(errServer, 9), 4, 4},
		{"one", map[error]int{errServer: 1}, 0, repeated(errServer, 9), 1, 1},
		{"another failure", five, 0, repeated(errBusy, 9), 8, 8},
		{"attempts that failed in another way count", five, 0, mixed, 5, 5},
		{"after more attempts than its limit", five, 0, append(repeated(errBusy, 6), errServer), 7, 5},
		{"no such failure at the limit", five, 0, []error{errServer, errServer, errServer, errServer, errBusy, errServer}, 6, 5},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				var told []retry.Event
				s := modes(t, clk, func(config *standard.Config) {
					config.MaxAttempts, config.Classifier = 8, classify.NewChain(classify.Default(), rare{c.atMost})
					config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
						if e.Kind == retry.AttemptEnded || e.Kind == retry.RetryRefused {
							told = append(told, e)
						}
					})
				})[mode]
				attempts := 0
				var err error
				clk.Run(func() {
					err = retry.DoErr(t.Context(), s, retry.Operation{MaxAttempts: c.op}, func(context.Context) error {
						attempts++
						return c.answers[attempts-1]
					})
				})
				require.Equal(t, c.attempts, attempts)
				refusal, ok := errors.AsType[*retry.Error](err)
				require.True(t, ok)
				require.Equal(t, retry.ErrAttemptsExhausted, refusal.Reason)
				require.Equal(t, []int{c.attempts, c.limit}, []int{refusal.Attempts, refusal.MaxAttempts})
				require.Equal(t, 500-14*(attempts-1), s.Snapshot().Scopes[0].Quota, "the last one is not charged")
				require.Equal(t, retry.ErrAttemptsExhausted, told[len(told)-1].Reason)
				require.Equal(t, c.atMost[c.answers[attempts-1]], told[len(told)-2].Verdict.MaxAttempts())
			})
		}
	}
}

func repeated(err error, n int) (errs []error) {
	for range n {
		errs = append(errs, err)
	}
	return errs
}

func TestLimitOfAttemptsThatAnErrorCarriesCounts(t *testing.T) {
	t.Parallel()
	twice := &classify.JudgedError{Verdict: classify.RetryAs(classify.Timeout).AtMost(2), Err: errBoom}
	for name, call := range map[string]func(ctx context.Context, clk *clock.Fake) error{
		"as it is": func(context.Context, *clock.Fake) error { return twice },
		"of an attempt that was too late": func(ctx context.Context, clk *clock.Fake) error {
			_ = clk.Await(ctx, nil)
			return &classify.JudgedError{Verdict: twice.Verdict, Err: ctx.Err()}
		},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s, attempts := modes(t, clk, nil)[mode], 0
				var err error
				clk.Run(func() {
					err = retry.DoErr(t.Context(), s, retry.Operation{MaxAttempts: 9}, func(ctx context.Context) error {
						attempts++
						return call(ctx, clk)
					}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
				})
				require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
				require.Equal(t, 2, attempts)
			})
		}
	}
}

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
		{"past both, the end of the operation first", time.Second - 1, time.Second - 2, retry.ErrMaxElapsed},
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
				require.Equal(t, 486, s.Snapshot().Scopes[0].Quota)
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
				require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
			})
		}
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

func TestFirstAttemptDoesNotBeginAfterTheEndOfTheOperation(t *testing.T) {
	t.Parallel()
	for name, limited := range map[string]func(c *standard.Config, now time.Time) retry.Operation{
		"instant": func(_ *standard.Config, now time.Time) retry.Operation {
			return retry.Operation{NotAfter: now.Add(time.Second)}
		},
		"duration": func(*standard.Config, time.Time) retry.Operation { return retry.Operation{MaxElapsed: time.Second} },
		"strategy": func(c *standard.Config, _ time.Time) retry.Operation {
			c.MaxElapsed = time.Second
			return retry.Operation{}
		},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				var op retry.Operation
				s := modes(t, clk, func(c *standard.Config) { op = limited(c, clk.Now()) })[mode]
				early, err := s.AcquireInitialToken(t.Context(), op)
				require.NoError(t, err)
				late, err := s.AcquireInitialToken(t.Context(), op)
				require.NoError(t, err)

				clk.Advance(time.Second)
				require.NoError(t, early.Wait(t.Context()), "exactly at the end")
				require.NoError(t, s.RecordSuccess(early, retry.Result{}))

				clk.Advance(1)
				for range 2 {
					err = late.Wait(t.Context())
					require.ErrorIs(t, err, retry.ErrMaxElapsed)
					require.EqualError(t, err, "retry: client-side: maximum elapsed time reached (0 attempts)")
				}
				require.NoError(t, s.RecordFailure(late, err))
				require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)

				next, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
				require.NoError(t, err)
				require.NoError(t, next.Wait(t.Context()), "the end was that of another operation")
				require.NoError(t, s.RecordSuccess(next, retry.Result{}))
			})
		}
	}
}

func TestTokenThatWaitedPastTheEndOfTheOperationIsRefused(t *testing.T) {
	t.Parallel()
	clk := oversleeper{&clock.Fake{}, time.Second}
	forBoth(t, clk, func(t *testing.T, s retry.Strategy) {
		t.Helper()
		token, err := s.AcquireInitialToken(t.Context(), retry.Operation{MaxElapsed: 2*time.Second - 1})
		require.NoError(t, err)
		require.NoError(t, token.Wait(t.Context()))
		token, err = s.RefreshRetryToken(t.Context(), token, errServer)
		require.NoError(t, err)
		err = token.Wait(t.Context()) // a second, which takes two
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		require.ErrorIs(t, err, errServer)
		require.EqualError(t, err, "retry: client-side: maximum elapsed time reached: last error: "+errServer.Error()+" (1 attempt)")
		require.NoError(t, s.RecordFailure(token, err))
		require.Equal(t, 500, s.Snapshot().Scopes[0].Quota, "its cost was given back")
	})
}
