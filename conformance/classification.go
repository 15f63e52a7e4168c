package conformance

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/vectors"
	"github.com/awsretry/awsretry/retry"
)

// classification plays an operation with each failure and a success after it.
func (r *run) classification(file vectors.Classification) {
	for _, c := range slices.Concat(file.ErrorCodes, file.StatusCodes, file.TransportKinds, file.Combinations, file.SkewDecisions) {
		if a, ok := failureOf(c); ok {
			r.failure(c, a)
		}
	}
}

// failureOf returns the answer of a case. It reports false if a service cannot give it: a failure
// together with a response, an error with status 200, a skew that a date in seconds does not have or
// that the client has from before, or what only the model of a service says.
func failureOf(c vectors.Classified) (a answer, ok bool) {
	g := c.Given
	if g.Transport != "" {
		a.transport, a.last = g.Transport, strings.HasPrefix(g.Transport, "caller_")
		return a, vectors.TransportError(g.Transport) != nil && g.Status == 0 && g.ErrorCode == "" && g.Modeled == ""
	}
	a = answer{status: g.Status, code: g.ErrorCode}
	if g.CandidateSkew != nil {
		a.skew = new(vectors.Seconds(*g.CandidateSkew))
	}
	whole := g.CandidateSkew == nil || *g.CandidateSkew == math.Trunc(*g.CandidateSkew)
	return a, g.Status >= 300 && g.Modeled == "" && g.AttemptSkew == 0 && whole
}

// failure plays one operation.
func (r *run) failure(c vectors.Classified, a answer) {
	s := r.settings()
	j := judgment{about: Finding{Case: c.ID, Title: titleOf(c), Answers: a.String() + ", success"}}
	bubble(r.t, func(ctx context.Context) {
		stage, err := r.build(&s)
		if err != nil {
			j.stopped = err.Error()
			return
		}
		o := stage.began(ctx)
		defer o.drop()
		if _, ended, err := o.next(); ended {
			j.stop(outcome, "an attempt", endText(err))
			return
		}
		answered := time.Now()
		o.answer(a)
		at, ended, err := o.next()
		r.judgeFailure(&j, c, seen{ended: ended && o.late == 0, after: at.Sub(answered), err: err})
		if !ended {
			o.answer(success())
		}
	})
	rules := c.Rules
	if c.Want.Retryable {
		// What makes it retryable is the other rule of the case.
		rules = slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return rule == "C06" })
	}
	r.judge(rules, j)
}

func titleOf(c vectors.Classified) string {
	if c.Title != "" {
		return c.Title
	}
	return strings.ReplaceAll(c.ID, "-", " ")
}

// The bases of v2.1, by which a retryer without jitter shows what it takes a failure for.
const (
	ordinaryBase   = 50 * time.Millisecond
	throttlingBase = time.Second
)

func (r *run) judgeFailure(j *judgment, c vectors.Classified, s seen) {
	j.compared = outcome | delay
	switch {
	case c.Want.Retryable && s.ended:
		j.differs(outcome, "a retry", "the operation ended: "+endText(s.err))
	case !c.Want.Retryable && !s.ended && strings.HasPrefix(c.Given.Transport, "caller_"):
		j.differs(outcome, "no retry, since the caller has given up", "another attempt")
	case !c.Want.Retryable && !s.ended:
		j.differs(outcome, "no retry", fmt.Sprintf("a retry %s later", s.after))
	case s.ended && s.err == nil:
		j.differs(outcome, "the error", endText(nil))
	case s.ended || r.subject.Behavior == retry.V20 || r.subject.Adaptive || r.fixed&jitterSetting != 0:
	case c.Want.Throttling && near(ordinaryBase, s.after):
		j.differs(delay, "the backoff of a throttle, "+throttlingBase.String(), s.after.String())
	case !c.Want.Throttling && near(throttlingBase, s.after):
		j.differs(delay, "the backoff of an ordinary failure, "+ordinaryBase.String(), s.after.String())
	}
}
