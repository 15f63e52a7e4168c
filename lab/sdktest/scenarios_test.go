package sdktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
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

// A scenario is a call with Install, and what it comes to: the number of requests and the limit that the service is told,
// the times between them, until when the call then lasts, the tokens that the quota lacks, and the error. Without jitter all
// delays are the
// longest ones.
type scenario struct {
	says     []answerFunc // one after the other, the last one for ever; without any, all requests fail
	standard bool         // mode, or adaptive mode with limiters that keep books
	noWait   bool         // for the send rate
	random   bool         // delays are not compared
	config   standard.Config
	opts     []awssdk.Option
	call     func(ctx context.Context, cfg aws.Config) error // DescribeTable, if it is nil
	wrap     func(r aws.Retryer) aws.Retryer                 // around ours, in all ways, and then ListTables is called
	ends     func(ctx context.Context) (context.Context, context.CancelFunc)
	want     string
}

// run makes the call, and says what it came to.
func (p scenario) run(t *testing.T, around around) string {
	t.Helper()
	told := 0
	watch := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.AttemptEnded {
			told++
		}
	})
	p.config.Random, p.config.Observer = func() float64 { return 1 }, watch
	option, kept := hermetic(awsretry.WithConfig(adaptive.Config{Standard: p.config})), &books{}
	if !p.standard {
		option, kept = bookkept(adaptive.Config{Standard: p.config, NoSendWait: p.noWait})
	}
	s := newScript(append(p.says, broken)[:max(len(p.says), 1)]...)
	cfg := installed(t, s, append([]awssdk.Option{option}, p.opts...)...)
	ctx, cancel := t.Context(), func() {}
	if p.ends != nil {
		ctx, cancel = p.ends(ctx)
	}
	defer cancel()
	call := p.call
	switch {
	case p.wrap != nil:
		client := around(cfg, p.wrap)
		call = func(ctx context.Context, _ aws.Config) error {
			_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{})
			return err
		}
	case call == nil:
		call = func(ctx context.Context, cfg aws.Config) error { return describeWith(ctx, cfg) }
	}
	began := time.Now()
	err := call(ctx, cfg)
	var text strings.Builder
	fmt.Fprint(&text, s.requests())
	last := began
	for i, at := range s.at {
		if _, most, found := strings.Cut(s.headers[i].Get("Amz-Sdk-Request"), "max="); found && i == 0 {
			most, _, _ = strings.Cut(most, ";")
			fmt.Fprint(&text, " of ", most)
		}
		if i > 0 && !p.random {
			fmt.Fprint(&text, " ", at.Sub(last))
		}
		last = at
	}
	if took := time.Since(last); took != 0 {
		fmt.Fprint(&text, " until ", took)
	}
	if told != s.requests() {
		fmt.Fprint(&text, "; told of ", told)
	}
	if !p.standard {
		require.EqualValues(t, told, kept.acquired.Load())
		require.EqualValues(t, told, kept.reported.Load())
	}
	if throttled := kept.throttled.Load(); throttled > 0 {
		fmt.Fprintf(&text, "; %d throttled", throttled)
	}
	if lacks := 500 - quotaOfAny(t, cfg); lacks != 0 && p.config.QuotaCapacity == nil {
		fmt.Fprintf(&text, "; quota -%d", lacks)
	}
	return text.String() + outcomeIn(t, err, told)
}

// reasons are short names of ours.
var reasons = map[error]string{
	retry.ErrAttemptsExhausted: "used up", retry.ErrQuotaExhausted: "no quota", retry.ErrDeadline: "deadline",
	retry.ErrMaxElapsed: "elapsed", retry.ErrCanceled: "canceled", retry.ErrSendRateLimited: "held back",
}

// outcomeIn says why a call failed after so many attempts: the code of the service, but for that of broken, and our reason.
func outcomeIn(t *testing.T, err error, attempts int) (text string) {
	t.Helper()
	api, ok := errors.AsType[smithy.APIError](err)
	isBroken := ok && api.ErrorCode() == "Broken"
	if ok && !isBroken {
		text = "; " + strings.TrimSuffix(api.ErrorCode(), "Exception")
	}
	refusal, ok := errors.AsType[*retry.Error](err)
	if ok {
		text += "; " + reasons[refusal.Reason]
		if refusal.Attempts != attempts {
			text += fmt.Sprint(" after ", refusal.Attempts)
		}
	}
	if late, found := errors.AsType[*retry.AttemptTimeoutError](err); found {
		text += fmt.Sprint("; timed out after ", late.After)
		require.ErrorContains(t, err, fmt.Sprint("attempt timed out after ", late.After))
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, context.Canceled)
	}
	if _, usedUp := errors.AsType[*sdkretry.MaxAttemptsError](err); usedUp && ok {
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.NotContains(t, err.Error(), "client-side", "the text is the SDK's")
	}
	if err != nil && text == "" && !isBroken {
		return "; fails"
	}
	return text
}

func (p scenario) compare(t *testing.T) {
	t.Helper()
	for name, around := range ways {
		synctest.Test(t, func(t *testing.T) { require.Equal(t, p.want, p.run(t, around), name) })
		if p.wrap == nil {
			return
		}
	}
}

func TestScenarios(t *testing.T) {
	all := scenarios()
	maps.Copy(all, scenariosAround())
	for name, p := range all {
		t.Run(name, func(t *testing.T) { p.compare(t) })
	}
}

// withOperation changes the operation of each call.
func withOperation(change func(op *retry.Operation)) awssdk.Option {
	return awssdk.WithOperation(func(_ context.Context, op retry.Operation, _ any) retry.Operation {
		change(&op)
		return op
	})
}

// withAttempts gives each call a number of attempts.
func withAttempts(n int) []awssdk.Option {
	return []awssdk.Option{withOperation(func(op *retry.Operation) { op.MaxAttempts = n })}
}

// atMost lets failures of connections have so many attempts.
type atMost int

func (atMost) Name() string { return "at most" }

func (n atMost) Classify(o classify.Outcome) classify.Verdict {
	if _, ok := errors.AsType[*net.DNSError](o.Err); ok {
		return classify.RetryAs(classify.Transient).AtMost(int(n))
	}
	return classify.Verdict{}
}

// canceledError says that it was canceled, whatever it wraps.
type canceledError struct{ error }

func (canceledError) CanceledError() bool { return true }

func (e canceledError) Unwrap() error { return e.error }

var queue = aws.String("https://sqs.test/1/jobs")

func invoke(ctx context.Context, cfg aws.Config) error {
	_, err := lambda.NewFromConfig(cfg).Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("f")})
	return err
}

func listQueues(ctx context.Context, cfg aws.Config) error {
	_, err := sqs.NewFromConfig(cfg).ListQueues(ctx, &sqs.ListQueuesInput{})
	return err
}

func receive(ctx context.Context, cfg aws.Config) error {
	_, err := sqs.NewFromConfig(cfg).ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue})
	return err
}

// receiveUntold is receive with a client that does not tell the loop of long polls, as those before v1.53.0.
func receiveUntold(ctx context.Context, cfg aws.Config) error {
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		_, err := stack.Initialize.Remove("SetLongPollingContext")
		return err
	})
	return receive(ctx, cfg)
}

func send(ctx context.Context, cfg aws.Config) error {
	_, err := sqs.NewFromConfig(cfg).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue, MessageBody: queue})
	return err
}

// putOnce puts a body that cannot be rewound.
func putOnce(ctx context.Context, cfg aws.Config) error {
	return put(ctx, cfg, onlyReader{strings.NewReader("text")}, 4)
}

func putLarge(ctx context.Context, cfg aws.Config) error {
	return put(ctx, cfg, strings.NewReader(strings.Repeat("x", 4<<20)), 4<<20)
}

// put puts a body that is not part of the signature, and so is read only once for each attempt.
func put(ctx context.Context, cfg aws.Config, body io.Reader, size int64) error {
	_, err := s3.NewFromConfig(cfg).PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String("b"), Key: aws.String("k"), Body: body, ContentLength: &size,
	}, s3.WithAPIOptions(v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware), func(o *s3.Options) {
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})
	return err
}

func whoAmI(ctx context.Context, cfg aws.Config) error {
	_, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	return err
}

func stsError(code string) answerFunc {
	return say(400, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>`+code+
		`</Code><Message>made up</Message></Error><RequestId>1</RequestId></ErrorResponse>`)
}

// calling describes a table with options of the client.
func calling(change func(o *dynamodb.Options)) func(ctx context.Context, cfg aws.Config) error {
	return func(ctx context.Context, cfg aws.Config) error { return describeWith(ctx, cfg, change) }
}

// inStack describes a table with a change of the stack.
func inStack(change func(stack *middleware.Stack) error) func(ctx context.Context, cfg aws.Config) error {
	return calling(func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, change) })
}

// noLoop takes the loop out of the stack.
func noLoop(stack *middleware.Stack) error {
	_, err := stack.Finalize.Remove("Retry")
	return err
}

// set sets the attempts of all calls.
func set(n int) []awssdk.Option { return []awssdk.Option{hermetic(awsretry.WithMaxAttempts(n))} }

// broken is an answer that is retried.
var broken = fail(500, "Broken")

func once(ctx context.Context) (context.Context, context.CancelFunc) {
	return retry.Once(ctx), func() {}
}

// Some settings.
var (
	atOnce, patient = standard.Config{ThrottlingBase: 1}, standard.Config{Base: 10 * time.Second}
	short           = standard.Config{MaxElapsed: 200 * time.Millisecond}
	halfMinute      = standard.Config{MaxHint: 30 * time.Second}
	empty           = standard.Config{QuotaCapacity: new(0)}
)

// all are the answers of a row.
func all(answers ...answerFunc) []answerFunc { return answers }

func scenarios() map[string]scenario {
	const ms = time.Millisecond
	ok, slow := succeeds, fail(400, "Throttling")
	hint := func(ms string) answerFunc { return fail(500, "Broken", "X-Amz-Retry-After", ms) }
	old := func(c standard.Config) standard.Config {
		c.Behavior = retry.V20
		return c
	}
	v20 := old(standard.Config{})
	attempts := func(n int) func(o *dynamodb.Options) { return func(o *dynamodb.Options) { o.RetryMaxAttempts = n } }
	noHost := refuse(&net.DNSError{Err: "no such host", Name: "service.test", IsNotFound: true})
	few := standard.Config{Classifier: classify.Also(atMost(2))}
	elapsed := func(d time.Duration) standard.Config {
		return standard.Config{MaxAttempts: 3, MinDelay: time.Second, Base: time.Second, Jitter: standard.NoJitter, MaxElapsed: d}
	}
	whoIs := say(200, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>`+
		`<Arn>arn:aws:iam::1:user/a</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`)
	ahead := time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC).Format(http.TimeFormat) // bubbles begin two hours earlier
	marked := []awssdk.Option{withOperation(func(op *retry.Operation) { op.LongPolling = true })}
	const poll = 20 * time.Second
	choose := retry.TimeoutFunc(func(op retry.Operation) retry.AttemptTimeout {
		if op.Name == "ReceiveMessage" {
			return retry.FixedTimeout{First: poll + time.Second}
		}
		return nil
	})
	timed := func(timeout retry.AttemptTimeout, attempts int) []awssdk.Option {
		return append(set(attempts), awssdk.WithAttemptTimeout(timeout))
	}
	return map[string]scenario{
		"success":               {says: all(ok), want: "1 of 4"},
		"success after retries": {says: all(broken, throttle, ok), want: "3 of 4 25ms 2s; 1 throttled; quota -14"},
		"throttles": {
			says: all(slow), want: "4 of 4 2s 2s 4s; 4 throttled; quota -15; Throttling; used up",
		},
		"client error":               {says: all(odd), want: "1 of 4; Odd"},
		"client error after a retry": {says: all(broken, odd), want: "2 of 4 25ms; quota -14; Odd"},
		"no connection": {
			says: all(refuse(syscall.ECONNREFUSED)), want: "4 of 4 25ms 50ms 100ms; quota -42; used up",
		},

		"attempts of DynamoDB":        {standard: true, want: "4 of 4 25ms 50ms 100ms; quota -42; used up"},
		"attempts of other services":  {call: listQueues, want: "3 of 3 50ms 100ms; quota -28; used up"},
		"attempts of v2.0":            {config: v20, want: "3 of 3 1s 2s; quota -10; used up"},
		"attempts of the settings":    {opts: set(6), want: "6 of 6 25ms 50ms 100ms 200ms 400ms; quota -70; used up"},
		"one attempt of the settings": {opts: set(1), want: "1 of 1; used up"},
		"more attempts of the operation": {
			opts: withAttempts(10), want: "10 of 10 25ms 50ms 100ms 200ms 400ms 800ms 1.6s 3.2s 6.4s; quota -126; used up",
		},
		"fewer attempts of the operation": {opts: withAttempts(2), want: "2 of 2 25ms; quota -14; used up"},
		"one attempt of the operation":    {opts: withAttempts(1), want: "1 of 1; used up"},
		"no attempts of the operation":    {opts: withAttempts(0), want: "4 of 4 25ms 50ms 100ms; quota -42; used up"},
		"the operation allows fewer": {
			opts: append(withAttempts(3), set(7)...), want: "3 of 3 25ms 50ms; quota -28; used up",
		},
		"the call allows fewer": {
			opts: withAttempts(10), call: calling(attempts(5)), want: "5 of 5 25ms 50ms 100ms 200ms; quota -56; used up",
		},
		"the client allows fewer":    {opts: set(6), call: calling(attempts(2)), want: "2 of 2 25ms; quota -14; used up"},
		"attempts of a verdict":      {says: all(noHost), config: few, want: "2 of 4 25ms; quota -14; used up"},
		"attempts of other verdicts": {config: few, want: "4 of 4 25ms 50ms 100ms; quota -42; used up"},
		"once in standard mode":      {standard: true, says: all(slow), ends: once, want: "1 of 4; Throttling; used up"},
		"once":                       {says: all(slow), ends: once, want: "1 of 4; 1 throttled; Throttling; used up"},
		"another loop": {random: true, call: calling(func(o *dynamodb.Options) {
			loop := sdkretry.NewAttemptMiddleware(sdkretry.AddWithMaxAttempts(o.Retryer, 7), smithyhttp.RequestCloner)
			o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
				_, err := stack.Finalize.Swap(loop.ID(), loop)
				return err
			})
		}), want: "7 of 7; told of 0"},
		"no loop": {call: inStack(noLoop), want: "1; told of 0"},
		"a retryer of the SDK": {says: all(broken, broken, ok), call: calling(func(o *dynamodb.Options) {
			o.Retryer = sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
				o.MaxAttempts = 5
				o.Backoff = sdkretry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 7 * time.Second, nil })
			})
		}), want: "3 of 5 7s 7s; told of 0"},

		"delays of v2.0": {config: v20, want: "3 of 3 1s 2s; quota -10; used up"},
		"delays after throttles": {
			standard: true, says: all(slow), want: "4 of 4 1s 2s 4s; quota -15; Throttling; used up",
		},
		"hint below the delay in v2.0": {says: all(hint("10")), config: v20, want: "3 of 3 1s 2s; quota -10; used up"},
		"hint in v2.0":                 {says: all(hint("8000")), config: v20, want: "3 of 3 8s 8s; quota -10; used up"},
		"hint beyond the longest delay in v2.0": {
			says: all(hint("90000")), config: v20, want: "3 of 3 20s 20s; quota -10; used up",
		},
		"hint of more than 64 bits in v2.0": {
			says: all(hint("9223372036854775808")), config: v20, want: "3 of 3 1s 2s; quota -10; used up",
		},
		"hint":                   {standard: true, says: all(hint("3000")), want: "4 of 4 3s 3s 3s; quota -42; used up"},
		"hint beyond the window": {says: all(hint("60000")), want: "4 of 4 5.025s 5.05s 5.1s; quota -42; used up"},
		"hint that is no number": {says: all(hint("soon")), want: "4 of 4 25ms 50ms 100ms; quota -42; used up"},
		"hints above MaxHint": {
			says: all(hint("25000"), hint("60000"), ok), config: halfMinute, want: "3 of 4 25s 30s; quota -14",
		},
		"hint above MaxHint in v2.0": {says: all(hint("60000"), ok), config: old(halfMinute), want: "2 of 3 30s"},

		// The deadline leaves room for the backoff and not for the hint, which the loop of the SDK would add.
		"hint after the deadline": {
			says: all(fail(429, "Throttling", "X-Amz-Retry-After", "4000"), ok), call: invoke, ends: deadlineAt(3 * time.Second),
			want: "2 of 3 2s; 1 throttled",
		},
		"Retry-After after the deadline": {
			says: all(fail(429, "Throttling", "Retry-After", "4"), ok), call: invoke, ends: deadlineAt(3 * time.Second),
			want: "2 of 3 2s; 1 throttled",
		},

		"long poll without quota":   {config: empty, call: receive, want: "1 of 3 until 50ms; no quota"},
		"older long poll, no quota": {config: empty, call: receiveUntold, want: "1 of 3 until 50ms; no quota"},
		"long poll with a hint, without quota": {
			says: all(hint("2000")), config: empty, call: receive, want: "1 of 3 until 2s; no quota",
		},
		"older long poll with a hint, no quota": {
			says: all(hint("2000")), config: empty, call: receiveUntold, want: "1 of 3 until 2s; no quota",
		},
		"long poll without quota in v2.0": {config: old(empty), call: receive, want: "1 of 3; no quota"},
		"no long poll, without quota":     {config: empty, call: send, want: "1 of 3; no quota"},
		"long poll of the program without quota": {
			config: empty, opts: marked, call: send, want: "1 of 3 until 50ms; no quota",
		},
		"long poll without quota, canceled": {
			config: empty, call: receive, ends: canceledAt(20 * ms), want: "1 of 3 until 20ms; no quota",
		},
		"older long poll, no quota, canceled": {
			config: empty, call: receiveUntold, ends: canceledAt(20 * ms), want: "1 of 3 until 20ms; no quota",
		},

		"backoff after the deadline": {config: patient, ends: deadlineAt(150 * ms), want: "1 of 4; deadline"},
		"send wait after the deadline": {
			says: all(slow), config: atOnce, ends: deadlineAt(150 * ms), want: "1 of 4; 1 throttled; Throttling; deadline",
		},
		"no limit of the time":                 {config: elapsed(0), want: "3 of 3 1s 2s; quota -28; used up"},
		"limit of the time in the first delay": {config: elapsed(time.Second - 1), want: "1 of 3; elapsed"},
		"limit of the time in the second delay": {
			config: elapsed(3*time.Second - 1),
			want:   "2 of 3 1s; quota -14; elapsed",
		},
		"limit of the time at the end of a delay": {
			config: elapsed(3 * time.Second),
			want:   "3 of 3 1s 2s; quota -28; used up",
		},
		"canceled in the backoff": {
			standard: true, says: all(slow), ends: canceledAt(300 * ms), want: "1 of 4 until 300ms; Throttling; canceled",
		},
		"canceled in the send wait": {
			says: all(slow), config: atOnce, ends: canceledAt(300 * ms),
			want: "1 of 4 until 300ms; 1 throttled; Throttling; canceled",
		},
		"an error that says that it was canceled": {says: all(ok), call: inStack(failInside(func() error {
			return canceledError{&smithy.GenericAPIError{Code: "ThrottlingException"}}
		})), want: "0; told of 1; Throttling"},
		"clock of the service is ahead": {
			says: all(fail(403, "InvalidSignatureException", "Date", ahead), say(200, "{}", "Date", ahead)),
			want: "2 of 4 25ms",
		},
		"clocks agree": {says: all(fail(403, "InvalidSignatureException")), want: "1 of 4; InvalidSignature"},

		"timeout": {
			says: all(hangs), opts: timed(growing, 3),
			want: "3 of 3 2.025s 4.05s until 8s; quota -28; used up; timed out after 8s",
		},
		"answers in time": {
			says: all(after(1999*ms, broken), after(2001*ms, ok)), opts: timed(growing, 3),
			want: "2 of 3 2.024s until 2.001s",
		},
		"deadline before the timeout": {
			says: all(hangs), opts: timed(growing, 3), ends: deadlineAt(time.Second), want: "1 of 3 until 1s; canceled",
		},
		"canceled before the timeout": {
			says: all(hangs), opts: timed(growing, 3), ends: canceledAt(time.Second), want: "1 of 3 until 1s; canceled",
		},
		"timeout of a body that cannot be sent again": {
			says: all(hangs), opts: timed(growing, 3), call: putOnce, want: "1 of 3 until 2s; timed out after 2s",
		},
		"timeout of a body of 4 MiB": {
			says: all(hangs), opts: timed(retry.FixedTimeout{First: time.Second}, 2), call: putLarge,
			want: "2 of 2 33.05s until 33s; quota -14; used up; timed out after 33s",
		},
		"timeout that long polls have not": {
			says: all(after(poll, ok)), opts: timed(growing, 2), call: receive, want: "1 of 2 until 20s",
		},
		"timeout of long polls": {
			says: all(after(2*poll, ok)), opts: timed(choose, 2), call: receive,
			want: "2 of 2 21.05s until 21s; quota -14; used up; timed out after 21s",
		},
		"timeout of other operations": {
			says: all(after(time.Hour, ok)), opts: timed(choose, 2), want: "1 of 2 until 1h0m0s",
		},
		"timeout of no function": {
			says: all(after(time.Hour, ok)), opts: timed(retry.TimeoutFunc(nil), 2), want: "1 of 2 until 1h0m0s",
		},

		"code of STS": {says: all(stsError("IDPCommunicationError"), whoIs), call: whoAmI, want: "2 of 3 50ms"},
		"code of STS until the end": {
			says: all(stsError("IDPCommunicationError")), call: whoAmI,
			want: "3 of 3 50ms 100ms; quota -28; IDPCommunicationError; used up",
		},
		"throttle of STS": {says: all(stsError("Throttling"), whoIs), call: whoAmI, want: "2 of 3 2s; 1 throttled"},
		"other code of STS": {
			says: all(stsError("InvalidIdentityToken"), whoIs), call: whoAmI, want: "1 of 3; InvalidIdentityToken",
		},
		"waiter": {
			says: all(fail(400, "ResourceNotFoundException"), broken, say(200, `{"Table":{"TableStatus":"ACTIVE"}}`)),
			call: func(ctx context.Context, cfg aws.Config) error {
				return dynamodb.NewTableExistsWaiter(dynamodb.NewFromConfig(cfg)).
					Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("orders")}, time.Minute)
			},
			want: "3 of 4 20s 25ms",
		},
	}
}

func scenariosAround() map[string]scenario {
	ok, slow := succeeds, fail(400, "Throttling")
	in := func(r func(aws.RetryerV2) aws.RetryerV2) func(aws.Retryer) aws.Retryer {
		return func(inner aws.Retryer) aws.Retryer { return r(v2(inner)) }
	}
	granting := func(r aws.RetryerV2) aws.RetryerV2 { return grants{r} }
	grantingAll := func(r aws.RetryerV2) aws.RetryerV2 { return grants{deaf(r)} }
	askingAll := func(r aws.RetryerV2) aws.RetryerV2 { return grants{overruling(r)} }
	tooLate := []awssdk.Option{withOperation(func(op *retry.Operation) { op.NotAfter = time.Unix(1, 0) })}
	soon := deadlineAt(5 * time.Second)
	capped := func(r aws.RetryerV2) aws.RetryerV2 { return bounds{r, 0, time.Second} }
	most := func(r func(aws.RetryerV2) aws.RetryerV2, n int) func(aws.Retryer) aws.Retryer {
		return func(inner aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(r(v2(inner)), n) }
	}
	return map[string]scenario{
		"grants": {opts: withAttempts(4), wrap: in(granting), want: "4 of 4 25ms 50ms 100ms; quota -42; used up"},
		"wants and grants": {
			random: true, opts: withAttempts(4), wrap: in(grantingAll), want: "4 of 4; used up after 1",
		},
		"asks, wants and grants": {
			opts: withAttempts(4), wrap: in(askingAll), want: "4 of 4 25ms 50ms 100ms; quota -42; used up",
		},
		"grants with its own delay": {opts: withAttempts(4), wrap: func(r aws.Retryer) aws.Retryer {
			return sdkretry.AddWithMaxBackoffDelay(grants{v2(r)}, time.Second)
		}, want: "4 of 4 1s 1s 1s until 1s; quota -42; used up"},
		"grants without quota": {random: true, config: empty, wrap: in(granting), want: "4 of 4; used up after 1"},
		"grants what we do not retry": {
			random: true, says: all(odd), wrap: in(grantingAll), want: "4 of 4; Odd; used up after 1",
		},
		"grants it with the older interface": {
			random: true, says: all(odd), wrap: func(r aws.Retryer) aws.Retryer { return older{grantingAll(v2(r))} },
			want: "4 of 4; Odd; used up after 1",
		},
		"grants it twice": {
			random: true, says: all(odd), wrap: most(grantingAll, 2), want: "2 of 2; Odd; used up after 1",
		},
		"retries all": {
			says: all(odd), wrap: most(deaf, 5), want: "5 of 5 25ms 50ms 100ms 200ms; quota -56; Odd; used up",
		},
		"asks and retries all": {
			says: all(odd), wrap: most(overruling, 5), want: "5 of 5 25ms 50ms 100ms 200ms; quota -56; Odd; used up",
		},
		"retries all until MaxElapsed": {
			says: all(odd), config: short, wrap: most(deaf, 5), want: "4 of 5 25ms 50ms 100ms; quota -42; Odd; elapsed",
		},
		"asks and retries all until MaxElapsed": {
			says: all(odd), config: short, wrap: most(overruling, 5),
			want: "4 of 5 25ms 50ms 100ms; quota -42; Odd; elapsed",
		},
		"vetoes": {
			says: all(slow), wrap: in(func(r aws.RetryerV2) aws.RetryerV2 { return veto{r, false} }),
			want: "1 of 4; 1 throttled; Throttling",
		},
		"asks and vetoes": {
			says: all(slow), wrap: in(func(r aws.RetryerV2) aws.RetryerV2 { return veto{r, true} }),
			want: "1 of 4; 1 throttled; Throttling",
		},
		"the older interface": {
			says: all(slow, ok), wrap: func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(older{r}, 3) },
			want: "2 of 3 2s; 1 throttled",
		},
		"the older interface, too late": {says: all(ok), opts: tooLate, wrap: old, want: "0; elapsed"},
		"the older interface, no send token": {
			noWait: true, says: all(slow), config: atOnce, wrap: old,
			want: "1 of 4 until 1ns; 1 throttled; Throttling; held back",
		},
		"retries all, no send token": {
			noWait: true, says: all(slow), config: atOnce, wrap: func(r aws.Retryer) aws.Retryer { return older{deaf(v2(r))} },
			want: "1 of 4 until 1ns; 1 throttled; Throttling; held back",
		},
		"delays of 1 s at most": {
			says: all(broken, broken, ok), config: patient, ends: soon, wrap: in(capped), want: "3 of 4 1s 1s; quota -14",
		},
		"the same around one that retries all": {
			says: all(broken, broken, ok), config: patient, ends: soon, wrap: in(func(r aws.RetryerV2) aws.RetryerV2 { return capped(deaf(r)) }),
			want: "3 of 4 1s 1s; quota -14",
		},
		"the same around ours exchanged": {
			says: all(broken, broken, ok), opts: set(4), config: patient, ends: soon, wrap: in(func(r aws.RetryerV2) aws.RetryerV2 { return &exchanges{inner: r} }),
			want: "3 of 4 1s 1s; quota -14",
		},
		"delays as they are": {
			says: all(broken, broken, ok), config: patient, ends: soon, wrap: func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithErrorCodes(r, "X") },
			want: "1 of 4; deadline",
		},
		"delays of 1 ns at most": {says: all(broken, broken, ok), config: patient, ends: soon, wrap: func(r aws.Retryer) aws.Retryer {
			return sdkretry.AddWithMaxAttempts(sdkretry.AddWithMaxBackoffDelay(r, time.Nanosecond), 5)
		}, want: "3 of 5 1ns 1ns; quota -14"},
	}
}
