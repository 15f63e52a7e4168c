//go:build !race

package effect

import (
	"context"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/adaptivethrottler"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/awsretry/awsretry/internal/command/sim"
)

// failsafeRetry is failsafe-go with what comes closest to standard mode: three
// attempts and a backoff from 1 s to 20 s, half of it random.
func failsafeRetry(*testing.T, *waits, uint64) sim.Client {
	return failsafed{failsafe.With(failsafePolicy())}
}

// failsafeThrottler has failsafe-go's adaptive throttler inside: it refuses attempts
// by chance, the more the more have failed in the last minute. Nothing in failsafe-go
// learns a rate from throttles.
func failsafeThrottler(*testing.T, *waits, uint64) sim.Client {
	return failsafed{failsafe.With(failsafePolicy(), adaptivethrottler.NewWithDefaults[any]())}
}

func failsafePolicy() failsafe.Policy[any] {
	return retrypolicy.NewBuilder[any]().
		WithMaxAttempts(3).WithBackoff(time.Second, 20*time.Second).WithJitterFactor(0.5).
		ReturnLastFailure().Build()
}

type failsafed struct{ executor failsafe.Executor[any] }

func (f failsafed) Do(ctx context.Context, _ string, attempt func(context.Context) error) error {
	return f.executor.WithContext(ctx).RunWithExecution(func(e failsafe.Execution[any]) error {
		return attempt(e.Context())
	})
}
