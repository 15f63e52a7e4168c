package classify

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/wire"
)

// Kind is the sort of failure that is retried. The cost and the delay of the retry
// depend on it.
type Kind uint8

// The kinds of failures.
const (
	// KindNone: the verdict does not ask for a retry.
	KindNone Kind = iota
	// Throttling: the service refused the request because it gets too many of them.
	Throttling
	// Transient: the service or the connection failed for a moment.
	Transient
	// Timeout: the client gave up waiting for a connection or for an answer.
	Timeout
	// Server: the fault lies with the service, and nothing more is known.
	Server
	// Client: the fault lies with the request, which may be sent again anyway.
	Client
	// ClockSkew: the service refused the signature because the clock of the client is
	// off.
	ClockSkew
)

// String returns the name of the kind in lower case, such as "clock_skew"; "unknown" for any
// other value.
func (k Kind) String() string {
	switch k {
	case KindNone:
		return "none"
	case Throttling:
		return "throttling"
	case Transient:
		return "transient"
	case Timeout:
		return "timeout"
	case Server:
		return "server"
	case Client:
		return "client"
	case ClockSkew:
		return "clock_skew"
	default:
		return "unknown"
	}
}

// action is what a verdict asks for.
type action uint8

const (
	actionNone action = iota
	actionRetry
	actionForbid
)

// Verdict is what a [Classifier] says of a failure: a retry, no retry at all, or nothing.
// The zero value is no opinion: it leaves an earlier verdict unchanged, and a failure on
// which no classifier has an opinion is not retried. Verdicts are comparable with ==.
type Verdict struct {
	action action
	kind   Kind
	flags  flags
	reach  Reach
	atMost int32 // or 0
	hint   time.Duration
}

// flags are what else a verdict says.
type flags uint8

const (
	withHint flags = 1 << iota
	hintInFull
	ofHardQuota
	notProcessed
)

// RetryAs returns the verdict that asks for a retry of a failure of this kind, as far as
// attempts and quota allow one. For [KindNone] the verdict is no opinion.
func RetryAs(kind Kind) Verdict {
	if kind == KindNone {
		return Verdict{}
	}
	return Verdict{action: actionRetry, kind: kind}
}

// Forbidden returns the verdict that refuses a retry, whatever other classifiers say.
func Forbidden() Verdict { return Verdict{action: actionForbid} }

// WithHint returns the verdict with a hint: how long the server asked to wait before the
// next attempt. Zero is a hint too. If after is negative or the verdict does not ask for a
// retry, WithHint returns the verdict unchanged.
func (v Verdict) WithHint(after time.Duration) Verdict {
	if v.action == actionRetry && after >= 0 {
		v.flags, v.hint = v.flags&^hintInFull|withHint, after
	}
	return v
}

// AtMost returns the verdict with a limit for failures of this sort: after such a failure
// an operation gets no further attempt if it has already made that many, the first
// included, however the others failed. The limits of the strategy and of the operation
// still apply. The smaller of two numbers counts, so a classifier may return
// o.Previous.AtMost(n) for what earlier classifiers have judged. If attempts is zero or
// negative or the verdict does not ask for a retry, AtMost returns the verdict unchanged.
func (v Verdict) AtMost(attempts int) Verdict {
	if v.action == actionRetry && attempts > 0 && (v.atMost == 0 || attempts < int(v.atMost)) {
		v.atMost = int32(min(attempts, math.MaxInt32))
	}
	return v
}

// Retryable reports whether the verdict asks for a retry.
func (v Verdict) Retryable() bool { return v.action == actionRetry }

// Forbids reports whether the verdict refuses a retry, see [Forbidden].
func (v Verdict) Forbids() bool { return v.action == actionForbid }

// word returns what the verdict asks for: "retry", "forbid", or "none" for no
// opinion.
func (v Verdict) word() string {
	switch v.action {
	case actionNone:
		return "none"
	case actionRetry:
		return "retry"
	case actionForbid:
		return "forbid"
	default:
		return "unknown"
	}
}

// Kind returns the kind of the failure; KindNone if the verdict does not ask for a retry.
func (v Verdict) Kind() Kind { return v.kind }

// Hint returns how long the server asked to wait. It reports false if the server did not
// say.
func (v Verdict) Hint() (after time.Duration, ok bool) { return v.hint, v.flags&withHint != 0 }

// HintInFull reports whether an attempt before the end of the wait of [Verdict.Hint] is of no use, as with the
// header Retry-After of HTTP and the RetryInfo of gRPC: strategies then wait for all of it, or give up. The method
// RetryAfterInFull of an error says so.
func (v Verdict) HintInFull() bool { return v.flags&hintInFull != 0 }

// Reach returns how much a throttle covers, as far as its reasons say: [ReachPart] if all of them
// cover a part of the scope, else the widest of the others. It is [ReachUnknown] for a failure that
// is no throttle.
func (v Verdict) Reach() Reach { return v.reach }

// HardQuota reports whether a failure that is retried as a throttle is about an account quota that
// is not a rate, see [HardQuotas]. Such a failure cuts no send rate.
func (v Verdict) HardQuota() bool { return v.flags&ofHardQuota != 0 }

// MaxAttempts returns the number of [Verdict.AtMost]; 0 if there is no such limit.
func (v Verdict) MaxAttempts() int { return int(v.atMost) }

// String returns the action and, for a retry, the kind, what is known of a throttle, the number of AtMost,
// and a hint that counts in full, such as "retry(throttling, part)", "retry(transient, at most 10)" or
// "retry(throttling, not before 30s)".
func (v Verdict) String() string {
	if v.action != actionRetry {
		return v.word()
	}
	text := "retry(" + v.kind.String()
	if v.reach != ReachUnknown {
		text += ", " + v.reach.String()
	}
	if v.HardQuota() {
		text += ", hard quota"
	}
	if v.atMost > 0 {
		text += ", at most " + strconv.Itoa(int(v.atMost))
	}
	if v.HintInFull() {
		text += ", not before " + v.hint.String()
	}
	return text + ")"
}

// Outcome is the failure of one attempt.
type Outcome struct {
	// Err is the error of the attempt. Without one there is nothing to judge, and the
	// verdict is Previous.
	Err error
	// Service is the id of the service as SDKs and models spell it, such as "DynamoDB" or
	// "Auto Scaling"; empty if it is not known. Upper and lower case, spaces, dashes and
	// underscores do not matter, so "auto-scaling" is the same service. The name in the
	// service's URL may differ: "ds-data" is not known, but "Directory Service Data" is.
	Service string
	// Operation is the name of the operation, such as "GetItem"; empty if it is not
	// known.
	Operation string
	// Attempt is the number of the attempt, from 1; 0 if it is not known.
	Attempt int
	// CallerGone is true if the context of the operation has ended. A bare
	// context.DeadlineExceeded in Err is then that end, which is final. If CallerGone is
	// false, or that context is not known, it is a [Timeout]: an inner limit has passed, such
	// as that of an HTTP client. context.Canceled is final either way.
	CallerGone bool
	// Previous is the verdict of the classifiers that ran before.
	Previous Verdict
}

// Judge returns the verdict on the failure, given the classifiers of the strategy and of
// the operation:
//
//   - an error that carries its own verdict is not classified, see [JudgedError];
//   - if the operation's classifier is nil, the strategy's decides;
//   - classifiers from [Also] run after the strategy's, as one chain;
//   - any other classifier of the operation replaces the strategy's.
//
// A nil classifier of the strategy has no opinion, so Judge(nil, nil) returns the verdict
// that the error carries, or no opinion. Like a [Chain], Judge adds the hint of the error
// to a retry without one. It allocates nothing.
func (o Outcome) Judge(strategy, operation Classifier) Verdict {
	var more *Chain
	switch operation := operation.(type) {
	case nil:
	case *also:
		more = operation.own
	default:
		strategy = operation
	}
	switch strategy := strategy.(type) {
	case nil:
		return judge(nil, more, &o, nil)
	case *Chain:
		return judge(strategy, more, &o, nil)
	case *also:
		return judge(strategy.alone, more, &o, nil)
	default:
		one := [...]Classifier{strategy}
		return judge(&Chain{classifiers: one[:]}, more, &o, nil)
	}
}

// retryAs asks for a retry, but a throttle stays a throttle.
func (o *Outcome) retryAs(kind Kind) Verdict {
	if o.Previous.kind == Throttling && kind != Throttling {
		return Verdict{}
	}
	return RetryAs(kind)
}

// Classifier judges failures. It must be safe for concurrent use. It cannot fail: a
// classifier without an opinion returns Verdict{}.
type Classifier interface {
	// Name returns the name of the classifier in a [Chain] and in a [Trail], in lower
	// case with dashes. It is always the same.
	Name() string
	// Classify returns the opinion of the classifier on a failure.
	Classify(o Outcome) Verdict
}

// JudgedError is an error with its own verdict, such as one that a policy has judged.
// [Outcome.Judge] and every [Chain] return this verdict and ask no classifier. If the
// verdict is a retry without a hint, they add the hint of Err.
//
// A JudgedError counts if Unwrap() error leads to it, as from fmt.Errorf with one %w; the
// outermost one counts. It does not count below Unwrap() []error: a decision about one of
// several errors is not one about all of them, and a decision of an inner loop is not one
// of an outer loop.
//
// Do not change the fields once the error is in use.
type JudgedError struct {
	// Verdict is what to do with the error. The zero value means that no classifier asks for a
	// retry.
	Verdict Verdict
	// Err is the error itself; nil if a value without an error was judged.
	Err error
	// Reason says why Verdict forbids a retry; nil if that needs no words. If the classifiers
	// ask for a retry of Err, the strategy refuses it with this reason as Detail of its
	// *retry.Error. Otherwise it has no effect. errors.Is and errors.As do not look at it.
	Reason error
}

// Error returns the text of Err. Without Err it returns the verdict and the reason.
func (e *JudgedError) Error() string {
	switch {
	case e.Err != nil:
		return wire.Text(e.Err)
	case e.Reason != nil:
		return "classify: judged " + e.Verdict.String() + ": " + wire.Text(e.Reason)
	default:
		return "classify: judged " + e.Verdict.String()
	}
}

// Unwrap returns Err.
func (e *JudgedError) Unwrap() error { return e.Err }

// Step is the opinion of one classifier.
type Step struct {
	// Classifier is the name of the classifier, "judged" for the verdict of a [JudgedError],
	// "throttled-by", or "retry-after" for a hint that counts in full.
	Classifier string
	// Verdict is what the classifier said, before the chain adds the error's hint and reach.
	Verdict Verdict
	// ThrottledBy has the reasons of a throttle. Only a last step with the Classifier
	// "throttled-by" has some.
	ThrottledBy []Reason
}

// String returns the step in the form "http-status: retry(transient)" or
// "throttled-by: TableReadKeyRangeThroughputExceeded (part)".
func (s Step) String() string {
	if len(s.ThrottledBy) == 0 {
		return s.Classifier + ": " + s.Verdict.String()
	}
	reasons := make([]string, len(s.ThrottledBy))
	for i, r := range s.ThrottledBy {
		reasons[i] = r.String()
	}
	return s.Classifier + ": " + strings.Join(reasons, ", ")
}

// Trail is what the classifiers of a chain said, in the order in which they ran.
// Classifiers after one that forbids the retry do not run and are not in the trail.
type Trail []Step

// String returns the steps, separated by semicolons.
func (t Trail) String() string {
	steps := make([]string, len(t))
	for i, s := range t {
		steps[i] = s.String()
	}
	return strings.Join(steps, "; ")
}
