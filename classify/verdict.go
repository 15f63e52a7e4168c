package classify

import "time"

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
