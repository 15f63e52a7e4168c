package conformance

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/retry"
)

// standard plays the cases of standard mode.
func (r *run) standard(file vectors.Standard) {
	for _, c := range slices.Concat(file.Sequences, file.Concurrent, tables(file.BackoffTables), hints(file.RetryAfter)) {
		if cmp.Or(retry.Behavior(c.Behavior), retry.V21) == r.subject.Behavior {
			r.sequence(c)
		}
	}
	r.canceled()
}

// canceled plays a case that a list of answers cannot express: the caller gives up during a
// backoff.
func (r *run) canceled() {
	if r.unreadable != "" {
		return
	}
	j := judgment{about: Finding{
		Case: "canceled-backoff", Title: "the caller gives up during the backoff, so that the retry is never sent",
		Answers: throttle().String(),
	}}
	s := r.settings()
	why := r.bubble(j.about.Case, func(ctx context.Context) {
		stage := r.build(&s)
		o := stage.began(ctx)
		if _, ended, _ := o.next(); ended {
			j.stopped = "its operation makes no attempt"
			return
		}
		o.answer(throttle())
		synctest.Wait()
		if len(o.arrived) > 0 {
			j.stopped = "there is no backoff in which the caller could give up"
		}
		o.drop()
		if left := stage.readQuota(ctx, defaultCapacity); j.stopped == "" {
			j.compared |= quota
			if !left.is(defaultCapacity) {
				j.differs(quota, fmt.Sprintf("%d tokens left", defaultCapacity), left.String())
			}
		}
	})
	if why != "" {
		j.stopped = why
	}
	r.judge([]string{"S07"}, j)
}

// draws is how often a case is played with a retryer that has its own random source: enough for
// delays near both ends of their range.
const draws = 100

// sequence plays a case and judges it.
func (r *run) sequence(c vectors.Sequence) {
	if why := r.unfit(c); why != "" {
		r.skip(c.Rules, why)
		return
	}
	j := judgment{about: about(c), uses: uses(c, r.subject.Behavior)}
	first, why := r.perform(c, true)
	if why != "" {
		r.skip(c.Rules, why)
		return
	}
	r.judgeSteps(&j, c, first.steps)
	if first.left != nil {
		judgeQuota(&j, c, *first.left)
	}
	if r.fixed&jitterSetting != 0 && j.stopped == "" && speaksOf(c.Rules, delay|spread|hinted) {
		plays := [][]seen{first.steps}
		enough := draws
		if refuses(c) {
			enough = draws / 10 // each play must empty the quota first
		}
		for len(plays) < enough {
			next, _ := r.perform(c, false)
			plays = append(plays, next.steps)
		}
		r.judgeRange(&j, c, plays)
	}
	r.judge(c.Rules, j)
}

// speaksOf reports whether one of the rules is about an aspect.
func speaksOf(rules []string, a aspect) bool {
	return slices.ContainsFunc(rules, func(rule string) bool { return aspects(rule)&a != 0 })
}

// unfit returns why the subject cannot play a case; empty if it can.
func (r *run) unfit(c vectors.Sequence) string {
	g := c.Given
	var needed setting
	if r.boundless && refuses(c) || r.unreadable != "" && !r.boundless && initialOf(g) < r.capacity(g) {
		return r.unreadable
	}
	if vectors.Seconds(g.MaxBackoff) != defaultMaxBackoff {
		needed |= backoffSetting
	}
	if g.LongPolling {
		needed |= pollingSetting
	}
	if g.Service != "" && !g.LongPolling {
		needed |= serviceSetting
	}
	if capacityOf(g) != defaultCapacity && fills(c) {
		needed |= quotaSetting
	}
	if r.fixed&attemptsSetting != 0 && !r.keepsLimit(c) && !within(c, r.limit) {
		return "New does not read MaxAttempts, and the limit is " + limitText(r.limit)
	}
	return r.missing(needed)
}

// keepsLimit reports whether a retryer with its own limit should have the limit of the case. The
// usual limit counts as the default of the service.
func (r *run) keepsLimit(c vectors.Sequence) bool {
	limit := r.limit
	if limit == usualAttempts {
		byDefault := c
		byDefault.Given.MaxAttempts = nil
		limit = attemptsOf(byDefault)
	}
	return attemptsOf(c) == limit
}

// usualAttempts is the default limit of attempts.
const usualAttempts = 3

func limitText(limit int) string {
	if limit > manyAttempts {
		return "none"
	}
	return strconv.Itoa(limit)
}

// capacity returns the size of the subject's quota in a case.
func (r *run) capacity(g vectors.Given) int {
	if r.fixed&quotaSetting != 0 {
		return defaultCapacity
	}
	return capacityOf(g)
}

// performance is what a service sees of a case.
type performance struct {
	steps []seen
	left  *reading // of the quota; nil if the case was not played to its end
}

// seen is what an operation did after an answer.
type seen struct {
	absent bool // it made no attempt
	ended  bool
	after  time.Duration
	err    error
}

// perform plays a case, as far as the subject follows it. The first time it reads the quota at the
// end, and it sets the initial state of the quota if that matters.
func (r *run) perform(c vectors.Sequence, first bool) (p performance, why string) {
	s := r.settings()
	s.maxAttempts, s.jitter, s.service, s.longPolling = c.Given.Attempts(), c.Given.Jitter, c.Given.Service, c.Given.LongPolling
	s.maxBackoff, s.quotaCapacity = vectors.Seconds(c.Given.MaxBackoff), capacityOf(c.Given)
	why = r.bubble(c.ID, func(ctx context.Context) {
		stage := r.build(&s)
		capacity := r.capacity(c.Given)
		if (first || refuses(c)) && !r.boundless {
			stage.drain(ctx, capacity, initialOf(c.Given))
		}
		operations := map[string]*open{}
		defer func() {
			for _, o := range operations {
				o.drop()
			}
		}()
		for i, step := range c.Steps {
			o := operations[step.Request]
			if o == nil {
				o = stage.began(ctx)
				operations[step.Request] = o
				if _, ended, err := o.next(); ended {
					p.steps = append(p.steps, seen{absent: true, err: err})
					return
				}
			}
			answered := time.Now()
			o.answer(answerOf(step.Response).nth(i))
			at, ended, err := o.next()
			p.steps = append(p.steps, seen{ended: ended, after: at.Sub(answered), err: err})
			if ended {
				o.drop()
				delete(operations, step.Request)
			}
			if ended == (step.Want.Outcome == "retry") {
				return
			}
		}
		for _, request := range slices.Sorted(maps.Keys(operations)) {
			operations[request].answer(final())
			operations[request].drop()
			delete(operations, request)
		}
		if first && attemptsOf(c) > 1 && r.unreadable == "" && speaksOf(c.Rules, quota) {
			p.left = new(stage.readQuota(ctx, capacity))
		}
	})
	return p, why
}

// judgeQuota compares the tokens that are left.
func judgeQuota(j *judgment, c vectors.Sequence, left reading) {
	want := c.Steps[len(c.Steps)-1].Want.QuotaAfter
	if c.FinalQuota != nil {
		want = *c.FinalQuota
	}
	j.compared |= quota
	if !left.is(want) {
		j.differs(quota, fmt.Sprintf("%d tokens left", want), left.String())
	}
}
