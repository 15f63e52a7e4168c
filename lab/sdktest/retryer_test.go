package sdktest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestAttemptsAreThoseOfTheStrictestLimitOrOfTheCall(t *testing.T) {
	perCall := func(n int) func(*sqs.Options) {
		return func(o *sqs.Options) { o.RetryMaxAttempts = n }
	}
	otherLoop := func(o *sqs.Options) { // of which the stack did not know when ours was put into it
		loop := sdkretry.NewAttemptMiddleware(sdkretry.AddWithMaxAttempts(o.Retryer, 7), smithyhttp.RequestCloner)
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			_, err := stack.Finalize.Swap(loop.ID(), loop)
			return err
		})
	}
	lots := awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(1000)}})
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, c := range []struct {
			name   string
			opts   []awsretry.Option
			client func(*sqs.Options)
			call   []func(*sqs.Options)
			want   int
		}{
			{"one attempt", []awsretry.Option{awsretry.WithMaxAttempts(1)}, nil, nil, 1},
			{"resolved", []awsretry.Option{awsretry.WithMaxAttempts(6)}, nil, nil, 6},
			{"client, fewer", []awsretry.Option{awsretry.WithMaxAttempts(6)}, perCall(2), nil, 2},
			{"another loop", nil, nil, []func(*sqs.Options){otherLoop}, 7},
		} {
			s := newScript(fail(500, ""))
			cfg := setup(t, s, hermetic(append(c.opts, lots)...))
			client := sqs.NewFromConfig(cfg, func(o *sqs.Options) {
				if c.client != nil {
					c.client(o)
				}
			})
			_, err := client.ListQueues(t.Context(), &sqs.ListQueuesInput{}, c.call...)
			require.Error(t, err, c.name)
			require.Equal(t, c.want, s.requests(), c.name)
		}
	})
}

// The attempts are due at 0, 1 and 3 seconds.
func TestNoAttemptOfACallBeginsAfterTheElapsedLimitOfTheStrategy(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		for limit, want := range map[time.Duration]int{0: 3, time.Second - 1: 1, 3*time.Second - 1: 2, 3 * time.Second: 3} {
			s := newScript(fail(500, ""))
			cfg := setup(t, s, hermetic(awsretry.WithConfig(adaptive.Config{
				Standard: standard.Config{MaxAttempts: 3, MinDelay: time.Second, Base: time.Second, Jitter: standard.NoJitter, MaxElapsed: limit},
			})))
			began := time.Now()
			err := describe(t, cfg)
			require.Equal(t, want < 3, errors.Is(err, retry.ErrMaxElapsed), "%v: %v", limit, err)
			require.Equal(t, want, s.requests(), limit)
			require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second}[want-1], time.Since(began), limit)
		}
	})
}

// noSuchHost gives a host that does not exist fewer attempts than other failures.
type noSuchHost struct{}

func (noSuchHost) Name() string { return "no-such-host" }

func (noSuchHost) Classify(o classify.Outcome) classify.Verdict {
	if lookup, ok := errors.AsType[*net.DNSError](o.Err); ok && lookup.IsNotFound {
		return classify.RetryAs(classify.Transient).AtMost(4)
	}
	return classify.Verdict{}
}

func TestFailuresOfOneSortHaveFewerAttempts(t *testing.T) {
	missing := &net.DNSError{Err: "no such host", Name: "service.test", IsNotFound: true}
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		requests := 0
		cfg := setup(t, answerFunc(func(*http.Request) (*http.Response, error) {
			requests++
			return nil, missing
		}), hermetic(awsretry.WithMaxAttempts(7), awsretry.WithClassifier(classify.Also(noSuchHost{}))))
		err := describe(t, cfg)
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.ErrorIs(t, err, missing)
		require.Equal(t, 4, requests)

		s := newScript(fail(500, ""))
		cfg = setup(t, s, hermetic(awsretry.WithMaxAttempts(7), awsretry.WithClassifier(classify.Also(noSuchHost{}))))
		require.Error(t, describe(t, cfg))
		require.Equal(t, 7, s.requests())
	})
}

func TestInstallKnowsTheDefaultsOfEachService(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		s := newScript(fail(500, ""))
		cfg := installed(t, s, hermetic())
		require.Error(t, describe(t, cfg))
		require.Equal(t, 4, s.requests())
		require.Equal(t, []string{"attempt=4; max=4"}, s.headers[3]["Amz-Sdk-Request"])

		s = newScript(fail(500, ""))
		cfg = installed(t, s, hermetic())
		_, err := sqs.NewFromConfig(cfg).ListQueues(t.Context(), &sqs.ListQueuesInput{})
		require.Error(t, err)
		require.Equal(t, 3, s.requests())
		require.Equal(t, []string{"attempt=3; max=3"}, s.headers[2]["Amz-Sdk-Request"])

		s = newScript(fail(500, ""))
		cfg = installed(t, s, hermetic(awsretry.WithBehavior(retry.V20)))
		require.Error(t, describe(t, cfg))
		require.Equal(t, 3, s.requests(), "v2.0 has no defaults of services")
	})
}

// TestOperationMayHaveFewerAttempts: a function of the user may say so, for example where a
// loop around the call retries.
func TestOperationMayHaveFewerAttempts(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		s := newScript(fail(500, ""))
		cfg := setup(t, s, hermetic(), awssdk.WithOperation(func(ctx context.Context, op retry.Operation, _ any) retry.Operation {
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

func TestConfigOfTheClientsMakesNoDifference(t *testing.T) {
	t.Parallel()
	cfg := configFor(newScript(say(200, "{}")))
	cfg.RetryMaxAttempts, cfg.RetryMode = 9, aws.RetryModeAdaptive
	require.NoError(t, awssdk.Install(&cfg, hermetic(awsretry.WithMaxAttempts(2))))
	require.Equal(t, 2, cfg.RetryMaxAttempts, "the options of Install have the last word")
	require.Equal(t, "adaptive", strategyOf(t, cfg).Snapshot().Mode, "set by hand")
}

func TestOnceIsOneAttemptWithoutAWait(t *testing.T) {
	withInstall(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, mode := range []awsretry.ResolveOption{
			awsretry.WithMode(awsretry.ModeStandard), awsretry.WithMode(awsretry.ModeAdaptive),
		} {
			s := newScript(throttle)
			cfg := setup(t, s, hermetic(mode, awsretry.WithMaxAttempts(5)))
			began := time.Now()
			err := describeWith(retry.Once(t.Context()), cfg)
			require.Zero(t, time.Since(began))
			require.Equal(t, 1, s.requests())
			requireThrottle(t, err)
			require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
			require.Equal(t, 500, quotaOf(t, cfg))
		}
	})
}
