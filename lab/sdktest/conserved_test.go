package sdktest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// older is a retryer around another one that embeds the older interface.
type older struct{ aws.Retryer }

// tires is a retryer around another one that gives up in RetryDelay.
type tires struct{ aws.RetryerV2 }

func (r tires) RetryDelay(attempt int, err error) (time.Duration, error) {
	if attempt > 1 {
		return 0, err
	}
	return r.RetryerV2.RetryDelay(attempt, err)
}

// conserving are retryers around another one with which the books balance.
var conserving = []struct {
	name   string
	around func(r aws.Retryer) aws.Retryer
	alone  bool // also without middlewares
	older  bool // hides GetAttemptToken
}{
	{"none", func(r aws.Retryer) aws.Retryer { return r }, true, false},
	{"older interface", func(r aws.Retryer) aws.Retryer { return older{r} }, true, true},
	{"max attempts", func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 2) }, true, false},
	{"codes", func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithErrorCodes(r, "OddException") }, true, false},
	{"retries all", func(r aws.Retryer) aws.Retryer { return deaf(v2(r)) }, true, false},
	{"asks and retries all", func(r aws.Retryer) aws.Retryer { return overruling(v2(r)) }, true, false},
	{"retries all, older interface", func(r aws.Retryer) aws.Retryer { return older{deaf(v2(r))} }, true, true},
	{"max backoff", func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxBackoffDelay(r, 30*time.Millisecond) }, false, false},
	{"caps", func(r aws.Retryer) aws.Retryer { return bounds{v2(r), 0, 30 * time.Millisecond} }, false, false},
	{"floors", func(r aws.Retryer) aws.Retryer { return bounds{v2(r), 30 * time.Millisecond, longest} }, false, false},
	{"no delays", func(r aws.Retryer) aws.Retryer { return bounds{v2(r), 0, -time.Hour} }, false, false},
	{"gives up in RetryDelay", func(r aws.Retryer) aws.Retryer { return tires{v2(r)} }, false, false},
	{"vetoes", func(r aws.Retryer) aws.Retryer { return veto{v2(r), false} }, false, false},
	{"asks and vetoes", func(r aws.Retryer) aws.Retryer { return veto{v2(r), true} }, false, false},
	{"no limit", func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 0) }, true, false},
	{"replaces", func(r aws.Retryer) aws.Retryer { return replaces{v2(r)} }, false, false},
}

// ledger is what the requests of a test come to.
type ledger struct {
	mu              sync.Mutex // guards all below
	requests, first int
	quota           int // what they change it by
}

// scripted is one call. Its attempts end as chosen at random.
type scripted struct {
	random   *rand.Rand
	ledger   *ledger
	attempts int
	cost     int // of a retry after the last failure
}

type scriptedKey struct{}

// attempt answers a request and enters it in the ledger.
func (s *scripted) attempt(r *http.Request, heard bool) (*http.Response, error) {
	s.ledger.mu.Lock()
	s.attempts++
	s.ledger.requests++
	s.ledger.quota -= s.cost
	paid := s.cost
	if s.attempts == 1 {
		s.ledger.first++
		if paid = 0; heard {
			paid = 1
		}
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
		// Not at the end of a backoff: without middlewares such a retry may count as not made.
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

// TestQuotaAndReportsBalance: every attempt takes a send token and is reported, each retry that is
// made costs what the failure before it says, and the last one is given back by a success.
func TestQuotaAndReportsBalance(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
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
				var cfg aws.Config
				cfg = setup(t, answerFunc(func(r *http.Request) (*http.Response, error) {
					s, _ := r.Context().Value(scriptedKey{}).(*scripted)
					return s.attempt(r, cfg.APIOptions != nil || !c.older)
				}), option)
				if cfg.APIOptions == nil && !c.alone {
					continue
				}
				if cfg.APIOptions != nil && seed%4 == 0 {
					require.NoError(t, awssdk.Install(&cfg, awssdk.WithStrategy(strategyOf(t, cfg))))
				}
				client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = c.around(o.Retryer) })
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
				if cfg.APIOptions == nil && c.older {
					want -= ledger.first // it does not hear of them
				}
				require.EqualValues(t, want, kept.reported.Load(), "%s, %d", c.name, seed)
				if cfg.APIOptions != nil {
					require.EqualValues(t, want, kept.acquired.Load(), "%s, %d", c.name, seed)
				}
				if want > 0 {
					require.Equal(t, 50_000+ledger.quota, quotaOfAny(t, cfg), "%s, %d", c.name, seed)
				}
			}
		}
	})
}
