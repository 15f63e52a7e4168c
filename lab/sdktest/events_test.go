package sdktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// eventLog is what an observer is told, one line for each event.
type eventLog struct {
	mu    sync.Mutex // guards all below
	start time.Time
	ids   map[uint64]bool
	lines []string
}

func (s *eventLog) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start, s.ids, s.lines = time.Now(), map[uint64]bool{}, nil
}

func (s *eventLog) Observe(_ context.Context, e retry.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[e.OperationID] = true
	var line strings.Builder
	fmt.Fprintf(&line, "%v %v #%d quota=%d", e.Time.Sub(s.start), e.Kind, e.Attempt, e.Quota)
	for _, part := range []struct {
		name string
		of   time.Duration
	}{
		{"delay", e.Delay},
		{"elapsed", e.Elapsed},
		{"backoff", e.BackoffWait},
		{"quota-wait", e.QuotaWait},
		{"send-wait", e.SendWait},
	} {
		if part.of != 0 {
			fmt.Fprintf(&line, " %s=%v", part.name, part.of)
		}
	}
	if e.Verdict != (classify.Verdict{}) {
		line.WriteString(" " + e.Verdict.String())
	}
	if e.Err != nil {
		line.WriteString(" error=" + e.ErrorType())
	}
	if e.Kind == retry.RetryRefused || e.Kind == retry.OperationEnded {
		line.WriteString(" " + e.Outcome())
	}
	s.lines = append(s.lines, line.String())
}

// answerError is an error of a service as a program without a client would make it.
type answerError struct {
	status int
	code   string
	hint   string
}

func (e *answerError) Error() string { return e.code }

func (e *answerError) ErrorCode() string { return e.code }

func (e *answerError) HTTPStatusCode() int { return e.status }

func (e *answerError) RetryAfter() (time.Duration, bool) {
	return classify.ParseRetryAfterMillis(e.hint)
}

// askWith makes calls with retry.Do.
func askWith(t *testing.T, op retry.Operation, opts []awsretry.Option, service answerFunc) func(context.Context) error {
	t.Helper()
	s, err := awsretry.Load(t.Context(), opts...)
	require.NoError(t, err)
	return func(ctx context.Context) error {
		return retry.DoErr(ctx, s, op, func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://service.test/", http.NoBody)
			if err != nil {
				return err
			}
			got, err := service(request)
			if err != nil {
				return err
			}
			defer got.Body.Close()
			if got.StatusCode >= http.StatusBadRequest {
				return &answerError{got.StatusCode, got.Header.Get("X-Amzn-ErrorType"), got.Header.Get("X-Amz-Retry-After")}
			}
			return nil
		})
	}
}

// RoundTrip is the method that http.Client calls.
func (f answerFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// askOverHTTP makes calls with httpretry.
func askOverHTTP(t *testing.T, op retry.Operation, opts []awsretry.Option, service answerFunc) func(context.Context) error {
	t.Helper()
	s, err := awsretry.Load(t.Context(), opts...)
	require.NoError(t, err)
	transport, err := httpretry.New(httpretry.Config{
		Strategy: s, Base: service,
		Operation:  func(*http.Request) retry.Operation { return op },
		Idempotent: func(*http.Request) bool { return true },
	})
	require.NoError(t, err)
	client := &http.Client{Transport: transport}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://service.test/", http.NoBody)
		require.NoError(t, err)
		got, err := client.Do(request)
		if err != nil {
			return err
		}
		defer got.Body.Close()
		if _, err := io.Copy(io.Discard, got.Body); err != nil {
			return err
		}
		if got.StatusCode >= http.StatusBadRequest {
			return errors.New(got.Status)
		}
		return nil
	}
}

// eventCase is one call, or several calls one after the other.
type eventCase struct {
	name     string
	adaptive bool
	config   func(c *adaptive.Config)
	op       retry.Operation // of which limits and LongPolling count
	answers  []answerFunc
	calls    int           // zero means one
	cancel   time.Duration // of the context, after so much time; zero means never
	deadline time.Duration // of the context; zero means none
}

func (c *eventCase) context(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	if c.deadline > 0 {
		ctx, cancel = context.WithTimeout(ctx, c.deadline)
		t.Cleanup(cancel)
	}
	if c.cancel > 0 {
		go func() {
			pause(c.cancel)
			cancel()
		}()
	}
	return ctx
}

// service gives the answers, each after ten milliseconds.
func (c *eventCase) service() answerFunc {
	n := -1
	return func(r *http.Request) (*http.Response, error) {
		n++
		if err := (clock.System{}).Sleep(r.Context(), 10*time.Millisecond); err != nil {
			return nil, err
		}
		return c.answers[min(n, len(c.answers)-1)](r)
	}
}

func (c *eventCase) settings(s *eventLog) []awsretry.Option {
	config := adaptive.Config{}
	config.Standard.Random = func() float64 { return 0.5 }
	config.Standard.Observer = s
	if c.config != nil {
		c.config(&config)
	}
	mode := awsretry.ModeStandard
	if c.adaptive {
		mode = awsretry.ModeAdaptive
	}
	return []awsretry.Option{
		awsretry.WithMode(mode), awsretry.WithConfig(config), awsretry.WithMaxAttempts(3),
		awsretry.WithSources(awsretry.Sources{LookupEnv: func(name string) (string, bool) { return "/nowhere", name == "HOME" }}),
	}
}

// eventDoor makes calls whose attempts are those of a service.
type eventDoor = func(t *testing.T, op retry.Operation, opts []awsretry.Option, service answerFunc) func(context.Context) error

// play makes the calls with a client and returns its events.
func (c *eventCase) play(t *testing.T, door eventDoor) (lines []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &eventLog{}
		op := c.op
		op.Service, op.Region, op.Name, op.Resource = "dynamodb", "eu-central-1", "DescribeTable", "orders"
		call := door(t, op, c.settings(s), c.service())
		s.begin()
		ctx := c.context(t)
		for range max(c.calls, 1) {
			_ = call(ctx)
		}
		synctest.Wait()
		lines = s.lines
		require.Len(t, s.ids, max(c.calls, 1), "operations")
	})
	return lines
}

func TestDoAndTransportAndSDKReportTheSameEvents(t *testing.T) {
	for _, c := range eventCases() {
		t.Run(c.name, func(t *testing.T) {
			want := c.play(t, askWith)
			require.NotEmpty(t, want)
			require.Equal(t, want, c.play(t, askOverHTTP))
			require.Equal(t, want, c.play(t, askWithTheSDK))
		})
	}
}

func askWithTheSDK(t *testing.T, op retry.Operation, opts []awsretry.Option, service answerFunc) func(context.Context) error {
	t.Helper()
	cfg := installed(t, service, awssdk.WithSettings(opts...), awssdk.WithOperation(func(context.Context, retry.Operation, any) retry.Operation {
		return op
	}))
	return func(ctx context.Context) error { return describeWith(ctx, cfg) }
}

func eventCases() []eventCase {
	ok, broken := say(http.StatusOK, "{}"), fail(http.StatusInternalServerError, "InternalServerError")
	slow := fail(http.StatusBadRequest, "ThrottlingException")
	wrong := fail(http.StatusBadRequest, "ValidationException")
	return []eventCase{
		{name: "success", answers: []answerFunc{ok}},
		{name: "two failures and a success", answers: []answerFunc{broken, broken, ok}},
		{name: "attempts exhausted", answers: []answerFunc{broken}},
		{name: "not retryable", answers: []answerFunc{broken, wrong}},
		{name: "empty quota", answers: []answerFunc{broken}, config: func(c *adaptive.Config) { c.Standard.QuotaInitial = aws.Int(0) }},
		{name: "long poll with an empty quota", answers: []answerFunc{broken}, op: retry.Operation{LongPolling: true}, config: func(c *adaptive.Config) { c.Standard.QuotaInitial = aws.Int(0) }},
		{name: "deadline", answers: []answerFunc{broken}, deadline: 20 * time.Millisecond},
		{name: "canceled in the backoff", answers: []answerFunc{broken}, cancel: 15 * time.Millisecond},
		{name: "canceled in an attempt", answers: []answerFunc{broken}, cancel: 5 * time.Millisecond},
		{name: "end of the operation", answers: []answerFunc{broken}, op: retry.Operation{MaxElapsed: 20 * time.Millisecond}},
		{name: "throttled in adaptive mode", adaptive: true, answers: []answerFunc{slow, ok}, calls: 2},
		{name: "send wait refused", adaptive: true, answers: []answerFunc{slow}, config: func(c *adaptive.Config) { c.NoSendWait = true }},
		{name: "canceled in the send wait", adaptive: true, answers: []answerFunc{slow}, cancel: 700 * time.Millisecond},
		{name: "deadline in the send wait", adaptive: true, answers: []answerFunc{slow}, deadline: 1500 * time.Millisecond},
		{
			name: "wait for quota", answers: []answerFunc{broken, broken, ok},
			config: func(c *adaptive.Config) {
				c.Standard.QuotaInitial, c.Standard.QuotaRefill, c.Standard.MaxQuotaWait = aws.Int(14), 100, time.Minute
			},
		},
		{name: "hint of the server", answers: []answerFunc{fail(http.StatusBadRequest, "ThrottlingException", "X-Amz-Retry-After", "1500"), ok}},
		{name: "connection that fails", answers: []answerFunc{refuse(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}), ok}},
	}
}

// nestings returns an observer and the products of attempts that it hears of.
func nestings() (retry.Observer, *[]int) {
	var products []int
	return retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.LoopNested {
			products = append(products, e.MaxAttempts)
		}
	}), &products
}

func TestObserverHearsOfAClientInALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observer, products := nestings()
		s := newScript(throttle)
		cfg := installed(t, s, hermetic(awsretry.WithMaxAttempts(4), awsretry.WithObserver(observer)))
		outer, err := standard.New(standard.Config{MaxAttempts: 2})
		require.NoError(t, err)
		err = retry.DoErr(t.Context(), outer, retry.Operation{}, func(ctx context.Context) error { return describeWith(ctx, cfg) })
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.Equal(t, 8, s.requests())
		require.Equal(t, []int{8, 8}, *products)
	})
}

// TestObserverHearsOfALoopInAClient has an HTTP client that retries below that of the SDK.
func TestObserverHearsOfALoopInAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observer, products := nestings()
		inner, err := standard.New(standard.Config{MaxAttempts: 2, Observer: observer})
		require.NoError(t, err)
		s := newScript(fail(500, ""))
		transport, err := httpretry.New(httpretry.Config{
			Strategy: inner, Base: roundTripFunc(s.Do), Idempotent: func(*http.Request) bool { return true },
		})
		require.NoError(t, err)
		cfg := installed(t, &http.Client{Transport: transport}, hermetic(awsretry.WithMaxAttempts(3)))
		require.Error(t, describe(t, cfg))
		require.Equal(t, 6, s.requests())
		require.Equal(t, []int{6, 6, 6}, *products)

		require.Error(t, describeWith(retry.Once(t.Context()), cfg))
		require.Equal(t, 7, s.requests())
		require.Len(t, *products, 3)
	})
}

// roundTripFunc is a function that is an http.RoundTripper.
type roundTripFunc func(r *http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type callerKey struct{}

// TestEventsHaveTheContextOfTheCall: all events of an operation get a context that descends from that of the
// caller, so an observer finds its span in it.
func TestEventsHaveTheContextOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kinds := map[retry.EventKind]int{}
		cfg := installed(t, newScript(fail(400, "ThrottlingException"), fail(500, ""), say(200, "{}")), hermetic(
			awsretry.WithMode(awsretry.ModeAdaptive),
			awsretry.WithObserver(retry.ObserverFunc(func(ctx context.Context, e retry.Event) {
				kinds[e.Kind]++
				require.Equal(t, "the caller's", ctx.Value(callerKey{}), e.Kind)
			}))))
		require.NoError(t, describeWith(context.WithValue(t.Context(), callerKey{}, "the caller's"), cfg))
		require.Equal(t, 3, kinds[retry.AttemptEnded])
		require.Equal(t, 2, kinds[retry.RetryScheduled])
		require.Equal(t, 1, kinds[retry.OperationEnded])
		require.Equal(t, 1, kinds[retry.ScopeCreated])
	})
}
