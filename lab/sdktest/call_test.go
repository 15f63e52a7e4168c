package sdktest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestRetriesOfAFakeClockWorkInABubble: the loop of the SDK sleeps the backoff in the time of the
// bubble, and the strategy waits for the send rate on its clock.
func TestRetriesOfAFakeClockWorkInABubble(t *testing.T) {
	for _, mode := range []config.Mode{awsretry.ModeStandard, awsretry.ModeAdaptive} {
		synctest.Test(t, func(t *testing.T) {
			clk, s := &clock.Fake{}, newScript(fail(503, ""), throttle, say(200, "{}"))
			cfg := installed(t, s, hermetic(awsretry.WithMode(mode), awsretry.WithClock(clk), always()))
			began := clk.Now()
			clk.Run(func() { require.NoError(t, describe(t, cfg)) })
			if mode == awsretry.ModeStandard {
				require.Equal(t, []time.Duration{25 * time.Millisecond, 2 * time.Second}, s.gaps())
			}
			require.Equal(t, mode == awsretry.ModeAdaptive, clk.Now().After(began), "for the send rate")
		})
	}
}

// TestOperationMayHaveFewerAttempts: a function of the user may say so, for example where a
// loop around the call retries.
func TestOperationMayHaveFewerAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(fail(500, ""))
		cfg := installed(t, s, hermetic(), awssdk.WithOperation(func(ctx context.Context, op retry.Operation, _ any) retry.Operation {
			if _, nested := retry.AttemptFrom(ctx); nested {
				op.MaxAttempts = 1
			}
			return op
		}))
		strategy := strategyOf(t, cfg)
		_, err := retry.Do(t.Context(), strategy, retry.Operation{}, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, describeWith(ctx, cfg)
		})
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.Equal(t, 3, s.requests(), "not nine")
	})
}

func TestPanicInAnAttemptEndsTheOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		option, kept := adaptiveMode(standard.Config{})
		cfg := installed(t, newScript(fail(500, ""), func(*http.Request) (*http.Response, error) { panic("made up") }), option)
		require.PanicsWithValue(t, "made up", func() { _ = describe(t, cfg) })
		require.EqualValues(t, 2, kept.acquired.Load())
		require.EqualValues(t, 2, kept.reported.Load())
	})
}

// TestErrorsThatCallsShareAreToldApart has calls at the same time whose attempts fail with one
// and the same value.
func TestErrorsThatCallsShareAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &sharedError{errors.New("made up")}
		var failing atomic.Int64
		option, kept := adaptiveMode(standard.Config{QuotaCapacity: new(100_000)})
		cfg := installed(t, newScript(say(200, "{}")), option)
		cfg.APIOptions = append(cfg.APIOptions, failInside(func() error {
			pause(time.Millisecond)
			if failing.Add(1)%4 != 0 {
				return shared
			}
			return nil
		}))
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { _ = describe(t, cfg) }) // some succeed
		}
		all.Wait()
		require.Equal(t, failing.Load(), kept.acquired.Load())
		require.Equal(t, failing.Load(), kept.reported.Load())
	})
}

// sharedError is retried like a failed connection.
type sharedError struct{ error }

func (*sharedError) Temporary() bool { return true }

// ledger is what the requests of a test come to.
type ledger struct {
	mu       sync.Mutex // guards all below
	requests int
	quota    int // what they change it by
}

// scripted is one call. Its attempts end as chosen at random.
type scripted struct {
	random   *rand.Rand
	ledger   *ledger
	attempts int
	cost     int // of a retry after the last failure
}

// attempt answers a request and enters it in the ledger.
func (s *scripted) attempt(r *http.Request) (*http.Response, error) {
	s.ledger.mu.Lock()
	s.attempts++
	s.ledger.requests++
	s.ledger.quota -= s.cost
	paid := s.cost
	if s.attempts == 1 {
		paid = 1
	}
	s.cost = 14
	s.ledger.mu.Unlock()
	sleep(r.Context(), time.Duration(max(0, s.random.IntN(6)-3))*5*time.Millisecond)
	switch n := s.random.IntN(9); {
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	case n < 2 || s.attempts > 8:
		s.ledger.mu.Lock()
		defer s.ledger.mu.Unlock()
		s.ledger.quota += paid
		return response(200, "{}"), nil
	case n < 4:
		s.cost = 5
		return jsonError(400, "ThrottlingException"), nil
	case n < 5:
		return jsonError(400, "OddException"), nil
	case n < 6:
		return nil, syscall.ECONNREFUSED
	default:
		hints := []string{"40", "+3000", "90000", "-1", "9223372036854775807", "92233720368547758070", "x", ""}
		return jsonError(500, "", "X-Amz-Retry-After", hints[s.random.IntN(len(hints))]), nil
	}
}

// calling is a context for a call, which ends at random.
func (s *scripted) calling(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = context.WithValue(ctx, scriptedKey{}, s)
	if s.random.IntN(10) == 0 {
		ctx = retry.Once(ctx)
	}
	end := time.Duration(s.random.IntN(40)) * 5 * time.Millisecond
	switch s.random.IntN(4) {
	case 0:
		return context.WithTimeout(ctx, end)
	case 1:
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			sleep(ctx, end+time.Microsecond)
			cancel()
		}()
		return ctx, cancel
	default:
		return context.WithCancel(ctx)
	}
}

type scriptedKey struct{}

// conserving are retryers around another one with which the books balance.
var conserving = []struct {
	name string
	wrap func(r aws.Retryer) aws.Retryer
}{
	{"none", func(r aws.Retryer) aws.Retryer { return r }},
	{"older interface", func(r aws.Retryer) aws.Retryer { return older{r} }},
	{"max attempts", func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 2) }},
	{"codes", func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithErrorCodes(r, "OddException") }},
	{"retries all", func(r aws.Retryer) aws.Retryer { return deaf(v2(r)) }},
	{"asks and retries all", func(r aws.Retryer) aws.Retryer { return overruling(v2(r)) }},
	{"retries all, older interface", func(r aws.Retryer) aws.Retryer { return older{deaf(v2(r))} }},
	{"max backoff", func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxBackoffDelay(r, 30*time.Millisecond) }},
	{"caps", func(r aws.Retryer) aws.Retryer { return bounds{v2(r), 0, 30 * time.Millisecond} }},
	{"floors", func(r aws.Retryer) aws.Retryer { return bounds{v2(r), 30 * time.Millisecond, longest} }},
	{"no delays", func(r aws.Retryer) aws.Retryer { return bounds{v2(r), 0, -time.Hour} }},
	{"gives up in RetryDelay", func(r aws.Retryer) aws.Retryer { return tires{v2(r)} }},
	{"vetoes", func(r aws.Retryer) aws.Retryer { return veto{v2(r), false} }},
	{"asks and vetoes", func(r aws.Retryer) aws.Retryer { return veto{v2(r), true} }},
	{"no limit", func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 0) }},
	{"replaces", func(r aws.Retryer) aws.Retryer { return replaces{v2(r)} }},
}

// TestQuotaAndReportsBalance: every attempt takes a send token and is reported, each retry that is
// made costs what the failure before it says, and the last one is given back by a success.
func TestQuotaAndReportsBalance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range conserving {
			for seed := range uint64(20) {
				random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same in each run
				limits := standard.Config{
					QuotaCapacity: new(100_000), QuotaInitial: new(50_000), Jitter: standard.NoJitter,
					MaxAttempts: 1 + random.IntN(5), ThrottlingBase: 50 * time.Millisecond,
					MaxElapsed: time.Duration(max(0, random.IntN(20)-12)) * 25 * time.Millisecond,
					MinDelay:   time.Duration(max(0, random.IntN(20)-12)) * 10 * time.Millisecond,
				}
				option, kept := adaptiveMode(limits)
				ledger := &ledger{}
				cfg := installed(t, answerFunc(func(r *http.Request) (*http.Response, error) {
					s, _ := r.Context().Value(scriptedKey{}).(*scripted)
					return s.attempt(r)
				}), option)
				if seed%4 == 0 {
					require.NoError(t, awssdk.Install(&cfg, awssdk.WithStrategy(strategyOf(t, cfg))))
				}
				client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = c.wrap(o.Retryer) })
				var calls sync.WaitGroup
				for n := range uint64(5) {
					s := &scripted{random: rand.New(rand.NewPCG(seed, n+1)), ledger: ledger} //nolint:gosec // the same
					calls.Go(func() {
						ctx, cancel := s.calling(t.Context())
						defer cancel()
						_, _ = client.ListTables(ctx, &dynamodb.ListTablesInput{}, func(o *dynamodb.Options) { o.RetryMaxAttempts = int(n) })
					})
				}
				calls.Wait()
				synctest.Wait()
				want := ledger.requests
				require.EqualValues(t, want, kept.reported.Load(), "%s, %d", c.name, seed)
				require.EqualValues(t, want, kept.acquired.Load(), "%s, %d", c.name, seed)
				if want > 0 {
					require.Equal(t, 50_000+ledger.quota, quotaOfAny(t, cfg), "%s, %d", c.name, seed)
				}
			}
		}
	})
}
