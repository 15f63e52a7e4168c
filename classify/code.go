package classify

import (
	"maps"
	"strings"
)

// Codes says of what kind the errors with some codes are. KindNone says that a
// code means nothing, also where it would otherwise.
type Codes map[string]Kind

// Code returns the classifier of AWS error codes. It knows the throttling and the
// transient codes on which the AWS SDKs agree; more adds to them and changes them,
// and of two equal codes the later counts. A throttle by another sign stays one.
// Codes are compared without what the wire formats put around them, the namespace
// of com.amazon#Code and the address of Code:http://..., and otherwise as they are.
// Its name is "aws-code".
func Code(more ...Codes) Classifier {
	c := &codeClassifier{}
	if len(more) > 0 {
		c.more = Codes{}
	}
	for _, codes := range more {
		maps.Copy(c.more, codes)
	}
	return c
}

type codeClassifier struct{ more Codes }

func (*codeClassifier) Name() string       { return "aws-code" }
func (*codeClassifier) Priority() Priority { return CodePriority() }

func (c *codeClassifier) Classify(o Outcome) Verdict {
	var f facts
	f.read(o.Err)
	return c.judge(&o, &f)
}

func (c *codeClassifier) judge(o *Outcome, f *facts) Verdict {
	if f.code == "" {
		return None()
	}
	kind, ok := KindNone, false
	if c.more != nil {
		kind, ok = c.more[f.code]
	}
	if !ok {
		kind = kindOfCode(f.code)
	}
	if kind == KindNone {
		return None()
	}
	return o.retryAs(kind)
}

// BareCode returns an error code without what the wire formats put around it: the
// namespace of com.amazon#Code and the address of Code:http://... . The classifiers
// of this package do that by themselves.
func BareCode(code string) string {
	if end := strings.IndexByte(code, ':'); end >= 0 {
		code = code[:end]
	}
	return code[strings.IndexByte(code, '#')+1:]
}

// kindOfCode holds the codes that the AWS SDKs agree on.
func kindOfCode(code string) Kind {
	switch code {
	case "BandwidthLimitExceeded",
		"EC2ThrottledException",
		"LimitExceededException",
		"PriorRequestNotComplete",
		"ProvisionedThroughputExceededException",
		"RequestLimitExceeded",
		"RequestThrottled",
		"RequestThrottledException",
		"SlowDown",
		"ThrottledException",
		"Throttling",
		"ThrottlingException",
		"TooManyRequestsException",
		"TransactionInProgressException":
		return Throttling
	case "RequestTimeout", "RequestTimeoutException":
		return Transient
	default:
		return KindNone
	}
}
