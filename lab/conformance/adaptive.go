package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/retry"
)

// paced tests whether an attempt after a throttle waits at all, so that the report says so once.
func (r *run) paced() bool {
	wait := time.Duration(0)
	s := r.settings()
	why := r.bubble("after-a-throttle", func(ctx context.Context) {
		stage := r.build(&s)
		stage.play(ctx, throttle(), success())
		asked := time.Now()
		next := stage.began(ctx)
		defer next.drop()
		at, _, _ := next.next()
		wait = at.Sub(asked)
	})
	if why != "" || wait > 0 {
		return true // the cases say more
	}
	j := judgment{about: Finding{
		Case: "after-a-throttle", Title: "an operation that is throttled, and another one", Answers: throttle().String() + ", success",
	}}
	j.differs(sending, "the attempt of the other operation waits for a send token", "it does not wait; the retryer has no send rate")
	r.judge([]string{"A04"}, j)
	return false
}

// adaptive plays the cases of adaptive mode.
func (r *run) adaptive(file vectors.Adaptive) {
	if !r.subject.Adaptive {
		for id := range r.verdicts {
			if id[0] == 'A' && id != "A12" && id != "A13" {
				r.skip([]string{id}, "the retryer has no send rate, see A04")
			}
		}
		return
	}
	var others []string // rules with cases of the other generation
	for _, c := range file.Operations {
		if slices.Contains(c.Rules, ofReasons) {
			continue
		}
		if cmp.Or(retry.Behavior(c.Behavior), retry.V21) != r.subject.Behavior {
			others = append(others, c.Rules...)
			continue
		}
		r.operations(c)
	}
	for _, c := range file.EndToEnd {
		r.endToEnd(c)
	}
	for _, c := range file.Waiters {
		r.waiters(c)
	}
	for _, rule := range others {
		if rule[0] == 'A' && !r.asked[rule] {
			r.skip([]string{rule}, "there is no such case of "+string(r.subject.Behavior))
		}
	}
}

// timeline is the clock of a case. It counts from the start of the bubble.
type timeline struct{ zero time.Time }

func (l timeline) sleepUntil(ctx context.Context, at time.Duration) {
	sleep(ctx, time.Until(l.zero.Add(at)))
}

// sleep waits on the clock of the bubble. The context of a case does not end before the case.
func sleep(ctx context.Context, d time.Duration) { _ = clock.System{}.Sleep(ctx, d) }

func (l timeline) of(t time.Time) time.Duration { return t.Sub(l.zero) }

// at plays a case with a retryer that is made at its start.
func (r *run) at(id string, start time.Duration, s Settings, play func(ctx context.Context, l timeline, stage stage)) (why string) {
	return r.bubble(id, func(ctx context.Context) {
		l := timeline{time.Now()}
		l.sleepUntil(ctx, start)
		play(ctx, l, r.build(&s))
	})
}

// operations plays operations one after another, and compares when their attempts arrive.
func (r *run) operations(c vectors.Operations) {
	s := r.settings()
	s.maxAttempts, s.quotaCapacity, s.jitter = c.Given.Attempts(), capacityOf(c.Given), c.Given.Jitter
	s.maxBackoff, s.service, s.longPolling = vectors.Seconds(c.Given.MaxBackoff), c.Given.Service, c.Given.LongPolling
	if why := r.unfitOperations(c); why != "" {
		r.skip(c.Rules, why)
		return
	}
	j := judgment{compared: outcome | sending, about: Finding{Case: c.ID, Title: c.Title}}
	j.uses = []string{"S05", "S11"}
	if r.subject.Behavior == retry.V20 {
		j.uses = []string{"S05", "S10"}
	}
	for i, operation := range c.Operations {
		if i > 0 {
			j.about.Answers += " | "
		}
		for k, response := range operation.Responses {
			if k > 0 {
				j.about.Answers += ", "
			}
			j.about.Answers += answerOf(response).String()
		}
	}
	why := r.at(c.ID, vectors.Seconds(c.Start), s, func(ctx context.Context, l timeline, stage stage) {
		for i := range c.Operations {
			if !j.operation(ctx, c, i, l, stage) {
				return
			}
		}
		if r.unreadable != "" {
			return
		}
		j.compared |= quota
		left := stage.readQuota(ctx, s.quotaCapacity)
		want := c.Operations[len(c.Operations)-1].Want.QuotaAfter
		if attemptsOfGiven(c.Given) > 1 && !left.is(want) {
			j.differs(quota, fmt.Sprintf("%d tokens left", want), left.String())
		}
	})
	if why != "" {
		r.skip(c.Rules, why)
		return
	}
	r.judge(c.Rules, j)
}

func attemptsOfGiven(g vectors.Given) int { return cmp.Or(g.Attempts(), usualAttempts) }

// unfitOperations returns why the subject cannot play a case. Draining a quota slows down the send
// rate, so a case whose quota is not full at first is not played.
func (r *run) unfitOperations(c vectors.Operations) string {
	needed := quotaSetting
	if capacityOf(c.Given) == defaultCapacity {
		needed = 0
	}
	if initialOf(c.Given) != capacityOf(c.Given) {
		return "its quota is not full at the beginning"
	}
	if vectors.Seconds(c.Given.MaxBackoff) != defaultMaxBackoff {
		needed |= backoffSetting
	}
	if c.Given.Attempts() != 0 {
		needed |= attemptsSetting
	}
	if c.Given.Service != "" {
		needed |= serviceSetting
	}
	if c.Given.LongPolling {
		needed |= pollingSetting
	}
	for _, operation := range c.Operations {
		if len(operation.Responses) > 1 {
			needed |= jitterSetting
		}
	}
	return r.missing(needed)
}

// operation plays one operation and reports whether the case goes on.
func (j *judgment) operation(ctx context.Context, c vectors.Operations, i int, l timeline, stage stage) bool {
	operation := c.Operations[i]
	if operation.Start > 0 {
		l.sleepUntil(ctx, vectors.Seconds(operation.Start))
	}
	o := stage.began(ctx)
	defer o.drop()
	for k, response := range operation.Responses {
		at, ended, err := o.next()
		want := vectors.Seconds(operation.Want.SentAt[k])
		switch {
		case ended:
			j.stop(outcome, fmt.Sprintf("attempt %d of operation %d", k+1, i+1), "the operation ended: "+endText(err))
			return false
		case !near(want, l.of(at)):
			j.stop(sending, fmt.Sprintf("attempt %d of operation %d at %s", k+1, i+1, want), "at "+l.of(at).String())
			return false
		}
		sleep(ctx, vectors.Seconds(operation.Latency))
		o.answer(answerOf(response))
	}
	at, ended, err := o.next()
	switch want := vectors.Seconds(operation.Want.End); {
	case !ended:
		j.stop(outcome, fmt.Sprintf("the end of operation %d%s", i+1, because(operation.Want.Outcome)), "another attempt")
		return false
	case (err == nil) != (operation.Want.Outcome == "success"):
		j.stop(outcome, fmt.Sprintf("the result %q of operation %d", operation.Want.Outcome, i+1), endText(err))
		return false
	case !near(want, l.of(at)):
		j.differs(sending, fmt.Sprintf("the end of operation %d at %s", i+1, want), "at "+l.of(at).String())
	}
	return true
}
