package classify

import "net"

// Transport returns the classifier of failures without an answer: timeouts, and
// connections that were refused, reset, cut or given up by the server, and name
// servers that give no answer of use. What the
// caller ended itself, by cancelling or by its own deadline, is left alone, and so
// are a host that does not exist and a server whose certificate is not trusted. A
// throttle stays a throttle, whatever happened to the connection. Its name is
// "transport".
func Transport() Classifier { return &transportClassifier{} }

type transportClassifier struct{}

func (*transportClassifier) Name() string       { return "transport" }
func (*transportClassifier) Priority() Priority { return TransportPriority() }

func (c *transportClassifier) Classify(o Outcome) Verdict {
	var f facts
	f.read(o.Err)
	return c.judge(&o, &f)
}

func (*transportClassifier) judge(o *Outcome, f *facts) Verdict {
	switch {
	case o.Previous.kind == Throttling || f.has(endedByCaller|untrusted):
		return None()
	case f.lookup != nil:
		return ofLookup(f.lookup)
	case f.has(timedOut):
		return RetryAs(Timeout)
	case f.has(disconnected) || f.mayBeLost() && isLostConnection(o.Err):
		return RetryAs(Transient)
	default:
		return None()
	}
}

// mayBeLost keeps answers of a service, and errors that speak, from being asked for
// their texts.
func (f *facts) mayBeLost() bool { return f.has(silent) && f.code == "" && f.status < 300 }

func ofLookup(lookup *net.DNSError) Verdict {
	switch {
	case lookup.IsNotFound:
		return None()
	case lookup.IsTimeout:
		return RetryAs(Timeout)
	default: // also what net does not call temporary: REFUSED, FORMERR, NOTIMP, a malformed answer
		return RetryAs(Transient)
	}
}
