package outage_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
	"github.com/awsretry/awsretry/telemetry/outage"
)

func play(t *testing.T) string {
	t.Helper()
	var told strings.Builder
	require.NoError(t, outage.Run(outage.Config{
		Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			fmt.Fprintln(&told, e.Time.Sub(outage.Start()), e.Kind, e.Scope, e.Attempt, e.Delay, e.Elapsed, e.SendWait, e.Quota, e.Outcome(), e.ErrorType())
		}),
		Watch: func(strategies ...retry.Strategy) error { return nil },
		Every: 5 * time.Minute,
		Sample: func(time.Duration) {},
	}))
	return told.String()
}

func TestEachRunIsTheSame(t *testing.T) {
	a, b := play(t), play(t)
	os.WriteFile("/tmp/a.txt", []byte(a), 0o644)
	os.WriteFile("/tmp/b.txt", []byte(b), 0o644)
	require.True(t, a == b)
}
