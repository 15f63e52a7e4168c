package classify

import "slices"

// Status returns the classifier of HTTP status codes: the given ones are
// transient, but 429 is a throttle. Without any, they are 429, 500, 502, 503 and
// 504. Its name is "http-status".
func Status(codes ...int) Classifier { return &statusClassifier{slices.Clone(codes)} }

type statusClassifier struct{ codes []int }

func (*statusClassifier) Name() string       { return "http-status" }
func (*statusClassifier) Priority() Priority { return StatusPriority() }

func (c *statusClassifier) Classify(o Outcome) Verdict {
	var f facts
	f.read(o.Err)
	return c.judge(&o, &f)
}

func (c *statusClassifier) judge(o *Outcome, f *facts) Verdict {
	switch {
	case !c.lists(f.status):
		return None()
	case f.status == 429:
		return RetryAs(Throttling)
	default:
		return o.retryAs(Transient)
	}
}

func (c *statusClassifier) lists(status int) bool {
	if len(c.codes) > 0 {
		return slices.Contains(c.codes, status)
	}
	switch status {
	case 429, 500, 502, 503, 504:
		return true
	default:
		return false
	}
}
