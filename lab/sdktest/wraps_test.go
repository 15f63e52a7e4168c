package sdktest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// logs is a retryer around another one that notes each delay. It embeds the older interface, as
// many such retryers do.
type logs struct {
	aws.Retryer
	delays *[]time.Duration
}

func (r logs) RetryDelay(attempt int, err error) (time.Duration, error) {
	delay, delayErr := r.Retryer.RetryDelay(attempt, err)
	*r.delays = append(*r.delays, delay)
	return delay, delayErr
}

// counts is a retryer around another one that counts attempts and retries.
type counts struct {
	aws.RetryerV2
	attempts, retries *int
}

func (r counts) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	*r.attempts++
	return r.RetryerV2.GetAttemptToken(ctx)
}

func (r counts) GetRetryToken(ctx context.Context, err error) (func(error) error, error) {
	*r.retries++
	return r.RetryerV2.GetRetryToken(ctx, err)
}

// bounds is a retryer around another one that keeps delays within bounds.
type bounds struct {
	aws.RetryerV2
	least, most time.Duration
}

func (r bounds) RetryDelay(attempt int, err error) (time.Duration, error) {
	delay, delayErr := r.RetryerV2.RetryDelay(attempt, err)
	return min(max(delay, r.least), r.most), delayErr
}

// stops is a retryer around another one that gives up in RetryDelay, the only method that is told
// the number of the attempt.
type stops struct {
	aws.RetryerV2
	asked *int
}

func (r stops) RetryDelay(attempt int, err error) (time.Duration, error) {
	if *r.asked++; *r.asked == 2 {
		return 0, err
	}
	return r.RetryerV2.RetryDelay(attempt, err)
}

func v2(r aws.Retryer) aws.RetryerV2 {
	inner, ok := r.(aws.RetryerV2)
	if !ok {
		panic("a retryer of the older interface")
	}
	return inner
}

// wrapper is a way to put a retryer around another one.
type wrapper struct {
	name    string
	wrap    func(r aws.Retryer, seen *seen) aws.Retryer
	answers []answerFunc
}

// call makes one call with a retryer, and returns what the retryer has seen.
func (w wrapper) call(ctx context.Context, cfg aws.Config, around around) (saw seen, err error) {
	client := around(cfg, func(r aws.Retryer) aws.Retryer { return w.wrap(r, &saw) })
	_, err = client.ListTables(ctx, &dynamodb.ListTablesInput{})
	return saw, err
}

// around puts a retryer around that of a config, and makes a client.
type around func(cfg aws.Config, wrap func(r aws.Retryer) aws.Retryer) *dynamodb.Client

var ways = map[string]around{
	"o.Retryer": func(cfg aws.Config, wrap func(r aws.Retryer) aws.Retryer) *dynamodb.Client {
		return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = wrap(o.Retryer) })
	},
	"cfg.Retryer": func(cfg aws.Config, wrap func(r aws.Retryer) aws.Retryer) *dynamodb.Client {
		inner := cfg.Retryer
		cfg.Retryer = func() aws.Retryer { return wrap(inner()) }
		return dynamodb.NewFromConfig(cfg)
	},
}

// bothWays runs a test in virtual time with a retryer around that of the options of a client, and around that of the config.
func bothWays(t *testing.T, test func(t *testing.T, around around)) {
	t.Helper()
	for name, around := range ways {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, around) }) })
	}
}

// seen is what a wrapper has seen.
type seen struct {
	delays            []time.Duration
	attempts, retries int
	asked             int
}

const longest = 1 << 62 // of all delays

var (
	odd      = fail(400, "OddException")
	succeeds = say(200, "{}")
	wrappers = []wrapper{
		{name: "none", wrap: func(r aws.Retryer, _ *seen) aws.Retryer { return r }},
		{name: "logs each delay", wrap: func(r aws.Retryer, s *seen) aws.Retryer { return logs{r, &s.delays} }},
		{name: "counts attempts", wrap: func(r aws.Retryer, s *seen) aws.Retryer { return counts{v2(r), &s.attempts, &s.retries} }},
		{name: "at least 300 ms", wrap: func(r aws.Retryer, _ *seen) aws.Retryer { return bounds{v2(r), 300 * time.Millisecond, longest} }},
		{name: "at most 1 s", wrap: func(r aws.Retryer, _ *seen) aws.Retryer { return bounds{v2(r), 0, time.Second} }},
		{name: "gives up in RetryDelay", wrap: func(r aws.Retryer, s *seen) aws.Retryer { return stops{v2(r), &s.asked} }},
		{
			name:    "retry.AddWithMaxAttempts(r, 5)",
			wrap:    func(r aws.Retryer, _ *seen) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 5) },
			answers: []answerFunc{fail(500, ""), fail(500, ""), fail(500, ""), fail(500, ""), succeeds},
		},
		{
			name:    "retry.AddWithMaxAttempts(r, 0)",
			wrap:    func(r aws.Retryer, _ *seen) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 0) },
			answers: []answerFunc{fail(500, ""), fail(500, ""), fail(500, ""), fail(500, ""), fail(500, ""), succeeds},
		},
		{
			name:    "retry.AddWithErrorCodes(r, ...)",
			wrap:    func(r aws.Retryer, _ *seen) aws.Retryer { return sdkretry.AddWithErrorCodes(r, "OddException") },
			answers: []answerFunc{odd, odd, succeeds},
		},
		{
			name: "retry.AddWithMaxBackoffDelay(r, 1s)",
			wrap: func(r aws.Retryer, _ *seen) aws.Retryer { return sdkretry.AddWithMaxBackoffDelay(r, time.Second) },
		},
		{
			name: "answers GetRetryToken itself",
			wrap: func(r aws.Retryer, _ *seen) aws.Retryer { return grants{v2(r)} },
		},
	}
)

// sdksRetryer is the standard retryer of the SDK with the delays of v2.1 without jitter.
func sdksRetryer() aws.Retryer {
	return sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
		o.Backoff = sdkretry.BackoffDelayerFunc(func(attempt int, err error) (time.Duration, error) {
			base := 50 * time.Millisecond
			if sdkretry.IsErrorThrottles(sdkretry.DefaultThrottles).IsErrorThrottle(err).Bool() {
				base = time.Second
			}
			return base << (attempt - 1), nil
		})
	})
}

// TestRetryersAroundOursWorkAsAroundTheSDKs calls a client whose retryer is around one of the SDK,
// and around ours. With -v it prints the rows.
func TestRetryersAroundOursWorkAsAroundTheSDKs(t *testing.T) {
	rows := map[string]string{}
	bothWays(t, func(t *testing.T, around around) {
		t.Helper()
		for _, w := range wrappers {
			answers := w.answers
			if answers == nil {
				answers = []answerFunc{fail(500, ""), throttle, succeeds}
			}
			s := newScript(answers...)
			plain := configFor(s)
			plain.Retryer = sdksRetryer
			theySaw, theirErr := w.call(t.Context(), plain, around)
			theirs := s.gaps()

			s = newScript(answers...)
			strategy, err := standard.New(standard.Config{
				Base: 50 * time.Millisecond, MaxAttempts: 3, Random: func() float64 { return 1 },
			})
			require.NoError(t, err)
			cfg := installed(t, s, awssdk.WithStrategy(strategy))
			weSaw, ourErr := w.call(t.Context(), cfg, around)
			ours := s.gaps()

			require.Len(t, ours, len(theirs), w.name)
			require.Equal(t, theirErr == nil, ourErr == nil, "%s: %v", w.name, ourErr)
			require.Equal(t, theySaw, weSaw, w.name)
			require.Equal(t, theirs, ours, w.name)
			// The last retry gives its tokens back: it succeeded, or it was not made.
			require.Equal(t, 500-14*max(len(ours)-1, 1), quotaOfAny(t, cfg), w.name)
			if ourErr != nil {
				requireThrottle(t, ourErr)
			}
			rows[w.name] = row(w, theirs, ours)
		}
	})
	for _, w := range wrappers {
		t.Log(rows[w.name])
	}
}

// TestRetryersAroundOursHaveWhatTheirClientHas: the scope with service, account and table, the attempts of the service, and those
// of WithOperation.
func TestRetryersAroundOursHaveWhatTheirClientHas(t *testing.T) {
	for _, opts := range [][]awssdk.Option{nil, withAttempts(6), withAttempts(2)} {
		for _, w := range wrappers {
			t.Run(w.name, func(t *testing.T) {
				played := map[string]string{}
				for name, around := range ways {
					synctest.Test(t, func(t *testing.T) {
						s := newScript(fail(500, ""))
						if w.answers != nil {
							s.answers = w.answers[:1]
						}
						observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
							if e.Kind == retry.ScopeCreated {
								played[name] += e.Operation.Key().String() + "; "
							}
						})
						cfg, saw := configFor(s), seen{}
						cfg.Credentials = inAccount(ours)
						require.NoError(t, awssdk.Install(&cfg, append(opts, hermetic(awsretry.WithObserver(observer)))...))
						client := around(cfg, func(r aws.Retryer) aws.Retryer { return w.wrap(r, &saw) })
						require.Error(t, getItem(client, "orders")(t.Context()))
						for _, header := range s.headers {
							played[name] += header.Get("Amz-Sdk-Request") + ", "
						}
					})
				}
				require.Equal(t, played["o.Retryer"], played["cfg.Retryer"])
				require.Regexp(t, "^"+ours+"/dynamodb/eu-central-1/orders; attempt=1[;,]", played["o.Retryer"])
			})
		}
	}
}

// TestHintIsWaitedForOnceBehindRetryers: the loop of the SDK adds the hint to what a retryer makes of
// our delay. Two waits for the longer hint would not end before the deadline.
func TestHintIsWaitedForOnceBehindRetryers(t *testing.T) {
	bothWays(t, func(t *testing.T, around around) {
		t.Helper()
		for _, w := range wrappers {
			for _, hint := range []string{"20", "2000", "9000"} {
				call := func(cfg aws.Config) {
					ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
					defer cancel()
					_, err := w.call(ctx, cfg, around)
					require.NoError(t, err, "%s, %s", w.name, hint)
				}
				answers := []answerFunc{fail(503, "", "X-Amz-Retry-After", hint), succeeds}
				theirs, ours := newScript(answers...), newScript(answers...)
				plain := configFor(theirs)
				plain.Retryer = sdksRetryer
				call(plain)
				call(installed(t, ours, hermetic(always(), awsretry.WithConfig(adaptive.Config{
					Standard: standard.Config{Base: 50 * time.Millisecond},
				}))))
				require.Equal(t, theirs.gaps(), ours.gaps(), "%s, %s", w.name, hint)
			}
		}
	})
}

// row is a line of the table.
func row(w wrapper, theirs, ours []time.Duration) string {
	cells := func(delays []time.Duration) string {
		texts := make([]string, len(delays))
		for i, d := range delays {
			texts[i] = d.String()
		}
		return fmt.Sprintf("%d: %s", len(delays)+1, strings.Join(texts, ", "))
	}
	return fmt.Sprintf("| %s | %s | %s |", w.name, cells(theirs), cells(ours))
}

var errUsual = errors.New("replaced")

// replaces is a retryer around another one that asks for the delay of another error.
type replaces struct{ aws.RetryerV2 }

func (r replaces) RetryDelay(attempt int, _ error) (time.Duration, error) {
	return r.RetryerV2.RetryDelay(attempt, errUsual)
}

// TestReplacedErrorHasABackoff: a retryer around ours may lose the error.
func TestReplacedErrorHasABackoff(t *testing.T) {
	bothWays(t, func(t *testing.T, around around) {
		t.Helper()
		s := newScript(fail(500, ""))
		cfg := installed(t, s, hermetic(awsretry.WithMaxAttempts(30), awsretry.WithStandard(standard.Config{Service: "dynamodb"})))
		require.Error(t, listTables(t, around, cfg, func(r aws.Retryer) aws.Retryer { return replaces{v2(r)} }))
		total := time.Duration(0)
		for _, gap := range s.gaps() {
			require.LessOrEqual(t, gap, 20*time.Second)
			total += gap
		}
		require.Greater(t, total, 20*time.Second)
	})
}

// older is a retryer around another one that embeds the older interface.
type older struct{ aws.Retryer }

func old(r aws.Retryer) aws.Retryer { return older{r} }

// tires is a retryer around another one that gives up in RetryDelay.
type tires struct{ aws.RetryerV2 }

func (r tires) RetryDelay(attempt int, err error) (time.Duration, error) {
	if attempt > 1 {
		return 0, err
	}
	return r.RetryerV2.RetryDelay(attempt, err)
}

// exchanges is a retryer whose retryer may be exchanged at any time. Delays are a second at most.
type exchanges struct {
	mu    sync.Mutex // guards inner
	inner aws.RetryerV2
}

func (r *exchanges) set(inner aws.RetryerV2) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inner = inner
}

func (r *exchanges) get() aws.RetryerV2 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inner
}

func (r *exchanges) IsErrorRetryable(err error) bool { return r.get().IsErrorRetryable(err) }

func (r *exchanges) MaxAttempts() int { return r.get().MaxAttempts() }

func (*exchanges) GetInitialToken() (release func(error) error) { return nil }

func (r *exchanges) RetryDelay(attempt int, err error) (time.Duration, error) {
	delay, delayErr := r.get().RetryDelay(attempt, err)
	return min(delay, time.Second), delayErr
}

func (r *exchanges) GetRetryToken(ctx context.Context, err error) (release func(error) error, _ error) {
	return r.get().GetRetryToken(ctx, err)
}

func (r *exchanges) GetAttemptToken(ctx context.Context) (release func(error) error, _ error) {
	return r.get().GetAttemptToken(ctx)
}

// TestRetryerAroundMayExchangeOurs while calls are made. That is for the race detector.
func TestRetryerAroundMayExchangeOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(fail(500, ""), fail(500, ""), succeeds)
		cfg := installed(t, s, hermetic())
		ours := v2(cfg.Retryer())
		wrapper := &exchanges{inner: ours}
		client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = wrapper })
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 50 {
					_, _ = client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
					wrapper.set(ours)
				}
			})
		}
		all.Wait()
		require.Equal(t, 202, s.requests())
	})
}
