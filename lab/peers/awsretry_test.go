//go:build long

package peers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/lab/conformance"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// ours are the strategies of this module, in every way in which programs call them.
func ours() []peer {
	cutOnce := "One congestion event cuts the send rate once. With `ratelimit.CutPerThrottle` every throttle cuts it, as in the rules."
	return []peer{
		{
			column: "awsretry standard",
			about: "Called in four ways: by its verbs, `retry.DoErr`, `httpretry` with a `Policy` that compares clocks, and SDK " +
				"clients with `awssdk`.",
			ways: waysOf(conformance.Subject{}, newStandard),
		},
		{
			column: "awsretry adaptive",
			about:  "Called in the same four ways, with its defaults.",
			ways: waysOf(conformance.Subject{
				Adaptive: true, NotMeant: map[string]string{"A04": cutOnce, "A05": cutOnce},
			}, newAdaptive),
		},
	}
}

// newStrategy makes a strategy as a case wants it.
type newStrategy func(*conformance.Settings) (retry.Strategy, error)

// configOf returns the Config that a case asks for.
func configOf(s *conformance.Settings) standard.Config {
	return standard.Config{
		Behavior: s.Behavior(), MaxAttempts: s.MaxAttempts(), QuotaCapacity: new(s.QuotaCapacity()),
		MaxBackoff: s.MaxBackoff(), Random: s.Random(),
	}
}

func newStandard(s *conformance.Settings) (retry.Strategy, error) { return standard.New(configOf(s)) }

func newAdaptive(s *conformance.Settings) (retry.Strategy, error) {
	return adaptive.New(adaptive.Config{Standard: configOf(s)})
}

// newPerThrottle makes adaptive mode with the controller that follows the rules to the letter.
func newPerThrottle(s *conformance.Settings) (retry.Strategy, error) {
	return adaptive.New(adaptive.Config{Standard: configOf(s), Controller: ratelimit.CutPerThrottle})
}

// waysOf returns the subjects of the strategy, one for each way to call it.
func waysOf(subject conformance.Subject, strategy newStrategy) []conformance.Subject {
	way := func(name string, newDo func(*conformance.Settings) (conformance.Do, error)) conformance.Subject {
		s := subject
		s.Name, s.New = name, newDo
		return s
	}
	made := func(loop func(retry.Strategy, *conformance.Settings) (conformance.Do, error)) func(*conformance.Settings) (conformance.Do, error) {
		return func(s *conformance.Settings) (conformance.Do, error) {
			made, err := strategy(s)
			if err != nil {
				return nil, err
			}
			return loop(made, s)
		}
	}
	return []conformance.Subject{
		way("verbs", made(verbs)),
		way("retry.DoErr", conformance.FromStrategy(strategy)),
		way("httpretry", made(overHTTP)),
		way("awssdk", made(overSDK)),
	}
}

func operationOf(s *conformance.Settings) retry.Operation {
	return retry.Operation{Service: s.Service(), LongPolling: s.LongPolling()}
}

// verbs is a loop of one's own.
func verbs(strategy retry.Strategy, s *conformance.Settings) (conformance.Do, error) {
	op := operationOf(s)
	return func(ctx context.Context, attempt func(context.Context) error) error {
		token, err := strategy.AcquireInitialToken(ctx, op)
		if err != nil {
			return err
		}
		for {
			if err := token.Wait(ctx); err != nil {
				return errors.Join(err, strategy.RecordFailure(token, err))
			}
			sent := time.Now()
			failure := attempt(token.Context(ctx))
			if failure == nil {
				return strategy.RecordSuccess(token, retry.Result{})
			}
			failure = withHeaders(failure, sent)
			next, refused := strategy.RefreshRetryToken(ctx, token, failure)
			if refused != nil {
				if next.Delay() > 0 { // an empty quota slows a long poll down
					_ = next.Wait(ctx)
				}
				return errors.Join(failure, refused, strategy.RecordFailure(next, failure))
			}
			token = next
		}
	}, nil
}

// skewedError is an error with how far the clock of the server is off, as the header Date says.
type skewedError struct {
	error

	skew  time.Duration
	dated bool
}

func withSkew(failure error, header http.Header, sent time.Time) error {
	date, _ := http.ParseTime(header.Get("Date"))
	skew, dated := classify.CandidateSkew(sent, time.Now(), date, header.Get("Age") != "")
	return skewedError{failure, skew, dated}
}

func (e skewedError) Unwrap() error { return e.error }

func (e skewedError) ClockSkew() (used, observed time.Duration, ok bool) { return 0, e.skew, e.dated }

// hintedError is an error with the hint of the server.
type hintedError struct {
	error

	hint string
}

func (e hintedError) Unwrap() error { return e.error }

func (e hintedError) RetryAfter() (time.Duration, bool) {
	return classify.ParseRetryAfterMillis(e.hint)
}

// withHeaders adds to the error of an attempt what a caller reads in the headers of its response.
func withHeaders(failure error, sent time.Time) error {
	answered, ok := errors.AsType[*awshttp.ResponseError](failure)
	if !ok {
		return failure
	}
	header := answered.Response.Header
	return hintedError{withSkew(failure, header, sent), header.Get("X-Amz-Retry-After")}
}

// overHTTP makes requests through a client of net/http. A Transport signs nothing, so that it does not
// compare clocks: its Policy does.
func overHTTP(strategy retry.Strategy, s *conformance.Settings) (conformance.Do, error) {
	op := operationOf(s)
	transport, err := httpretry.New(httpretry.Config{
		Strategy:  strategy,
		Base:      answers{},
		Operation: func(*http.Request) retry.Operation { return op },
		Policy: func(response *http.Response, err error) error {
			if response == nil || err == nil {
				return err
			}
			return withSkew(err, response.Header, time.Now()) // the answers of the suite take no time
		},
	})
	client := http.Client{Transport: transport}
	return withAttempt(func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://service.example/", http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("status %s", response.Status)
		}
		return nil
	}), err
}

// overSDK calls clients of aws-sdk-go-v2.
func overSDK(strategy retry.Strategy, s *conformance.Settings) (conformance.Do, error) {
	op, cfg := operationOf(s), configOfClients()
	longPolls := awssdk.WithOperation(func(_ context.Context, called retry.Operation, _ any) retry.Operation {
		called.LongPolling = called.LongPolling || op.LongPolling && !isSQS(op.Service)
		return called
	})
	err := awssdk.Install(&cfg, awssdk.WithStrategy(strategy), longPolls)
	return callOf(cfg, op.Service, op.LongPolling), err
}

func TestTheOlderBehaviorKeepsItsRules(t *testing.T) {
	t.Parallel()
	for mode, strategy := range map[string]newStrategy{"standard": newStandard, "adaptive": newPerThrottle} {
		subject := conformance.Subject{Behavior: retry.V20, Adaptive: mode == "adaptive"}
		runAll(t, mode, waysOf(subject, strategy))
	}
}

func TestAdaptiveModeThatCutsPerThrottleKeepsAllRules(t *testing.T) {
	t.Parallel()
	runAll(t, "per throttle", waysOf(conformance.Subject{Adaptive: true}, newPerThrottle))
}

func runAll(t *testing.T, name string, ways []conformance.Subject) {
	t.Helper()
	for _, way := range ways {
		t.Run(name+"/"+way.Name, func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, way)
		})
	}
}
