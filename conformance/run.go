package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/awsretry/awsretry/retry"
	"github.com/awsretry/awsretry/testdata"
)

// Run plays the cases against the subject and makes a subtest of each rule. It fails where a rule is
// broken, skips where it is not meant or could not be asked, and logs the summary of the report.
func Run(t *testing.T, s Subject) {
	t.Helper()
	report := Check(t, s)
	for _, rule := range report.Rules {
		t.Run(rule.ID, func(t *testing.T) {
			t.Helper()
			switch rule.Result {
			case Broken:
				t.Errorf("\n%s", rule)
			case Kept:
				t.Log(rule)
			case NotAsked, NotMeant:
				t.Skip(rule)
			}
		})
	}
	t.Log(report)
}

// Check plays the cases and returns what was found. A broken rule does not fail the test. An error of
// New, or a rule in NotMeant that does not exist, does.
func Check(t *testing.T, s Subject) Report {
	t.Helper()
	b, err := read(testdata.Cases)
	if err != nil {
		t.Fatal(err)
	}
	report, err := check(t, s, b)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// check plays the cases of these files.
func check(t *testing.T, s Subject, b book) (Report, error) {
	t.Helper()
	s.Behavior = cmp.Or(s.Behavior, retry.V21)
	if err := s.valid(b); err != nil {
		return Report{}, err
	}
	r := &run{t: t, subject: s, verdicts: map[string]*Rule{}}
	for _, id := range b.ids() {
		r.verdicts[id] = &Rule{ID: id, Wording: b.wording[id], Matters: matters()[id]}
	}
	if err := r.measure(); err != nil {
		return Report{}, fmt.Errorf("conformance: New of %q: %w", s.Name, err)
	}
	r.standard(b.standard)
	if s.Adaptive {
		r.adaptive(b.adaptive)
	}
	r.classification(b.classification)
	r.blame()
	return r.report(b.ids()), nil
}

// valid returns what is wrong with a subject.
func (s Subject) valid(b book) error {
	if s.New == nil {
		return fmt.Errorf("conformance: the subject %q has no New", s.Name)
	}
	if !s.Behavior.Valid() {
		return fmt.Errorf("conformance: the subject %q has an unknown Behavior: %q", s.Name, s.Behavior)
	}
	for _, rule := range slices.Sorted(maps.Keys(s.NotMeant)) {
		if b.wording[rule] == "" {
			return fmt.Errorf("conformance: NotMeant of the subject %q names a rule that does not exist: %q", s.Name, rule)
		}
	}
	return nil
}

// run is the cases of one subject under way.
type run struct {
	t        *testing.T
	subject  Subject
	verdicts map[string]*Rule
	// fixed are the settings that the subject does not take, and limit is its number of attempts
	// if that is one of them.
	fixed setting
	limit int
	// boundless says that there is no quota.
	boundless bool
	broken    []suspicion
}

// manyAttempts is a limit above those of the rules: a retryer with more is said to have none. The
// retries after so many throttles are within a full quota.
const manyAttempts = 100

// measure finds out what the subject takes.
func (r *run) measure() (err error) {
	s := r.settings()
	bubble(r.t, func(ctx context.Context) {
		var made stage
		if made, err = r.build(&s); err != nil {
			return
		}
		r.limit = made.play(ctx, slices.Repeat([]answer{throttle()}, manyAttempts)...)
	})
	r.fixed = ^s.read
	if err == nil {
		r.findQuota()
	}
	return err
}

// findQuota finds out whether there is a quota at all, so that the report says so once.
func (r *run) findQuota() {
	if r.limit < 2 {
		return
	}
	s := r.settings()
	bubble(r.t, func(ctx context.Context) {
		stage, err := r.build(&s)
		if err != nil {
			return
		}
		left := stage.readQuota(ctx, defaultCapacity)
		if r.boundless = left.endless; !left.endless {
			return
		}
		j := judgment{about: Finding{
			Case: noQuota, Title: "operations that are throttled twice, one after the other",
			Answers: throttle().String() + ", " + final().String() + ", and so on",
		}}
		j.differs(quota, fmt.Sprintf("no retry after %d of them, since these have emptied the quota of %d tokens", defaultCapacity/throttleCost, defaultCapacity),
			fmt.Sprintf("%d retries; the retryer has no retry quota", left.retries))
		r.judge([]string{"S09"}, j)
	})
}

// noQuota is the case of a retryer without a quota.
const noQuota = "no-quota"

// needsQuota reports whether a rule says something only of a retryer with a quota.
func needsQuota(rule string) bool {
	switch rule {
	case "S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09", "S15", "S18", "S19", "A15":
		return true
	default:
		return false
	}
}

// settings returns what a case has that asks for nothing.
func (r *run) settings() Settings {
	return Settings{
		behavior: r.subject.Behavior, quotaCapacity: defaultCapacity, maxBackoff: defaultMaxBackoff, jitter: 1,
	}
}

// build makes the retryer of a case.
func (r *run) build(s *Settings) (stage, error) {
	do, err := r.subject.New(s)
	if err == nil && do == nil {
		err = errors.New("a nil Do")
	}
	return stage{do}, err
}

// missing returns why a case with these settings cannot be put to the subject; empty if it can.
func (r *run) missing(needed setting) string {
	for s := attemptsSetting; s <= pollingSetting; s <<= 1 {
		if needed&r.fixed&s != 0 {
			return fmt.Sprintf("New does not read %s", s)
		}
	}
	return ""
}

// skip notes that a case was not asked.
func (r *run) skip(rules []string, why string) {
	for _, rule := range rules {
		v := r.verdicts[rule]
		switch {
		case r.boundless && rule == "S09":
		case r.boundless && needsQuota(rule):
			v.Reason = "the retryer has no retry quota, see S09"
		case v.Reason == "":
			v.Reason = why
		}
	}
}

// judge notes what a case says of its rules.
func (r *run) judge(rules []string, j judgment) {
	var broken []string
	for _, rule := range rules {
		_, differs := j.breaks(aspects(rule))
		switch {
		case r.boundless && needsQuota(rule) && j.about.Case != noQuota:
			r.skip([]string{rule}, "")
		case differs:
			broken = append(broken, rule)
		case aspects(rule)&j.compared == 0:
			r.skip([]string{rule}, cmp.Or(j.stopped, "the retryer has a random source of its own"))
		case j.stopped != "":
			r.skip([]string{rule}, j.stopped)
		default:
			r.verdicts[rule].Kept++
		}
	}
	if len(broken) > 0 {
		r.broken = append(r.broken, suspicion{broken, j})
	}
}

// suspicion is a case that does not end as wanted, with the rules that may be broken.
type suspicion struct {
	rules []string
	found judgment
}

// blame decides which rules are broken. Where a difference may be due to several rules, it is due to
// those that no case has found kept, if there are any.
func (r *run) blame() {
	for _, s := range r.broken {
		var rules []string
		for _, f := range s.found.found {
			speak := slices.DeleteFunc(slices.Clone(s.rules), func(rule string) bool { return aspects(rule)&f.aspect == 0 })
			open := slices.DeleteFunc(slices.Clone(speak), func(rule string) bool { return r.verdicts[rule].Kept > 0 })
			if len(open) == 0 {
				open = speak
			}
			rules = append(rules, open...)
		}
		for _, rule := range s.rules {
			if !slices.Contains(rules, rule) {
				continue
			}
			finding, _ := s.found.breaks(aspects(rule))
			v := r.verdicts[rule]
			v.Broken++
			v.Findings = append(v.Findings, finding)
		}
	}
}

// report returns the rules that cases were found for.
func (r *run) report(ids []string) Report {
	report := Report{Subject: r.subject.Name}
	for _, id := range ids {
		rule := *r.verdicts[id]
		why, unmeant := r.subject.NotMeant[id]
		switch {
		case unmeant:
			rule = Rule{ID: id, Wording: rule.Wording, Matters: rule.Matters, Result: NotMeant, Reason: why}
		case rule.Broken > 0:
			rule.Result = Broken
		case rule.Kept > 0:
			rule.Result = Kept
		case rule.Reason != "":
			rule.Result = NotAsked
		default:
			continue // of another generation or mode, or not to be seen from outside
		}
		report.Rules = append(report.Rules, rule)
	}
	return report
}

// judgment is what a case has shown.
type judgment struct {
	about Finding
	// compared are the aspects that the case has shown, and found those that are not as wanted.
	compared aspect
	found    []shownAspect
	// stopped is why the case was not played to its end; empty if it was.
	stopped string
}

type shownAspect struct {
	aspect  aspect
	finding Finding
}

// differs notes that an aspect is not as wanted.
func (j *judgment) differs(a aspect, want, got string) {
	j.compared |= a
	f := j.about
	f.Want, f.Got = want, got
	j.found = append(j.found, shownAspect{a, f})
}

// breaks returns the first finding about an aspect of these.
func (j judgment) breaks(of aspect) (Finding, bool) {
	for _, f := range j.found {
		if f.aspect&of != 0 {
			return f.finding, true
		}
	}
	return Finding{}, false
}
