package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/retry"
)

// precision is how far a time may be from the wanted one, because a retryer may count in seconds.
const precision = 10 * time.Microsecond

// near reports whether a time is the wanted one.
func near(want, got time.Duration) bool { return (want - got).Abs() <= precision }

// judgeSteps compares one play of a case with the wanted steps.
func (r *run) judgeSteps(j *judgment, c vectors.Sequence, steps []seen) {
	p := newPace(r, c)
	for i, s := range steps {
		step := c.Steps[i]
		at, again := p.next(step), step.Want.Outcome == "retry"
		j.compared |= outcome
		switch {
		case s.absent:
			j.stop(outcome, "an attempt", fmt.Sprintf("the operation ended without one: %v", s.err))
			return
		case again && s.ended:
			j.stop(outcome, fmt.Sprintf("a retry after answer %d", i+1), "the operation ended: "+endText(s.err))
			return
		case !again && !s.ended:
			j.stop(outcome, fmt.Sprintf("no retry after answer %d%s", i+1, because(step.Want.Outcome)), fmt.Sprintf("a retry %s later", s.after))
			return
		case again:
			if r.fixed&jitterSetting == 0 && step.Want.Delay != nil {
				shown := at.aspect
				if shown == delay && c.Given.Jitter != 1 {
					shown |= spread // a single delay may be due to either
				}
				want := vectors.Seconds(*step.Want.Delay)
				if at.paced && s.after >= want-precision {
					j.hidden |= shown
					continue
				}
				j.compared |= shown
				if !near(want, s.after) {
					j.differs(shown, fmt.Sprintf("a backoff of %s after answer %d", want, i+1), s.after.String())
					j.found[len(j.found)-1].plain = s.after < at.floor-precision
				}
			}
		case (s.err == nil) != (step.Want.Outcome == "success"):
			j.differs(outcome, fmt.Sprintf("the result %q after answer %d", step.Want.Outcome, i+1), endText(s.err))
		default:
			r.judgeEnd(j, i, step, at, s)
		}
	}
}

func endText(err error) string {
	if err == nil {
		return "success"
	}
	return "error: " + strings.ReplaceAll(err.Error(), "\n", "; ")
}

// because says why an operation ends.
func because(outcome string) string {
	switch outcome {
	case "quota_exceeded":
		return ", since the quota is too low"
	case "max_attempts_exceeded":
		return ", since it was the last attempt"
	case "not_retryable":
		return ", since it is final"
	default:
		return ""
	}
}

// judgeEnd compares the time from the last answer to the end of an operation.
func (r *run) judgeEnd(j *judgment, i int, step vectors.Step, at instant, s seen) {
	j.compared |= ending
	var want time.Duration
	if step.Want.Delay != nil {
		want = vectors.Seconds(*step.Want.Delay)
	}
	least, most := want, want
	if want > 0 && r.fixed&jitterSetting != 0 {
		least, most = at.least, at.most
	}
	if s.after < least-precision || s.after > most+precision {
		j.differs(ending, fmt.Sprintf("the end %s after answer %d", span(least, most), i+1), s.after.String())
	}
}

func span(least, most time.Duration) string {
	if least == most {
		return least.String()
	}
	return fmt.Sprintf("%s to %s", least, most)
}

// judgeRange compares the delays of many plays with the range of the jitter.
func (r *run) judgeRange(j *judgment, c vectors.Sequence, plays [][]seen) {
	p := newPace(r, c)
	for i, step := range c.Steps {
		at := p.next(step)
		if step.Want.Outcome != "retry" {
			continue
		}
		if at.paced {
			j.hidden |= at.aspect
			continue
		}
		var delays []time.Duration
		for _, steps := range plays {
			if i < len(steps) && !steps[i].ended && !steps[i].absent {
				delays = append(delays, steps[i].after)
			}
		}
		if len(delays) == 0 {
			continue
		}
		j.compared |= at.aspect
		least, most := slices.Min(delays), slices.Max(delays)
		want := fmt.Sprintf("a backoff of %s after answer %d", span(at.least, at.most), i+1)
		got := fmt.Sprintf("%s, in %d plays", span(least, most), len(delays))
		if least == most {
			got = fmt.Sprintf("always %s, in %d plays", most, len(delays))
		}
		all := len(delays) == draws
		if at.aspect == delay {
			want += ", evenly spread"
			j.compared |= spread
			if all && least > at.most/5 {
				j.differs(spread, want, got)
			}
		}
		switch {
		case least < at.least-precision || most > at.most+precision:
			j.differs(at.aspect, want, got)
			j.found[len(j.found)-1].plain = least < at.floor-precision
		case all && at.aspect == delay && most < at.most*4/5:
			j.differs(delay, want, got)
		case all && at.aspect == hinted && most <= at.least && at.least < at.most/2:
			j.differs(hinted, want, got)
		}
	}
}

// pace follows the backoff of the operations of a case.
type pace struct {
	run   *run
	given vectors.Given
	made  map[string]int
	// throttled means that a throttle has come, after which adaptive mode adds its own waits.
	throttled bool
}

func newPace(r *run, c vectors.Sequence) *pace {
	return &pace{run: r, given: c.Given, made: map[string]int{}, throttled: initialOf(c.Given) < r.capacity(c.Given)}
}

// instant is when the next attempt of an operation comes, without and with the whole jitter.
type instant struct {
	least, most time.Duration
	paced       bool // a wait for the send rate may be added
	aspect      aspect
	floor       time.Duration // the minimum that a hint asks for, regardless of the backoff
}

// next advances by one step.
func (p *pace) next(step vectors.Step) (at instant) {
	index := p.made[step.Request]
	p.made[step.Request]++
	if step.Want.Outcome != "retry" {
		p.made[step.Request] = 0
	}
	throttling := step.Response.Kind == "throttling"
	p.throttled = p.throttled || throttling
	at.paced = p.run.subject.Adaptive && p.throttled

	base := 1.0
	if p.run.subject.Behavior == retry.V21 && !throttling {
		base = 0.05
		if strings.HasPrefix(p.given.Service, "dynamodb") {
			base = 0.025
		}
	}
	at.most = vectors.Seconds(min(base*math.Pow(2, float64(index)), vectors.Seconds(p.given.MaxBackoff).Seconds()))
	at.aspect = delay
	if _, given := step.Response.Headers["x-amz-retry-after"]; given {
		at.aspect = hinted
	}
	if hint, ok := answerOf(step.Response).hint(); ok {
		at.least, at.most = p.moved(0, hint), p.moved(at.most, hint)
		at.floor = at.least
	}
	return at
}

// moved returns a backoff with the server hint applied.
func (p *pace) moved(backoff, hint time.Duration) time.Duration {
	if p.run.subject.Behavior == retry.V20 {
		return max(backoff, min(hint, vectors.Seconds(p.given.MaxBackoff)))
	}
	return max(backoff, min(hint, backoff+5*time.Second))
}

// tables makes sequences from the tables that start at the first retry and have the base of a kind
// of failure.
func tables(list []vectors.BackoffTable) (cases []vectors.Sequence) {
	for _, table := range list {
		kind, service := "transient", ""
		switch {
		case table.FirstIndex != 0 || vectors.Seconds(table.MaxBackoff) > 1e6*time.Second:
			continue
		case table.Base == 1 && table.Behavior != string(retry.V20):
			kind = "throttling"
		case table.Base == 0.025:
			service = "dynamodb"
		case table.Base != 1 && table.Base != 0.05:
			continue
		}
		c := vectors.Sequence{Case: table.Case, Behavior: table.Behavior}
		c.Given = vectors.Given{
			MaxAttempts: new(len(table.Delays) + 2), Jitter: table.Jitter, MaxBackoff: table.MaxBackoff, Service: service,
		}
		for i := range table.Delays {
			c.Steps = append(c.Steps, retried(kind, nil, &table.Delays[i]))
		}
		cases = append(cases, c)
	}
	return cases
}

// hints makes sequences from the hints: throttles until the backoff is that of the case.
func hints(list []vectors.RetryAfter) (cases []vectors.Sequence) {
	for _, hint := range list {
		c := vectors.Sequence{Case: hint.Case, Behavior: hint.Behavior}
		c.Title = fmt.Sprintf("a backoff of %g s with the hint %s", hint.Delay, headerText(hint.Header))
		whole := 1.0
		for whole < hint.Delay {
			whole = min(2*whole, defaultMaxBackoff.Seconds())
			c.Steps = append(c.Steps, retried("throttling", nil, nil))
		}
		c.Steps = append(c.Steps, retried("throttling", hint.Header, &hint.Want))
		c.Given = vectors.Given{MaxAttempts: new(len(c.Steps) + 2), Jitter: hint.Delay / whole, MaxBackoff: vectors.ExactSeconds(defaultMaxBackoff)}
		cases = append(cases, c)
	}
	return cases
}

func headerText(header *string) string {
	if header == nil {
		return "left out"
	}
	return fmt.Sprintf("%q", *header)
}

// retried is a step that ends with a retry.
func retried(kind string, hint *string, delay *float64) vectors.Step {
	var step vectors.Step
	step.Response = vectors.Response{Status: 500, Kind: kind}
	if kind == "throttling" {
		step.Response = vectors.Response{Status: 400, ErrorCode: "ThrottlingException", Kind: kind}
	}
	if hint != nil {
		step.Response.Headers = map[string]string{"x-amz-retry-after": *hint}
	}
	step.Want.Outcome, step.Want.Delay = "retry", delay
	return step
}
