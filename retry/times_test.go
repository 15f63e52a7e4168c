package retry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// settable is a clock that can go backwards, as a wall clock does that is set.
type settable struct {
	*clock.Fake
	ahead time.Duration
}

func (c *settable) Now() time.Time { return c.Fake.Now().Add(c.ahead) }

func TestClockThatGoesBackwardsMakesNoTimeNegative(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r, clk := &recorder{}, &settable{Fake: &clock.Fake{}}
			s := modes(t, clk, func(config *standard.Config) { config.Observer = r })[mode]
			token := sent(t, s, table("orders"))
			clk.ahead -= time.Hour
			require.NoError(t, s.RecordSuccess(token))
			ended := r.of(retry.OperationEnded)[0]
			require.Zero(t, ended.Elapsed)
			require.Zero(t, ended.BackoffWait)

			r.events = nil
			token = sent(t, s, table("orders"))
			clk.ahead += second
			token, err := s.RefreshRetryToken(t.Context(), token, errServer)
			require.NoError(t, err)
			clk.ahead -= time.Hour
			require.NoError(t, token.WithoutDelay().Wait(t.Context()))
			clk.ahead -= second
			require.NoError(t, s.RecordSuccess(token))
			ended = r.of(retry.OperationEnded)[0]
			require.Equal(t, second, ended.Elapsed)
			require.Zero(t, ended.BackoffWait)
			require.Equal(t, []time.Duration{second, 0}, []time.Duration{r.of(retry.AttemptEnded)[0].Elapsed, r.of(retry.AttemptEnded)[1].Elapsed})
		})
	}
}
