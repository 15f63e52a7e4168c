package backoff_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

func TestDelayFollowsTheTables(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json") {
		for _, c := range file.BackoffTables {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				shape := backoff.Exponential{Max: vectors.Seconds(c.MaxBackoff)}
				for n, want := range c.Delays {
					index := c.FirstIndex + int64(n)
					delay := shape.Delay(vectors.Int(index), vectors.Seconds(c.Base), 0, c.Jitter)
					require.Equal(t, vectors.Seconds(want), delay, "index %d", index)
				}
			})
		}
	}
}

func TestHintsFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json") {
		for _, c := range file.RetryAfter {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				delay := vectors.Seconds(c.Delay)
				if c.Header != nil {
					if hint, ok := classify.ParseRetryAfterMillis(*c.Header); ok {
						if c.Behavior == "v2.0" {
							delay = backoff.HintAsFloor(delay, hint, backoff.DefaultMax)
						} else {
							delay = backoff.HintInWindow(delay, hint)
						}
					}
				}
				require.Equal(t, vectors.Seconds(c.Want), delay)
			})
		}
	}
}
