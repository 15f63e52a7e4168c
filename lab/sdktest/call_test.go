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
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestLimiterHearsOfEveryAttemptOnce(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, c := range []struct {
			name                string
			answers             []answerFunc
			attempts, throttled int64
			quota               int
		}{
			{"success at once", []answerFunc{say(200, "{}")}, 1, 0, 500},
			{"success after retries", []answerFunc{fail(500, ""), fail(400, "ThrottlingException"), say(200, "{}")}, 3, 1, 486},
			{"attempts used up by throttles", []answerFunc{fail(400, "ThrottlingException")}, 3, 3, 490},
			{"client error", []answerFunc{fail(400, "ValidationException")}, 1, 0, 500},
			{"client error after a retry", []answerFunc{fail(500, ""), fail(400, "ValidationException")}, 2, 0, 486},
			{"no connection", []answerFunc{refuse(syscall.ECONNREFUSED)}, 3, 0, 472},
		} {
			var told int64
			option, kept := adaptiveMode(standard.Config{MaxAttempts: 3, Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.AttemptEnded {
					told++
				}
			})})
			s := newScript(c.answers...)
			cfg := setup(t, s, option)
			_ = describe(t, cfg)
			require.Equal(t, c.attempts, told, c.name)
			require.EqualValues(t, c.attempts, s.requests(), c.name)
			require.Equal(t, c.attempts, kept.acquired.Load(), c.name)
			require.Equal(t, c.attempts, kept.reported.Load(), c.name)
			require.Equal(t, c.throttled, kept.throttled.Load(), c.name)
			require.Equal(t, c.quota, quotaOf(t, cfg), c.name)
		}
	})
}

// TestAdaptiveRetriesAgainAfterAnOutage: an adaptive client of the SDK that has used up its
// quota never retries again (aws-sdk-go-v2#3550).
func TestAdaptiveRetriesAgainAfterAnOutage(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		outage := true
		s := newScript(func(*http.Request) (*http.Response, error) {
			if outage {
				return jsonError(503, ""), nil
			}
			return response(200, "{}"), nil
		})
		const cost = 14
		option, _ := adaptiveMode(standard.Config{MaxAttempts: 3})
		cfg := setup(t, s, option)
		for quotaOfAny(t, cfg) >= cost {
			require.Error(t, describe(t, cfg))
		}
		before := s.requests()
		require.ErrorIs(t, describe(t, cfg), retry.ErrQuotaExhausted)
		require.Equal(t, before+1, s.requests(), "no retry without quota")

		outage = false
		for range 2 * cost {
			require.NoError(t, describe(t, cfg))
		}
		outage = true
		before = s.requests()
		require.Error(t, describe(t, cfg))
		require.Equal(t, before+3, s.requests(), "retries again")
	})
}

func TestRetriesWaitAsTheStrategySays(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		hint := func(ms string) answerFunc { return fail(500, "", "X-Amz-Retry-After", ms) }
		for _, c := range []struct {
			name     string
			behavior retry.Behavior
			answer   answerFunc
			want     []time.Duration
		}{
			{"default", "", fail(500, ""), []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}},
			{"v2.0", retry.V20, fail(500, ""), []time.Duration{time.Second, 2 * time.Second}},
			{"v2.1", retry.V21, fail(500, ""), []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}},
			{"v2.1, throttle", retry.V21, fail(400, "ThrottlingException"), []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
			{"hint below the delay, v2.0", retry.V20, hint("10"), []time.Duration{time.Second, 2 * time.Second}},
			{"hint, v2.0", retry.V20, hint("8000"), []time.Duration{8 * time.Second, 8 * time.Second}},
			{"hint beyond the longest delay, v2.0", retry.V20, hint("90000"), []time.Duration{20 * time.Second, 20 * time.Second}},
			{"hint, v2.1", retry.V21, hint("3000"), []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}},
			{
				"hint beyond the window, v2.1", retry.V21, hint("60000"),
				[]time.Duration{5025 * time.Millisecond, 5050 * time.Millisecond, 5100 * time.Millisecond},
			},
			{"hint larger than a 64-bit number", retry.V20, hint("9223372036854775808"), []time.Duration{time.Second, 2 * time.Second}},
			{"hint that is no number", retry.V20, hint("soon"), []time.Duration{time.Second, 2 * time.Second}},
			{"hint that is no number, default", "", hint("soon"), []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}},
		} {
			s := newScript(c.answer)
			cfg := setup(t, s, hermetic(
				awsretry.WithService("dynamodb"), awsretry.WithBehavior(c.behavior), awsretry.WithRandom(func() float64 { return 1 })))
			require.Error(t, describe(t, cfg))
			require.Equal(t, c.want, s.gaps(), c.name)
		}
	})
}

// TestHintsCountUpToMaxHint: the loop of the SDK adds nothing to the wait of the strategy.
func TestHintsCountUpToMaxHint(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
			s := newScript(fail(500, "", "X-Amz-Retry-After", "25000"), fail(500, "", "X-Amz-Retry-After", "60000"), say(200, "{}"))
			cfg := setup(t, s, hermetic(awsretry.WithBehavior(behavior), awsretry.WithConfig(adaptive.Config{
				Standard: standard.Config{MaxHint: 30 * time.Second},
			})))
			require.NoError(t, describe(t, cfg))
			require.Equal(t, []time.Duration{25 * time.Second, 30 * time.Second}, s.gaps(), behavior)
		}
	})
}

// TestHintAndSendRateAreWaitedForAtTheSameTime: the wait for the send rate is over when the SDK has slept.
func TestHintAndSendRateAreWaitedForAtTheSameTime(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		for hint, want := range map[string]time.Duration{"4000": 4 * time.Second, "20000": 6 * time.Second} {
			waits := 0
			s := newScript(fail(400, "ThrottlingException", "X-Amz-Retry-After", hint), say(200, "{}"))
			cfg := setup(t, s, hermetic(always(), awsretry.WithMode(awsretry.ModeAdaptive),
				awsretry.WithConfig(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit {
					return adaptive.SendLimit{Starting: 0.5}
				}}),
				awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.SendWaitBegan {
						waits++
					}
				}))))
			require.NoError(t, describe(t, cfg))
			require.Equal(t, []time.Duration{want}, s.gaps(), hint)
			require.Zero(t, waits, hint)
		}
	})
}

// TestRetriesOfAFakeClockWorkInABubble: the loop of the SDK sleeps the backoff in the time of the
// bubble, and the strategy waits for the send rate on its clock.
func TestRetriesOfAFakeClockWorkInABubble(t *testing.T) {
	for _, mode := range []config.Mode{awsretry.ModeStandard, awsretry.ModeAdaptive} {
		withInstall(t, func(t *testing.T, setup setup) {
			t.Helper()
			clk, s := &clock.Fake{}, newScript(fail(503, ""), throttle, say(200, "{}"))
			cfg := setup(t, s, hermetic(awsretry.WithMode(mode), awsretry.WithClock(clk), always()))
			began := clk.Now()
			clk.Run(func() { require.NoError(t, describe(t, cfg)) })
			if mode == awsretry.ModeStandard {
				require.Equal(t, []time.Duration{25 * time.Millisecond, 2 * time.Second}, s.gaps())
			}
			require.Equal(t, mode == awsretry.ModeAdaptive, clk.Now().After(began), "for the send rate")
		})
	}
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
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		shared := &sharedError{errors.New("made up")}
		var failing atomic.Int64
		option, kept := adaptiveMode(standard.Config{QuotaCapacity: new(100_000)})
		cfg := setup(t, newScript(say(200, "{}")), option)
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

// tellsOrNot runs a test with a client of SQS that tells the loop of the SDK of long polls, and with one that does not, as
// those before v1.53.0 without a variable.
func tellsOrNot(t *testing.T, test func(t *testing.T, setup setup)) {
	t.Helper()
	t.Run("tells", func(t *testing.T) { withInstall(t, test) })
	t.Run("does not tell", func(t *testing.T) {
		withInstall(t, func(t *testing.T, setup setup) {
			t.Helper()
			test(t, func(t *testing.T, client aws.HTTPClient, opts ...awssdk.Option) aws.Config {
				t.Helper()
				cfg := setup(t, client, opts...)
				cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
					_, _ = stack.Initialize.Remove("SetLongPollingContext") // an error for calls that are no long polls
					return nil
				})
				return cfg
			})
		})
	})
}

func TestLongPollIsSlowedDownOnceWhenTheQuotaIsEmpty(t *testing.T) {
	queue := aws.String("https://sqs.test/1/jobs")
	receive := func(ctx context.Context, c *sqs.Client) error {
		_, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue})
		return err
	}
	send := func(ctx context.Context, c *sqs.Client) error {
		_, err := c.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue, MessageBody: queue})
		return err
	}
	mark := awssdk.WithOperation(func(_ context.Context, op retry.Operation, _ any) retry.Operation {
		op.LongPolling = true
		return op
	})
	tellsOrNot(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, c := range []struct {
			name     string
			behavior retry.Behavior
			call     func(ctx context.Context, c *sqs.Client) error
			hint     string
			option   awssdk.Option
			want     time.Duration
		}{
			{"long poll", retry.V21, receive, "", nil, 50 * time.Millisecond},
			{"long poll with a hint", retry.V21, receive, "2000", nil, 2 * time.Second},
			{"long poll in v2.0", retry.V20, receive, "", nil, 0},
			{"no long poll", retry.V21, send, "", nil, 0},
			{"marked by the user", retry.V21, send, "", mark, 50 * time.Millisecond},
		} {
			s := newScript(fail(500, "", "X-Amz-Retry-After", c.hint))
			cfg := setup(t, s, c.option, hermetic(always(), awsretry.WithBehavior(c.behavior),
				awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(0)}})))
			began := time.Now()
			err := c.call(t.Context(), sqs.NewFromConfig(cfg))
			require.ErrorIs(t, err, retry.ErrQuotaExhausted, c.name)
			require.Equal(t, c.want, time.Since(began), c.name)
			require.Equal(t, 1, s.requests(), c.name)
		}
	})
}

func TestLongPollMayBeCanceledWhileItIsSlowedDown(t *testing.T) {
	tellsOrNot(t, func(t *testing.T, setup setup) {
		t.Helper()
		cfg := setup(t, newScript(fail(500, "")), hermetic(always(), awsretry.WithBehavior(retry.V21),
			awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(0)}})))
		queue := aws.String("https://sqs.test/1/jobs")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			pause(20 * time.Millisecond)
			cancel()
		}()
		began := time.Now()
		_, err := sqs.NewFromConfig(cfg).ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue})
		require.Equal(t, 20*time.Millisecond, time.Since(began))
		require.ErrorIs(t, err, retry.ErrQuotaExhausted)
		require.ErrorIs(t, err, context.Canceled)
	})
}

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
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
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
				cfg := setup(t, answerFunc(func(r *http.Request) (*http.Response, error) {
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
