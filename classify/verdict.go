package classify

import (
	"log/slog"
	"strings"
	"time"
)

// Kind is what sort of failure is to be retried. Costs and delays depend on it.
type Kind uint8

// The kinds. KindNone is the kind of a verdict that is not a retry.
const (
	KindNone Kind = iota
	// Throttling: the service refused because it gets too many requests.
	Throttling
	// Transient: the service or the connection failed for a moment.
	Transient
	// Timeout: the client gave up waiting to connect, or for an answer.
	Timeout
	// Server: the fault lies with the service; nothing more is known.
	Server
	// Client: the fault lies with the request, and it may be sent again all the
	// same.
	Client
	// ClockSkew: the signature was refused because the client's clock is off.
	ClockSkew
)

// String returns the kind's name in lower case, such as "clock_skew".
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

// Action is what a verdict asks for.
type Action uint8

// The actions.
const (
	// NoOpinion leaves an earlier verdict as it is. If nobody has an opinion
	// there is no retry.
	NoOpinion Action = iota
	// Retry asks for a retry, as far as attempts and quota allow.
	Retry
	// Forbid refuses a retry, whatever anybody else says.
	Forbid
)

// String returns the action's name in lower case, such as "retry".
func (a Action) String() string {
	switch a {
	case NoOpinion:
		return "none"
	case Retry:
		return "retry"
	case Forbid:
		return "forbid"
	default:
		return "unknown"
	}
}

// Verdict is what a classifier says of a failure. The zero value is no opinion.
type Verdict struct {
	action Action
	kind   Kind
	hinted bool
	hint   time.Duration
}

// None is the verdict of a classifier without an opinion.
func None() Verdict { return Verdict{} }

// RetryAs asks for a retry of a failure of the given kind.
func RetryAs(kind Kind) Verdict { return Verdict{action: Retry, kind: kind} }

// RetryAfter asks for a retry of a failure of the given kind, and not before the
// server's hint is over: RetryAs(kind).WithHint(after).
func RetryAfter(kind Kind, after time.Duration) Verdict { return RetryAs(kind).WithHint(after) }

// Forbidden refuses a retry and ends the classification.
func Forbidden() Verdict { return Verdict{action: Forbid} }

// WithHint returns the verdict with the time for which the server asked to wait
// before the next attempt. A negative one is no hint, and only a retry has one.
func (v Verdict) WithHint(after time.Duration) Verdict {
	if v.action == Retry && after >= 0 {
		v.hinted, v.hint = true, after
	}
	return v
}

// Action reports what the verdict asks for.
func (v Verdict) Action() Action { return v.action }

// Kind reports the kind of the failure; KindNone if there is to be no retry.
func (v Verdict) Kind() Kind { return v.kind }

// Hint reports how long the server asked to wait, if it did.
func (v Verdict) Hint() (after time.Duration, ok bool) { return v.hint, v.hinted }

// String returns the action and, for a retry, the kind, such as
// "retry(throttling)".
func (v Verdict) String() string {
	if v.action != Retry {
		return v.action.String()
	}
	return "retry(" + v.kind.String() + ")"
}

// JudgedError is an error with a verdict that whoever made it already knows, such
// as the policy of a call. The verdict counts where the JudgedError itself is
// judged, not where it is wrapped: what was decided for an inner call does not
// decide an outer one.
type JudgedError struct {
	// Verdict is what to do with the error.
	Verdict Verdict
	// Err is the error itself; nil if a value was judged.
	Err error
}

// Error returns the text of the error, or says what the verdict is.
func (e *JudgedError) Error() string {
	if e.Err == nil {
		return "classify: judged " + e.Verdict.String()
	}
	return e.Err.Error()
}

// Unwrap returns the error itself.
func (e *JudgedError) Unwrap() error { return e.Err }

// Judgement returns the verdict of an error that is a JudgedError, with the hint of
// the error in it where the verdict is a retry without one. It reports false for
// any other error.
func Judgement(err error) (Verdict, bool) {
	judged, ok := err.(*JudgedError) //nolint:errorlint // only what is judged here
	if !ok {
		return Verdict{}, false
	}
	var f facts
	f.read(judged.Err)
	return f.hint(judged.Verdict), true
}

// Step is what one classifier said.
type Step struct {
	// Classifier is the name of the classifier, or "judged" for the verdict of a
	// JudgedError.
	Classifier string
	// Verdict is what it said, without what is made of it.
	Verdict Verdict
}

// String returns the step in the form "http-status: retry(transient)".
func (s Step) String() string { return s.Classifier + ": " + s.Verdict.String() }

// Trail is what the classifiers of a chain said, in the order in which they were
// asked. Those after one that forbade the retry were not asked and are not in it.
type Trail []Step

// String returns the steps with a semicolon in between.
func (t Trail) String() string {
	steps := make([]string, len(t))
	for i, s := range t {
		steps[i] = s.String()
	}
	return strings.Join(steps, "; ")
}

// LogValue returns the text of the trail, so that it can be an attribute of a log
// record.
func (t Trail) LogValue() slog.Value { return slog.StringValue(t.String()) }

func (t *Trail) add(name string, v Verdict) {
	if t != nil {
		*t = append(*t, Step{name, v})
	}
}

// Explain is Classify with the decision trail. Only this allocates.
func (c *Chain) Explain(o Outcome) (Verdict, Trail) {
	var trail Trail
	verdict := judge(nil, c.list(), nil, o, &trail)
	return verdict, trail
}
