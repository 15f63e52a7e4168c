package conformance

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/retry"
)

// classification plays an operation with each failure, followed by a success.
func (r *run) classification(file vectors.Classification) {
	for _, c := range slices.Concat(file.ErrorCodes, file.StatusCodes, file.TransportKinds, file.Combinations, file.SkewDecisions) {
		if a, ok := failureOf(c); ok {
			r.failure(c, a)
		}
	}
}

// failureOf returns the answer of a case, or false if no service can give it: a failure together with a
// response, an error with status 200, a skew that a date in seconds cannot show or that the client has
// from before, or something that only the model of a service says. Its requests name no service.
func failureOf(c vectors.Classified) (a answer, ok bool) {
	g := c.Given
	if g.Service != "" {
		return a, false
	}
	if g.Transport != "" {
		a.transport, a.last = g.Transport, vectors.CallerGone(g.Transport)
		return a, vectors.TransportError(g.Transport) != nil && g.Status == 0 && g.ErrorCode == "" && g.Modeled == ""
	}
	a = answer{status: g.Status, code: g.ErrorCode}
	if g.CandidateSkew != nil {
		a.skew = new(vectors.Seconds(*g.CandidateSkew))
	}
	whole := g.CandidateSkew == nil || *g.CandidateSkew == math.Trunc(*g.CandidateSkew)
	return a, g.Status >= 300 && g.Modeled == "" && g.AttemptSkew == 0 && whole
}

// failure plays an operation, and in adaptive mode another, which waits after a throttle.
func (r *run) failure(c vectors.Classified, a answer) {
	j := judgment{about: Finding{Case: c.ID, Title: titleOf(c), Answers: a.String() + ", success"}}
	first, why := r.fail(c.ID, a)
	if why != "" {
		r.skip(c.Rules, why)
		return
	}
	j.judgeFailure(c, a, first)
	if c.Want.Retryable && !first.ended {
		r.judgeKind(&j, c, a, first)
	}
	// The other rule of the case makes the failure retryable. C04 does not cover statuses next to 429.
	rules := slices.DeleteFunc(slices.Clone(c.Rules), func(rule string) bool {
		return rule == "C06" && c.Want.Retryable || rule == "C04" && !c.Want.Retryable
	})
	if len(rules) == 0 {
		rules = []string{"C06"}
	}
	r.judge(rules, j)
}

// failed is what an operation does after a failure.
type failed struct {
	seen

	// paced means that a later operation waits for a send token.
	paced bool
}

// fail plays an operation with this answer.
func (r *run) fail(id string, a answer) (f failed, why string) {
	s := r.settings()
	why = r.bubble(id, func(ctx context.Context) {
		stage := r.build(&s)
		o := stage.began(ctx)
		defer o.drop()
		if _, ended, err := o.next(); ended {
			f.seen = seen{absent: true, ended: true, err: err}
			return
		}
		answered := time.Now()
		o.answer(a)
		at, ended, err := o.next()
		f.seen = seen{ended: ended && o.late.Load() == 0, after: at.Sub(answered), err: err}
		if ended {
			return
		}
		o.answer(success())
		next := stage.began(ctx)
		defer next.drop()
		began := time.Now()
		at, _, _ = next.next()
		f.paced = at.After(began)
	})
	return f, why
}

func titleOf(c vectors.Classified) string {
	if c.Title != "" {
		return c.Title
	}
	return strings.ReplaceAll(c.ID, "-", " ")
}

// The bases of v2.1, which show how a retryer without jitter classifies a failure.
const (
	ordinaryBase   = 50 * time.Millisecond
	throttlingBase = time.Second
)

func (j *judgment) judgeFailure(c vectors.Classified, a answer, f failed) {
	j.compared = outcome
	switch {
	case f.absent:
		j.stop(outcome, "an attempt", endText(f.err))
	case c.Want.Retryable && f.ended:
		j.differs(outcome, "a retry", "the operation ended: "+endText(f.err))
	case !c.Want.Retryable && !f.ended && a.last:
		j.differs(outcome, "no retry, since the caller has given up", "another attempt")
	case !c.Want.Retryable && !f.ended:
		j.differs(outcome, "no retry", fmt.Sprintf("a retry %s later", f.after))
	case f.ended && f.err == nil:
		j.differs(outcome, "the error", endText(nil))
	}
}

// judgeKind compares whether the retryer treats a retried failure as a throttle. In v2.0 standard
// mode nothing shows it.
func (r *run) judgeKind(j *judgment, c vectors.Classified, a answer, f failed) {
	const ordinary, throttle = "an ordinary failure", "a throttle"
	want, got := ordinary, ""
	if c.Want.Throttling {
		want = throttle
	}
	switch {
	case !r.subject.Adaptive && r.subject.Behavior == retry.V21 && r.suspect("S11"):
		return // its backoffs show nothing
	case r.subject.Adaptive:
		if got = ordinary; f.paced {
			got = throttle
		}
	case r.subject.Behavior == retry.V20:
		got = want
	case r.fixed&jitterSetting == 0 && near(ordinaryBase, f.after):
		got = ordinary
	case r.fixed&jitterSetting == 0 && near(throttlingBase, f.after):
		got = throttle
	case r.fixed&jitterSetting == 0:
	case r.waits(c.ID, a) <= ordinaryBase+precision:
		got = ordinary
	case want == throttle:
		got = throttle
	}
	if got == "" {
		return // S11 speaks of other backoffs
	}
	j.compared |= throttling
	if got != want {
		j.differs(throttling, "the wait after "+want, "that after "+got)
	}
}

// waits returns the longest backoff after a failure in many plays, or the first one that only a
// throttle has.
func (r *run) waits(id string, a answer) (longest time.Duration) {
	for range draws {
		f, _ := r.fail(id, a)
		if longest = max(longest, f.after); longest > ordinaryBase+precision {
			break
		}
	}
	return longest
}
