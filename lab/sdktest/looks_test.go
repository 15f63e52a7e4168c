package sdktest

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdklimit "github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// The suite of looks asks what programs ask of an error, a retryer, a result or a config: in each situation, of the SDK and after
// Install. An answer that differs is a row of docs/moving.md, or the suite fails.

// allowed are the answers that differ on purpose. Situations, questions and our answers are patterns of path.Match, and row is a
// part of docs/moving.md.
var allowed = []struct{ situation, question, ours, row string }{
	{"*", "retryer", "*", "**The type of the retryer** is not `*retry.Standard`"},
	{"* in a*", "As APIError", "[IT]*", keptRow},
	{"* in the last attempt", "As APIError", "I*", keptRow},
	{"* in a*backoff*", "As ResponseError", "500 R1", keptRow},
	{"* in a hint", "As ResponseError", "500 R1", keptRow},
	{"* in a later send wait", "As ResponseError", "400 R1", keptRow},
	{"* in a later send wait", "IsErrorThrottle", "true", keptRow},
	{"canceled in a later send wait", "IsErrorRetryable", "true", keptRow},
	{"no send token for a retry", "As APIError", "T*", keptRow},
	{"no send token for a retry", "As ResponseError", "400 R1", keptRow},
	{"no send token for a retry", "IsErrorThrottle", "true", keptRow},
	{"no send token for a retry", "IsErrorRetryable", "true", keptRow},
	{"* in the body of a later", "As APIError", "I*", keptRow},
	{"deadline in a*backoff", "attempts", "*", deadlineRow},
	{"deadline in the body*", "*", "*", "| deadline while an answer is read |"},
	{"deadline in a later send wait", "*", "*", "In adaptive mode the wait must also leave"},
	{"deadline in a hint", "*", "*", "is ignored if it would pass the deadline"},
}

const (
	keptRow     = "**The last error of the service** is kept"
	deadlineRow = "| backoff that ends after the deadline | sleeps until the deadline | the same | fails at once | fails at once |"
)

// situation is what happens to a call.
type situation struct {
	name    string
	answers []answerFunc // one after the other
	ends    func(ctx context.Context) (context.Context, context.CancelFunc)
	calls   int                             // that come before; their errors do not matter
	mode    aws.RetryMode                   // or both
	quota   uint                            // tokens of the quota, or the default
	backoff time.Duration                   // before each retry, or the default
	noWait  bool                            // for the send rate
	before  func(cfg *aws.Config)           // before Install
	config  func(cfg *aws.Config)           // after it
	wrap    func(r aws.Retryer) aws.Retryer // around the retryer of the client, or of the config
	client  func(o *dynamodb.Options)
	call    func(o *dynamodb.Options)
	ours    error // the reason of a refusal of ours, found in the error
}

func canceledAt(d time.Duration) func(ctx context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		if d == 0 {
			cancel()
		}
		go func() {
			sleep(ctx, d)
			cancel()
		}()
		return ctx, cancel
	}
}

func deadlineAt(d time.Duration) func(ctx context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

// hangs is an attempt that its context ends.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// cut begins an answer that goes on only when the context of its attempt ends.
func cut(r *http.Request) (*http.Response, error) {
	answer := response(200, "")
	answer.Body, answer.ContentLength = io.NopCloser(readerFunc(func([]byte) (int, error) {
		<-r.Context().Done()
		return 0, r.Context().Err()
	})), -1
	return answer, nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// limitAttempts adds a middleware between the loop and everything below that gives each attempt a context of its own.
func limitAttempts(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("limit", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return next.HandleFinalize(ctx, in)
		}), "Retry", middleware.After)
	})
}

// late is an answer that takes its time, whatever becomes of the context.
func late(d time.Duration, answer answerFunc) answerFunc {
	return func(r *http.Request) (*http.Response, error) {
		pause(d)
		return answer(r)
	}
}

func situations() []situation {
	broken := fail(500, "InternalServerError", "X-Amzn-Requestid", "R1")
	slow := fail(500, "InternalServerError", "X-Amzn-Requestid", "R1", "X-Amz-Retry-After", "3000")
	busy := fail(400, "ThrottlingException", "X-Amzn-Requestid", "R1")
	attempts := func(n int) func(o *dynamodb.Options) { return func(o *dynamodb.Options) { o.RetryMaxAttempts = n } }
	retryer := func(r func() aws.Retryer) func(o *dynamodb.Options) {
		return func(o *dynamodb.Options) { o.Retryer = r() }
	}
	nop := func() aws.Retryer { return aws.NopRetryer{} }
	two := func() aws.Retryer {
		return sdkretry.NewStandard(func(o *sdkretry.StandardOptions) { o.MaxAttempts = 2 })
	}
	used := retry.ErrAttemptsExhausted
	all := []situation{
		{name: "success", answers: []answerFunc{succeeds}},
		{name: "500s", answers: []answerFunc{broken}, ours: used},
		{name: "throttles", answers: []answerFunc{busy}, ours: used},
		{name: "no quota, 500", answers: []answerFunc{broken}, quota: 1, ours: retry.ErrQuotaExhausted},
		{name: "no quota, throttle", answers: []answerFunc{busy}, quota: 1, ours: retry.ErrQuotaExhausted},
		{name: "no quota after a retry", answers: []answerFunc{broken}, quota: 15, ours: retry.ErrQuotaExhausted},
		{name: "final", answers: []answerFunc{odd}},
		{name: "500, success", answers: []answerFunc{broken, succeeds}},
		{name: "500, final", answers: []answerFunc{broken, odd}},
		{name: "network", answers: []answerFunc{refuse(&net.OpError{Op: "dial", Err: errors.New("refused")})}, ours: used},
		{name: "network, timeout", answers: []answerFunc{refuse(&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded})}, ours: used},
		{name: "network, 500", answers: []answerFunc{refuse(&net.OpError{Op: "dial", Err: errors.New("refused")}), broken}, ours: used},

		{name: "no send token", answers: []answerFunc{busy}, noWait: true, calls: 1, mode: aws.RetryModeAdaptive, ours: retry.ErrSendRateLimited},
		{name: "no send token for a retry", answers: []answerFunc{busy}, noWait: true, mode: aws.RetryModeAdaptive, ours: retry.ErrSendRateLimited},

		{name: "limit of a middleware", answers: []answerFunc{hangs, succeeds}, call: limitAttempts},
		{name: "limit of a middleware, body", answers: []answerFunc{cut, succeeds}, call: limitAttempts},

		{name: "attempts of the client", answers: []answerFunc{broken}, client: attempts(2), ours: used},
		{name: "more attempts of the client", answers: []answerFunc{broken}, client: attempts(6), ours: used},
		{name: "one attempt of the client", answers: []answerFunc{broken}, client: attempts(1), ours: used},
		{name: "attempts of the call", answers: []answerFunc{broken}, call: attempts(2), ours: used},
		{name: "attempts of the call and the client", answers: []answerFunc{broken}, client: attempts(2), call: attempts(5), ours: used},
		{name: "attempts of the config", answers: []answerFunc{broken}, before: func(cfg *aws.Config) { cfg.RetryMaxAttempts = 6 }, ours: used},
		{name: "attempts set in the config", answers: []answerFunc{broken}, config: func(cfg *aws.Config) { cfg.RetryMaxAttempts = 2 }, ours: used},
		{
			name: "attempts of the config reset", answers: []answerFunc{broken}, ours: used,
			before: func(cfg *aws.Config) { cfg.RetryMaxAttempts = 6 }, config: func(cfg *aws.Config) { cfg.RetryMaxAttempts = 0 },
		},
		{name: "attempts below zero", answers: append(slices.Repeat([]answerFunc{broken}, 8), succeeds), call: attempts(-1)},
		{
			name: "mode of the client", answers: []answerFunc{broken}, ours: used,
			client: func(o *dynamodb.Options) { o.RetryMode = aws.RetryModeAdaptive },
		},
		{name: "NopRetryer of the client", answers: []answerFunc{broken}, client: retryer(nop)},
		{name: "NopRetryer of the call", answers: []answerFunc{broken}, call: retryer(nop)},
		{name: "NopRetryer of the config", answers: []answerFunc{broken}, config: func(cfg *aws.Config) { cfg.Retryer = nop }},
		{name: "NewStandard of the client", answers: []answerFunc{broken}, client: retryer(two)},
		{name: "NewStandard of the call", answers: []answerFunc{broken}, call: retryer(two)},
		{name: "NewStandard of the config", answers: []answerFunc{broken}, config: func(cfg *aws.Config) { cfg.Retryer = two }},
		{name: "NewStandard and attempts of the config", answers: []answerFunc{broken}, config: func(cfg *aws.Config) {
			cfg.Retryer, cfg.RetryMaxAttempts = two, 5
		}},
	}
	for name, ends := range map[string]func(time.Duration) func(context.Context) (context.Context, context.CancelFunc){
		"canceled": canceledAt, "deadline": deadlineAt,
	} {
		over, hinted := retry.ErrCanceled, retry.ErrCanceled
		if name == "deadline" {
			hinted = used // that the retries have not waited for
		}
		all = append(all, []situation{
			{name: name + " before the call", answers: []answerFunc{broken}, ends: ends(0), ours: over},
			{name: name + " in the first attempt", answers: []answerFunc{hangs}, ends: ends(time.Second), ours: over},
			{name: name + " in a later attempt", answers: []answerFunc{broken, hangs}, ends: ends(time.Second), ours: over},
			{name: name + " in the last attempt", answers: []answerFunc{broken, broken, broken, hangs}, ends: ends(time.Second), ours: over},
			{name: name + " in the body of the first", answers: []answerFunc{cut}, ends: ends(time.Second), ours: over},
			{name: name + " in the body of a later", answers: []answerFunc{broken, cut}, ends: ends(time.Second), ours: over},
			{name: name + " before an answer", answers: []answerFunc{late(2*time.Second, broken)}, ends: ends(time.Second), ours: over},
			{name: name + " before a success", answers: []answerFunc{late(2*time.Second, succeeds)}, ends: ends(time.Second)},
			{name: name + " in a backoff", answers: []answerFunc{broken}, backoff: 2 * time.Second, ends: ends(time.Second), ours: over},
			{name: name + " in a later backoff", answers: []answerFunc{broken}, backoff: 2 * time.Second, ends: ends(3 * time.Second), ours: over},
			{name: name + " in a hint", answers: []answerFunc{slow}, ends: ends(time.Second), ours: hinted},
			{
				name: name + " in a backoff around", answers: []answerFunc{broken}, backoff: 2 * time.Second, ends: ends(time.Second), ours: over,
				client: func(o *dynamodb.Options) { o.Retryer = bounds{v2(o.Retryer), 0, longest} },
			},
			{
				name: name + " in the first send wait", answers: []answerFunc{busy}, ends: ends(500 * time.Millisecond), ours: over,
				calls: 1, client: attempts(1), mode: aws.RetryModeAdaptive,
			},
			{
				name: name + " in a later send wait", answers: []answerFunc{busy}, ends: ends(1500 * time.Millisecond), ours: over,
				mode: aws.RetryModeAdaptive,
			},
		}...)
	}
	for name, w := range map[string]situation{
		"AddWithMaxAttempts": {
			answers: []answerFunc{broken}, ours: used,
			wrap: func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 2) },
		},
		"AddWithMaxAttempts of 0": {
			answers: append(slices.Repeat([]answerFunc{broken}, 8), succeeds),
			wrap:    func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 0) },
		},
		"AddWithErrorCodes": {
			answers: []answerFunc{odd}, ours: used,
			wrap: func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithErrorCodes(r, "OddException") },
		},
		"AddWithMaxBackoffDelay": {
			answers: []answerFunc{broken}, ours: used,
			wrap: func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxBackoffDelay(r, time.Millisecond) },
		},
		"a struct":             {answers: []answerFunc{broken}, ours: used, wrap: func(r aws.Retryer) aws.Retryer { return bounds{v2(r), 0, longest} }},
		"an older struct":      {answers: []answerFunc{broken}, ours: used, wrap: func(r aws.Retryer) aws.Retryer { return older{r} }},
		"a struct that grants": {answers: []answerFunc{broken}, ours: used, wrap: func(r aws.Retryer) aws.Retryer { return grants{v2(r)} }},
		"a struct that vetoes": {answers: []answerFunc{broken}, wrap: func(r aws.Retryer) aws.Retryer { return veto{v2(r), false} }},
		"no quota":             {answers: []answerFunc{busy}, quota: 1, ours: retry.ErrQuotaExhausted, wrap: func(r aws.Retryer) aws.Retryer { return bounds{v2(r), 0, longest} }},
	} {
		around := w
		around.name, around.client = name+" around o.Retryer", func(o *dynamodb.Options) { o.Retryer = w.wrap(o.Retryer) }
		of := w
		of.name, of.config = name+" around cfg.Retryer", func(cfg *aws.Config) {
			inner := cfg.Retryer
			cfg.Retryer = func() aws.Retryer { return w.wrap(inner()) }
		}
		all = append(all, around, of)
	}
	slices.SortFunc(all, func(a, b situation) int { return strings.Compare(a.name, b.name) })
	return all
}

// looks are answers by question.
type looks map[string]string

// look makes the call of a situation, and asks.
func (s situation) look(t *testing.T, mode aws.RetryMode, install bool) (answers looks, err error) {
	t.Helper()
	script := newScript(s.answers...)
	cfg := configFor(script)
	cfg.RetryMode = mode
	if s.before != nil {
		s.before(&cfg)
	}
	if install {
		require.NoError(t, awssdk.Install(&cfg, awssdk.WithSettings(s.settings())))
	} else if s.quota > 0 || s.backoff > 0 || s.noWait || s.wrap != nil { // or the clients have one of the mode
		cfg.Retryer = s.sdks(mode)
	}
	if s.config != nil {
		s.config(&cfg)
	}
	var metadata middleware.Metadata
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, keep(&metadata))
		if s.client != nil {
			s.client(o)
		}
	})
	one := func(ctx context.Context) {
		_, err = client.DescribeTable(lateDone{ctx}, &dynamodb.DescribeTableInput{TableName: aws.String("orders")}, func(o *dynamodb.Options) {
			if s.call != nil {
				s.call(o)
			}
		})
	}
	for range s.calls {
		one(t.Context())
	}
	ctx, cancel := context.WithCancel(t.Context())
	if s.ends != nil {
		cancel()
		ctx, cancel = s.ends(t.Context())
	}
	defer cancel()
	one(ctx)
	answers = looksAt(err)
	options := client.Options()
	answers["config"] = fmt.Sprint(cfg.RetryMode, " ", cfg.RetryMaxAttempts)
	answers["client"] = fmt.Sprint(options.RetryMode, " ", options.RetryMaxAttempts, " ", options.Retryer.MaxAttempts())
	answers["retryer"] = fmt.Sprintf("%T", options.Retryer)
	answers["attempts"] = resultsIn(metadata)
	for _, header := range script.headers {
		number, _, _ := strings.Cut(header.Get("Amz-Sdk-Request"), "; ttl")
		answers["requests"] += number + ", "
		_, answers["User-Agent"], _ = strings.Cut(header.Get("User-Agent"), " m/")
	}
	return answers, err
}

// sdks returns a maker of the retryers that the clients of DynamoDB have by themselves, with what the situation has changed.
func (s situation) sdks(mode aws.RetryMode) func() aws.Retryer {
	set := func(o *sdkretry.StandardOptions) {
		o.MaxAttempts, o.BaseDelay = 4, 25*time.Millisecond
		if s.quota > 0 {
			o.RateLimiter = sdklimit.NewTokenRateLimit(s.quota)
		}
		if s.backoff > 0 {
			o.Backoff = sdkretry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return s.backoff, nil })
		}
	}
	return func() aws.Retryer {
		if mode == aws.RetryModeAdaptive {
			return sdkretry.NewAdaptiveMode(func(o *sdkretry.AdaptiveModeOptions) {
				o.StandardOptions, o.FailOnNoAttemptTokens = append(o.StandardOptions, set), s.noWait
			})
		}
		return sdkretry.NewStandard(set)
	}
}

// settings are the same for Install.
func (s situation) settings() awsretry.Option {
	var c standard.Config
	if s.quota > 0 {
		c.QuotaCapacity = new(int(s.quota))
	}
	if s.backoff > 0 {
		c.Backoff = func(int, error) time.Duration { return s.backoff }
	}
	if s.noWait {
		return awsretry.WithConfig(adaptive.Config{Standard: c, NoSendWait: true})
	}
	return awsretry.WithStandard(c)
}

// keep keeps the metadata of calls, also of those that fail.
func keep(metadata *middleware.Metadata) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Keep", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (out middleware.InitializeOutput, _ middleware.Metadata, err error) {
			out, *metadata, err = next.HandleInitialize(ctx, in)
			return out, *metadata, err
		}), middleware.Before)
	}
}

// looksAt asks what programs ask of an error.
func looksAt(err error) looks {
	answers := looks{
		"IsErrorRetryable": strconv.FormatBool(sdkretry.IsErrorRetryables(sdkretry.DefaultRetryables).IsErrorRetryable(err).Bool()),
		"IsErrorThrottle":  strconv.FormatBool(sdkretry.IsErrorThrottles(sdkretry.DefaultThrottles).IsErrorThrottle(err).Bool()),
		"IsErrorTimeout":   strconv.FormatBool(sdkretry.IsErrorTimeouts(sdkretry.DefaultTimeouts).IsErrorTimeout(err).Bool()),
		"Is Canceled":      strconv.FormatBool(errors.Is(err, context.Canceled)),
		"Is Deadline":      strconv.FormatBool(errors.Is(err, context.DeadlineExceeded)),
	}
	found := func(question string, of any, ok bool) {
		if answers[question] = "no"; ok {
			answers[question] = fmt.Sprint(of)
		}
	}
	operation, ok := errors.AsType[*smithy.OperationError](err)
	found("As OperationError", "yes", ok)
	if ok {
		answers["OperationError.Err"] = exported(operation.Err)
	}
	most, ok := errors.AsType[*sdkretry.MaxAttemptsError](err)
	found("As MaxAttemptsError", "yes", ok)
	if ok {
		answers["As MaxAttemptsError"] = strconv.Itoa(most.Attempt)
	}
	quota, ok := errors.AsType[sdklimit.QuotaExceededError](err)
	found("As QuotaExceededError", quota, ok)
	_, ok = errors.AsType[*aws.RequestCanceledError](err)
	found("As RequestCanceledError", "yes", ok)
	_, ok = errors.AsType[*smithy.CanceledError](err)
	found("As CanceledError", "yes", ok)
	api, ok := errors.AsType[smithy.APIError](err)
	found("As APIError", "yes", ok)
	if ok {
		answers["As APIError"] = api.ErrorCode()
	}
	response, ok := errors.AsType[*awshttp.ResponseError](err)
	found("As ResponseError", "yes", ok)
	if ok {
		answers["As ResponseError"] = fmt.Sprint(response.HTTPStatusCode(), " ", response.ServiceRequestID())
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		answers["errors.Unwrap"] += exported(e) + ", "
	}
	answers["errors.Unwrap"] = strings.ReplaceAll(answers["errors.Unwrap"], "-, ", "")
	if err != nil {
		for _, text := range []string{
			"failed to get rate limit token, retry quota exceeded", "exceeded maximum number of attempts", "failed to get retry Send token",
		} {
			answers[text] = strconv.FormatBool(strings.Contains(err.Error(), text))
		}
		answers["lines"] = strconv.Itoa(strings.Count(err.Error(), "\n") + 1)
	}
	return answers
}

// exported names the type of an error, if a program of the SDK can.
func exported(err error) string {
	if err == nil {
		return "nil"
	}
	name := fmt.Sprintf("%T", err)
	if _, of, _ := strings.Cut(name, "."); !ast.IsExported(of) || name == fmt.Sprintf("%T", &retry.Error{}) {
		return "-"
	}
	return name
}

// resultsIn tells the attempts of a call.
func resultsIn(metadata middleware.Metadata) string {
	results, ok := sdkretry.GetAttemptResults(metadata)
	if !ok {
		return "none"
	}
	var text strings.Builder
	for _, r := range results.Results {
		fmt.Fprintf(&text, "%s %t %t, ", exported(r.Err), r.Retryable, r.Retried)
	}
	return text.String()
}

// TestLooksOfTheSDK plays each situation with the SDK and after Install.
func TestLooksOfTheSDK(t *testing.T) {
	page, err := os.ReadFile("../../docs/moving.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, a := range allowed {
		require.Contains(t, text, a.row)
	}
	for _, mode := range []aws.RetryMode{aws.RetryModeStandard, aws.RetryModeAdaptive} {
		for _, s := range situations() {
			if s.mode == "" || s.mode == mode {
				t.Run(string(mode)+"/"+s.name, func(t *testing.T) { s.compare(t, mode) })
			}
		}
	}
}

func (s situation) compare(t *testing.T, mode aws.RetryMode) {
	t.Helper()
	var sdk, ours looks
	var theirErr, ourErr error
	synctest.Test(t, func(t *testing.T) { sdk, theirErr = s.look(t, mode, false) })
	synctest.Test(t, func(t *testing.T) { ours, ourErr = s.look(t, mode, true) })
	both := maps.Clone(sdk)
	maps.Copy(both, ours)
	for _, question := range slices.Sorted(maps.Keys(both)) {
		same := sdk[question] == ours[question]
		if pattern := s.allows(question); pattern != "" {
			same, _ = path.Match(pattern, ours[question])
		}
		if !same {
			t.Errorf("%s: SDK %q, Install %q", question, sdk[question], ours[question])
		}
	}
	refusal, found := errors.AsType[*retry.Error](ourErr)
	switch deadline := errors.Is(ourErr, retry.ErrDeadline); {
	case s.ours == nil:
		require.False(t, found, "a refusal: %v", ourErr)
		require.Equal(t, fmt.Sprint(theirErr), fmt.Sprint(ourErr))
	case !found:
		t.Errorf("no *retry.Error in: %v", ourErr)
	case !errors.Is(refusal.Reason, s.ours) && (!errors.Is(s.ours, retry.ErrCanceled) || !deadline):
		t.Errorf("%v is not the reason of: %v", s.ours, refusal)
	}
	if t.Failed() {
		t.Logf("SDK:     %v", theirErr)
		t.Logf("Install: %v", ourErr)
	}
}

// allows returns the pattern of an answer of ours that differs on purpose, or "".
func (s situation) allows(question string) string {
	for _, a := range allowed {
		of, _ := path.Match(a.situation, s.name)
		if is, _ := path.Match(a.question, question); of && is {
			return a.ours
		}
	}
	return ""
}
