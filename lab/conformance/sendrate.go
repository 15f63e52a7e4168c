package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

// flight begins operations while sends are free. Their answers come when the case says.
func flight(ctx context.Context, stage stage, size int) (waiting []*open, ok bool) {
	for range size {
		o := stage.began(ctx)
		waiting = append(waiting, o)
		if _, ended, _ := o.next(); ended {
			return waiting, false
		}
	}
	return waiting, true
}

// land gives one operation of a flight its answer, which ends it because its caller has given up.
func land(o *open, throttled bool) {
	a := success()
	if throttled {
		a = throttle()
	}
	a.last = true
	o.answer(a)
	o.drop()
}

// shownBy returns the rules that a flight with this many throttles shows. All were sent before the
// first cut. A retryer may treat them as one event and cut once, so several throttles show only the
// rules of the cut.
func shownBy(rules []string, throttles int) []string {
	if throttles < 2 {
		return rules
	}
	return slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return rule != "A04" && rule != "A05" })
}

// single returns the settings of a case whose operations make one attempt.
func (r *run) single() Settings {
	s := r.settings()
	s.maxAttempts = 1
	return s
}

// endToEnd begins one operation for each answer, gives the answers at their times, and after each
// compares how long a new operation waits for its send token.
func (r *run) endToEnd(c vectors.EndToEnd) {
	j := judgment{compared: outcome | sending, about: Finding{Case: c.ID, Title: c.Title}}
	answers, throttles := 0, 0
	var said []string
	for i, step := range c.Steps {
		if i > 0 && step.T < c.Steps[i-1].T {
			return // the clock goes back, which a bubble cannot do
		}
		answers += max(step.Repeat, 1)
		if step.Throttled {
			throttles += max(step.Repeat, 1)
		}
		said = append(said, answerText(vectors.Seconds(step.T), max(step.Repeat, 1), step.Throttled))
	}
	for i, step := range c.Steps {
		j.about.Answers = strings.Join(said[:i+1], ", ")
		var want time.Duration
		if step.Enabled && step.Tokens < 1 {
			want = vectors.Seconds((1 - step.Tokens) / step.FillRate)
		}
		why := r.at(c.ID, vectors.Seconds(c.Start), r.single(), func(ctx context.Context, l timeline, stage stage) {
			waiting, ok := flight(ctx, stage, answers)
			if !ok {
				j.stop(outcome, "free attempts before the first throttle", "an operation ended without one")
				return
			}
			for _, s := range c.Steps[:i+1] {
				l.sleepUntil(ctx, vectors.Seconds(s.T))
				for range max(s.Repeat, 1) {
					land(waiting[0], s.Throttled)
					waiting = waiting[1:]
				}
			}
			asked := time.Now()
			o := stage.began(ctx)
			at, ended, err := o.next()
			switch {
			case ended:
				j.stop(outcome, "an attempt", "the operation ended: "+endText(err))
			case !near(want, at.Sub(asked)):
				j.stop(sending, fmt.Sprintf("the next attempt waits %s", want), at.Sub(asked).String())
			}
		})
		if why != "" {
			r.skip(c.Rules, why)
			return
		}
		if j.stopped != "" {
			break
		}
	}
	r.judge(shownBy(c.Rules, throttles), j)
}

func answerText(at time.Duration, times int, throttled bool) string {
	what := "success"
	if throttled {
		what = "throttle"
	}
	if times > 1 {
		what = fmt.Sprintf("%d of %s", times, what)
	}
	return fmt.Sprintf("%s at %gs", what, at.Seconds())
}

// waiters begins operations while answers of others come, and compares when their attempts arrive.
func (r *run) waiters(c vectors.Waiters) {
	answers, throttles := 0, 0
	var said []string
	for _, e := range c.Events {
		switch {
		case e.Op == "update" && e.Rate == 0:
			answers += max(e.Repeat, 1)
			if e.Throttled {
				throttles += max(e.Repeat, 1)
			}
			said = append(said, answerText(vectors.Seconds(e.T), max(e.Repeat, 1), e.Throttled))
		case e.Op == "cancel" && c.GrantAt[e.ID] != nil:
			return // the end of an attempt is an answer, which the case does not have
		case e.Op == "cancel", e.Op == "arrive" && e.Cost == 1:
			said = append(said, fmt.Sprintf("operation %s: %s at %gs", e.ID, e.Op, e.T))
		default:
			return // an operation cannot say another cost, or set a rate
		}
	}
	j := judgment{compared: outcome | sending, about: Finding{Case: c.ID, Title: c.Title, Answers: strings.Join(said, ", ")}}
	rules := shownBy(c.Rules, throttles)
	for range lineups {
		var got map[string]time.Duration
		why := r.at(c.ID, vectors.Seconds(c.Start), r.single(), func(ctx context.Context, l timeline, stage stage) {
			waiting, ok := flight(ctx, stage, answers)
			if !ok {
				j.stop(outcome, "free attempts before the first throttle", "an operation ended without one")
				return
			}
			got = line(ctx, c, l, stage, waiting)
		})
		if why != "" {
			r.skip(c.Rules, why)
			return
		}
		if j.stopped != "" {
			break
		}
		wanted := grantsOf(c)
		now := judgment{compared: j.compared, about: j.about}
		if now.sameLine(wanted, got) {
			continue
		}
		order := sameTimes(wanted, got)
		rules, now.uses = lineRules(shownBy(c.Rules, throttles), order)
		// A wrong order shows in some plays only, by chance.
		if j = now; order || !slices.Contains(c.Rules, "A11") {
			break
		}
	}
	r.judge(rules, j)
}

// lineRules returns which rules of a wrong line may be broken, and which others may explain it.
// Attempts at the wanted times in another order show that the order is wrong. Other times are not due
// to the order, unless a caller that was served too early did not leave.
func lineRules(rules []string, sameTimes bool) (suspects, uses []string) {
	const order, leaving = "A11", "A18"
	switch others := slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return rule == order }); {
	case sameTimes && slices.Contains(rules, order):
		return []string{order}, nil
	case len(others) == 0:
		return rules, nil
	case sameTimes || slices.Contains(rules, leaving):
		return others, []string{order}
	default:
		return others, nil
	}
}

// lineups is how often a line is played, because callers that all wake at once may be served in
// order by chance.
const lineups = 40

// grantsOf returns when the attempts of a case arrive.
func grantsOf(c vectors.Waiters) map[string]time.Duration {
	at := map[string]time.Duration{}
	for id, seconds := range c.GrantAt {
		if seconds != nil {
			at[id] = vectors.Seconds(*seconds)
		}
	}
	return at
}

// sameLine compares when each attempt arrives.
func (j *judgment) sameLine(want, got map[string]time.Duration) bool {
	for _, id := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[id]; !wanted {
			j.differs(sending, "no attempt of "+id, "one at "+got[id].String())
			return false
		}
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		at, arrived := got[id]
		if arrived && near(want[id], at) {
			continue
		}
		said := "no attempt"
		if arrived {
			said = "at " + at.String()
		}
		j.differs(sending, fmt.Sprintf("the attempt of %s at %s", id, want[id]), said)
		return false
	}
	return true
}

// sameTimes reports whether attempts arrive at the wanted times, in any order.
func sameTimes(want, got map[string]time.Duration) bool {
	return slices.EqualFunc(slices.Sorted(maps.Values(want)), slices.Sorted(maps.Values(got)), near)
}

// line plays the events of a case and returns when the attempts have arrived. They get no answer,
// because it would change the rate.
func line(ctx context.Context, c vectors.Waiters, l timeline, stage stage, waiting []*open) map[string]time.Duration {
	inLine := map[string]*open{}
	for _, e := range c.Events {
		l.sleepUntil(ctx, vectors.Seconds(e.T))
		switch e.Op {
		case "arrive":
			inLine[e.ID] = stage.began(ctx)
		case "cancel":
			inLine[e.ID].cancel()
		case "update":
			for range max(e.Repeat, 1) {
				land(waiting[0], e.Throttled)
				waiting = waiting[1:]
			}
		}
		synctest.Wait()
	}
	got := map[string]time.Duration{}
	for id, o := range inLine {
		if at, ended, _ := o.next(); !ended {
			got[id] = l.of(at)
		}
		defer o.drop()
	}
	return got
}
