package standard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestHintFailsNoCallThatItsBackoffAloneLetsBeMade(t *testing.T) {
	t.Parallel()
	hinted := vectors.Response{Status: 429, Headers: map[string]string{"x-amz-retry-after": "4000"}}.Err()
	const second = time.Second
	for _, c := range []struct {
		name    string
		timeout time.Duration // of the context; 0 is none
		elapsed time.Duration // Operation.MaxElapsed; 0 is none
		want    time.Duration
		refused error
	}{
		{"no limit", 0, 0, 4 * second, nil},
		{"deadline after the hint", 5 * second, 0, 4 * second, nil},
		{"deadline before the hint", 3 * second, 0, second, nil},
		{"deadline before the backoff", second / 2, 0, second, retry.ErrDeadline},
		{"end of the operation after the hint", 0, 5 * second, 4 * second, nil},
		{"end of the operation before the hint", 0, 3 * second, second, nil},
		{"end of the operation before the backoff", 0, second / 2, second, retry.ErrMaxElapsed},
	} {
		for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
			t.Run(c.name+", "+string(behavior), func(t *testing.T) {
				t.Parallel()
				s, clk := newStrategy(t, func(config *standard.Config) { config.Behavior = behavior })
				ctx := t.Context()
				if c.timeout > 0 {
					limited, cancel := clk.WithTimeout(ctx, c.timeout)
					defer cancel()
					ctx = limited
				}
				token, err := s.AcquireInitialToken(ctx, retry.Operation{MaxElapsed: c.elapsed})
				require.NoError(t, err)
				next, err := s.RefreshRetryToken(ctx, token, hinted)
				if c.refused == nil {
					require.NoError(t, err)
					require.Equal(t, c.want, next.Delay())
					return
				}
				require.ErrorIs(t, err, c.refused)
				var refusal *retry.Error
				require.ErrorAs(t, err, &refusal)
				require.Equal(t, c.want, refusal.Wait)
			})
		}
	}
}
