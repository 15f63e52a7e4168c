package classify_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// serviceError is the answer of a service. Its methods tell the classifiers what it is.
type serviceError struct {
	status int
	code   string
	after  string // of the header x-amz-retry-after
}

func (e *serviceError) Error() string       { return fmt.Sprintf("status %d %s", e.status, e.code) }
func (e *serviceError) HTTPStatusCode() int { return e.status }
func (e *serviceError) ErrorCode() string   { return e.code }

func (e *serviceError) RetryAfter() (time.Duration, bool) {
	return classify.ParseRetryAfterMillis(e.after)
}

// onlyReads forbids to send again what timed out, unless it only reads.
type onlyReads struct{}

func (onlyReads) Name() string { return "only-reads" }

func (onlyReads) Classify(o classify.Outcome) classify.Verdict {
	if o.Previous.Kind() == classify.Timeout && !strings.HasPrefix(o.Operation, "Get") {
		return classify.Forbidden()
	}
	return classify.Verdict{}
}

// lateError says that the attempt timed out.
type lateError struct{}

func (lateError) Error() string { return "late" }
func (lateError) Timeout() bool { return true }

func ExampleDefault() {
	chain := classify.Default()
	for _, err := range []error{
		&serviceError{status: 503},
		&serviceError{status: 400, code: "ThrottlingException", after: "1500"},
		&serviceError{status: 404, code: "NoSuchKey"},
		fmt.Errorf("get object: %w", lateError{}),
		context.Canceled,
	} {
		verdict := chain.Classify(classify.Outcome{Err: err})
		after, hinted := verdict.Hint()
		fmt.Println(verdict.Retryable(), verdict.Kind(), after, hinted)
	}
	// Output:
	// true transient 0s false
	// true throttling 1.5s true
	// false none 0s false
	// true timeout 0s false
	// false none 0s false
}

func ExampleChain_Explain() {
	err := &serviceError{status: 503, code: "SlowDown"}
	verdict, trail := classify.Default().Explain(classify.Outcome{Err: err})
	fmt.Println(verdict)
	for _, step := range trail {
		fmt.Println(" ", step)
	}
	// Output:
	// retry(throttling)
	//   http-status: retry(transient)
	//   aws-code: retry(throttling)
	//   clock-skew: none
	//   modeled: none
	//   transport: none
	//   protocol: none
	//   traits: none
}

func ExampleChain_InsertBefore() {
	// The classifier sees what ran before it, and "traits" may still override it.
	chain, err := classify.Default().InsertBefore("traits", onlyReads{})
	for _, operation := range []string{"GetItem", "PutItem"} {
		fmt.Println(operation, chain.Classify(classify.Outcome{Err: lateError{}, Operation: operation}), err)
	}
	_, err = classify.Default().InsertBefore("trait", onlyReads{})
	fmt.Println(err)
	// Output:
	// GetItem retry(timeout) <nil>
	// PutItem forbid <nil>
	// classify: the chain has no classifier of this name: "trait", only ["http-status" "aws-code" "clock-skew" "modeled" "transport" "protocol" "traits"]
}

func ExampleChain_Without() {
	chain, err := classify.Default().Without("http-status", "modeled")
	fmt.Println(chain.Classify(classify.Outcome{Err: &serviceError{status: 503}}), err)
	fmt.Println(chain.Classify(classify.Outcome{Err: &serviceError{status: 503, code: "SlowDown"}}))
	// Output:
	// none <nil>
	// retry(throttling)
}

func ExampleNewChain() {
	chain := classify.NewChain(classify.Status(), onlyReads{})
	fmt.Println(chain.Classify(classify.Outcome{Err: &serviceError{status: 503}}))
	fmt.Println(chain.Classify(classify.Outcome{Err: lateError{}}), "as the chain has no classifier for timeouts")

	more := classify.NewChain(classify.Default(), onlyReads{})
	fmt.Println(more.Classify(classify.Outcome{Err: lateError{}, Operation: "PutItem"}))
	// Output:
	// retry(transient)
	// none as the chain has no classifier for timeouts
	// forbid
}

// Also adds to the classifier of the strategy, where any other classifier of an
// operation replaces it.
func ExampleAlso() {
	strategy := classify.Default() // standard.Config.Classifier
	busy := classify.Code(classify.Codes{"Busy": classify.Throttling})
	for _, operation := range []classify.Classifier{nil, busy, classify.Also(busy)} { // retry.Operation.Classifier
		for _, err := range []error{&serviceError{status: 400, code: "Busy"}, &serviceError{status: 503}} {
			fmt.Println(classify.Outcome{Err: err}.Judge(strategy, operation))
		}
	}
	// Output:
	// none
	// retry(transient)
	// retry(throttling)
	// none
	// retry(throttling)
	// retry(transient)
}

func ExampleCode() {
	chain, err := classify.Default().Replace("aws-code", classify.Code(classify.Codes{
		"Busy":     classify.Throttling, // added
		"SlowDown": classify.KindNone,   // taken away
	}))
	for _, code := range []string{"Busy", "com.example#Busy:http://example.com/", "SlowDown", "ThrottlingException"} {
		fmt.Println(chain.Classify(classify.Outcome{Err: &serviceError{status: 400, code: code}}), err)
	}
	// Output:
	// retry(throttling) <nil>
	// retry(throttling) <nil>
	// none <nil>
	// retry(throttling) <nil>
}

func ExampleStatus() {
	for _, classifier := range []classify.Classifier{classify.Status(), classify.Status(409, 429)} {
		for _, status := range []int{409, 429, 503} {
			fmt.Println(status, classifier.Classify(classify.Outcome{Err: &serviceError{status: status}}))
		}
	}
	// Output:
	// 409 none
	// 429 retry(throttling)
	// 503 retry(transient)
	// 409 retry(transient)
	// 429 retry(throttling)
	// 503 none
}

// refusedError is a refused signature of a client whose clock is behind.
type refusedError struct{ serviceError }

func (*refusedError) ClockSkew() (used, observed time.Duration, ok bool) {
	return 0, 10 * time.Minute, true
}

func ExampleSkew() {
	refused := &refusedError{serviceError{status: 403, code: "RequestExpired"}}
	fmt.Println(classify.Default().Classify(classify.Outcome{Err: refused}))
	chain, err := classify.Default().Replace("clock-skew", classify.Skew("RequestExpired"))
	fmt.Println(chain.Classify(classify.Outcome{Err: refused}), err)
	// Output:
	// none
	// retry(clock_skew) <nil>
}

// brokenStreamError does not know whether the request was executed.
type brokenStreamError struct{ lateError }

func (brokenStreamError) RetrySafe() (safe, known bool) { return false, false }

func ExampleTraits() {
	fmt.Println(classify.Default().Classify(classify.Outcome{Err: brokenStreamError{}}))
	chain, err := classify.Default().Replace("traits", classify.Traits(true))
	fmt.Println(chain.Classify(classify.Outcome{Err: brokenStreamError{}}), err)
	// Output:
	// forbid
	// retry(timeout) <nil>
}

func ExampleAWSCompatible() {
	outcome := classify.Outcome{Err: &serviceError{status: 400, code: "SlowDownWrite"}}
	fmt.Println(classify.Default().Classify(outcome))
	fmt.Println(classify.AWSCompatible().Classify(outcome))
	// Output:
	// none
	// retry(throttling)
}

func ExampleJudgedError() {
	judged := &classify.JudgedError{
		Verdict: classify.RetryAs(classify.Client),
		Err:     &serviceError{status: 404, code: "NoSuchBucket"},
		Reason:  errors.New("a new bucket takes some time to be there"),
	}
	err := fmt.Errorf("head bucket: %w", judged)
	fmt.Println(err)
	fmt.Println(classify.Default().Classify(classify.Outcome{Err: err}))
	// Output:
	// head bucket: status 404 NoSuchBucket
	// retry(client)
}

// noSuchHost retries a host that name servers do not know, but not for long.
type noSuchHost struct{}

func (noSuchHost) Name() string { return "no-such-host" }

func (noSuchHost) Classify(o classify.Outcome) classify.Verdict {
	if lookup, ok := errors.AsType[*net.DNSError](o.Err); ok && lookup.IsNotFound {
		return classify.RetryAs(classify.Transient).AtMost(10)
	}
	return classify.Verdict{}
}

// An operation has 25 attempts, and 10 of them for a host that does not exist.
func ExampleVerdict_AtMost() {
	strategy, err := standard.New(standard.Config{
		MaxAttempts: 25,
		Classifier:  classify.Also(noSuchHost{}),
		Random:      func() float64 { return 0 }, // no delay, so that the example does not wait
	})
	if err != nil {
		panic(err)
	}
	for _, failure := range []error{&net.DNSError{Err: "no such host", Name: "s3.test", IsNotFound: true}, lateError{}} {
		err := retry.DoErr(context.Background(), strategy, retry.Operation{}, func(context.Context) error { return failure })
		if refusal, ok := errors.AsType[*retry.Error](err); ok {
			fmt.Println(refusal.Attempts, "of", refusal.MaxAttempts, "-", refusal.Last)
		}
	}
	// Output:
	// 10 of 10 - lookup s3.test: no such host
	// 25 of 25 - late
}

func ExampleCandidateSkew() {
	sent := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) // on the clock of the client
	received := sent.Add(2 * time.Second)
	date := sent.Add(10 * time.Minute) // of the server
	skew, ok := classify.CandidateSkew(sent, received, date, false)
	fmt.Println(skew, ok)
	// Output:
	// 9m59s true
}

// hotKeyError is a throttle that says what it is about.
type hotKeyError struct{ serviceError }

func (e *hotKeyError) ThrottledBy() []classify.Reason {
	const word = "TableReadKeyRangeThroughputExceeded"
	return []classify.Reason{{Reach: classify.ReachOf(word), Word: word}}
}

func ExampleReason() {
	err := &hotKeyError{serviceError{status: 400, code: "ThrottlingException"}}
	verdict, trail := classify.Default().Explain(classify.Outcome{Err: err})
	fmt.Println(verdict, verdict.Reach() == classify.ReachPart)
	fmt.Println(trail[len(trail)-1])
	// Output:
	// retry(throttling, part) true
	// throttled-by: TableReadKeyRangeThroughputExceeded (part)
}

func ExampleHardQuotas() {
	outcome := classify.Outcome{
		Err: &serviceError{status: 400, code: "LimitExceededException"}, Service: "CloudWatch Logs",
	}
	fmt.Println(classify.Default().Classify(outcome))
	fmt.Println(classify.Also(classify.HardQuotas()).Classify(outcome))
	// Output:
	// retry(throttling, hard quota)
	// forbid
}
