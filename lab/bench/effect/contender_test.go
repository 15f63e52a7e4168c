//go:build !race

package effect

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	_ "unsafe" // for the linkname below

	"github.com/aws/aws-sdk-go-v2/aws"
	sdklimit "github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/adaptivethrottler"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// newClient makes a client that counts its waits and draws its jitter from the seed,
// as far as it can be told.
type newClient func(t *testing.T, w *waits, seed uint64) sim.Client

// contender makes clients.
type contender struct {
	name string
	make newClient
	// queues is true for the oracle, whose service does the waiting.
	queues bool
}

// waits counts what waiting for send tokens has cost.
type waits struct {
	wakeUps atomic.Int64 // timers that fired
	delayed atomic.Int64 // attempts that were held back

	late func() time.Duration // draws how late those of the SDK wake up; nil is never
}

// contenders are all that are played. A name without a behavior stands for the
// default, v2.1.
func contenders() []contender {
	return []contender{
		{name: "awsretry-adaptive", make: ours(adaptive.Config{})},
		{name: "awsretry-adaptive-2.0", make: ours(adaptive.Config{Standard: standard.Config{Behavior: retry.V20}})},
		{name: "awsretry-adaptive-cut-per-throttle", make: ours(adaptive.Config{Controller: ratelimit.CutPerThrottle})},
		{name: "awsretry-standard", make: oursStandard(standard.Config{})},
		{name: "awsretry-standard-2.0", make: oursStandard(standard.Config{Behavior: retry.V20})},
		{name: "aws-sdk-go-v2-adaptive", make: sdkAdaptive},
		{name: "aws-sdk-go-v2-standard", make: sdkStandard},
		{name: "failsafe-go-retry", make: failsafeRetry},
		{name: "failsafe-go-retry-adaptivethrottler", make: failsafeThrottler},
		{name: "oracle", make: oracle, queues: true},
	}
}

// forQuota reports whether a call failed because there was no quota for a
// retry.
func forQuota(err error) bool {
	if errors.Is(err, retry.ErrQuotaExhausted) {
		return true
	}
	_, ok := errors.AsType[sdklimit.QuotaExceededError](err)
	return ok
}

// oracle does not retry and does not need to.
func oracle(*testing.T, *waits, uint64) sim.Client { return direct{} }

type direct struct{}

func (direct) Do(ctx context.Context, _ string, attempt func(context.Context) error) error {
	return attempt(ctx)
}

// ours is adaptive mode, seeded, with a clock and limiters that count.
func ours(config adaptive.Config) newClient {
	return func(t *testing.T, w *waits, seed uint64) sim.Client {
		t.Helper()
		config := config
		config.Standard.Random = seeded(seed)
		config.Standard.Clock = countingClock{wakeUps: &w.wakeUps}
		limit := sendrate.Config{Controller: config.Controller, Start: time.Now()} // as adaptive.New has it
		config.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return countingLimiter{
				Limiter: sendrate.NewLimiter(limit, clk),
				delayed: &w.delayed,
			}
		}
		s, err := adaptive.New(config)
		require.NoError(t, err)
		return looped{s}
	}
}

func oursStandard(config standard.Config) newClient {
	return func(t *testing.T, _ *waits, seed uint64) sim.Client {
		t.Helper()
		config := config
		config.Random = seeded(seed)
		s, err := standard.New(config)
		require.NoError(t, err)
		return looped{s}
	}
}

// looped is a strategy in its loop. A table is a resource, so a scope.
type looped struct{ strategy retry.Strategy }

func (l looped) Do(ctx context.Context, table string, attempt func(context.Context) error) error {
	return retry.DoErr(ctx, l.strategy, retry.Operation{Resource: table}, attempt)
}

// seeded is a source of jitter that is the same in every run with the seed.
func seeded(seed uint64) func() float64 {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(2, seed))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Float64()
	}
}

// countingClock counts the timers of limiters that fire; nothing else here uses
// AfterFunc.
type countingClock struct {
	clock.System
	wakeUps *atomic.Int64
}

func (c countingClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	return c.System.AfterFunc(d, func() {
		c.wakeUps.Add(1)
		f()
	})
}

type countingLimiter struct {
	*sendrate.Limiter
	delayed *atomic.Int64
}

func (l countingLimiter) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	asked := time.Now()
	sent, err := l.Limiter.Acquire(ctx, r)
	if sent.After(asked) {
		l.delayed.Add(1)
	}
	return sent, err
}

// sleepWithContext is what aws-sdk-go-v2 sleeps with, a variable for its own tests.
//
//go:linkname sleepWithContext github.com/aws/aws-sdk-go-v2/internal/sdk.SleepWithContext
var sleepWithContext func(context.Context, time.Duration) error

// floor is the shortest sleep of aws-sdk-go-v2 here. It cuts the wait for a send
// token to whole nanoseconds, so that it wakes a fraction of one too early; on a
// clock that fires exactly it would then sleep for 0, for ever. A real timer is
// late enough to hide that.
const floor = time.Microsecond

func TestMain(m *testing.M) {
	if sleepWithContext == nil {
		panic("aws-sdk-go-v2 has no such variable any more: its runs would not end")
	}
	sleepWithContext = func(ctx context.Context, d time.Duration) error {
		err := clock.System{}.Sleep(ctx, max(d, floor))
		if w, ok := ctx.Value(waitsKey{}).(*waits); ok {
			w.wakeUps.Add(1)
			if w.late != nil && err == nil {
				err = clock.System{}.Sleep(ctx, w.late())
			}
		}
		return err
	}
	m.Run()
}

// waitsKey marks the context of a wait for a send token, which is counted.
type waitsKey struct{}

func sdkAdaptive(_ *testing.T, w *waits, _ uint64) sim.Client {
	return newSDK(counting{awsretryer.NewAdaptiveMode(), w})
}

func sdkStandard(*testing.T, *waits, uint64) sim.Client { return newSDK(awsretryer.NewStandard()) }

// sdk is the SDK's own loop. A client has one retryer for all tables.
type sdk struct{ loop *awsretryer.Attempt }

func newSDK(retryer aws.RetryerV2) sdk {
	return sdk{awsretryer.NewAttemptMiddleware(retryer, func(request any) any { return request })}
}

func (s sdk) Do(ctx context.Context, _ string, attempt func(context.Context) error) error {
	_, _, err := s.loop.HandleFinalize(ctx, middleware.FinalizeInput{}, middleware.FinalizeHandlerFunc(
		func(ctx context.Context, _ middleware.FinalizeInput) (out middleware.FinalizeOutput, m middleware.Metadata, err error) {
			return out, m, attempt(ctx)
		}))
	return err
}

// looping sends a batch of entries with each call, and what is left of it again, as the pages of AWS say: after 100 ms, then
// twice as long. Only an answer without any entry is a throttle to the client.
type looping struct {
	client  sim.Client
	entries int
	service *sim.Service

	turn   sync.Mutex // until the service has decided
	bucket bucket
}

func (l *looping) Do(ctx context.Context, table string, attempt func(context.Context) error) error {
	left := l.entries
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 20*time.Second) {
		err := l.client.Do(ctx, table, func(ctx context.Context) error {
			room, all := 0, left
			l.turn.Lock()
			l.service.Admit = func(now time.Time) bool {
				defer l.turn.Unlock()
				room = l.bucket.take(now, all)
				return room == all
			}
			err := attempt(ctx)
			left -= room
			if room > 0 {
				return nil
			}
			return err
		})
		if err != nil || left == 0 {
			return err
		}
		if err := (clock.System{}).Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// bucket has the tokens of entries.
type bucket struct {
	rate, burst, tokens float64
	last                time.Time
}

// take takes up to n tokens.
func (b *bucket) take(now time.Time, n int) int {
	b.tokens, b.last = min(b.tokens+now.Sub(b.last).Seconds()*b.rate, b.burst), now
	n = min(n, int(b.tokens))
	b.tokens -= float64(n)
	return n
}

// counting counts the waits of a retryer for send tokens.
type counting struct {
	aws.RetryerV2
	waits *waits
}

func (c counting) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	asked := time.Now()
	release, err := c.RetryerV2.GetAttemptToken(context.WithValue(ctx, waitsKey{}, c.waits))
	if time.Since(asked) > 0 {
		c.waits.delayed.Add(1)
	}
	return release, err
}

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
