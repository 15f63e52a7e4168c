package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/awsretry/awsretry/retry"
	"github.com/awsretry/awsretry/testdata"
)

// Run plays the cases against the subject, with a subtest for each rule. A subtest fails if the rule
// is broken, and is skipped if the rule is not meant or could not be asked. Run logs the summary of
// the report. Do not call it in a bubble of [testing/synctest].
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

// Check plays the cases and returns the report. A broken rule does not fail the test, but an impossible
// [Subject] does, and so does one that panics or does not return after its context has ended. Do not
// call Check in a bubble of [testing/synctest].
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
	r := &run{t: t, subject: s, verdicts: map[string]*Rule{}, passed: map[string]int{}, asked: map[string]bool{}}
	for _, id := range b.ids() {
		r.verdicts[id] = &Rule{ID: id, Wording: b.wording[id], Matters: matters()[id]}
	}
	r.measure()
	r.readable()
	if s.Adaptive && !r.paced() {
		r.subject.Adaptive = false
	}
	r.standard(b.standard)
	if s.Adaptive {
		r.adaptive(b.adaptive)
	}
	r.classification(b.classification)
	if r.failed != nil {
		return Report{}, fmt.Errorf("conformance: the subject %q, %w", s.Name, r.failed)
	}
	r.blame()
	return r.report(b.ids()), nil
}

// valid returns an error if a subject is invalid.
func (s Subject) valid(b book) error {
	if s.Name == "" {
		return errors.New("conformance: a subject has no Name")
	}
	if s.New == nil {
		return fmt.Errorf("conformance: the subject %q has no New", s.Name)
	}
	if s.Behavior != retry.V20 && s.Behavior != retry.V21 {
		return fmt.Errorf("conformance: the subject %q has an unknown Behavior: %q", s.Name, s.Behavior)
	}
	for _, rule := range slices.Sorted(maps.Keys(s.NotMeant)) {
		if b.wording[rule] == "" {
			return fmt.Errorf("conformance: NotMeant of the subject %q names a rule that does not exist: %q", s.Name, rule)
		}
		if s.NotMeant[rule] == "" {
			return fmt.Errorf("conformance: NotMeant of the subject %q has no reason for %s", s.Name, rule)
		}
	}
	return nil
}

// run is the suite in progress for one subject.
type run struct {
	t        *testing.T
	subject  Subject
	verdicts map[string]*Rule
	// fixed are the settings that the subject does not read, and limit is its number of attempts if
	// that is one of them.
	fixed setting
	limit int
	// unreadable says why the suite cannot tell how many tokens the quota has, and boundless that it
	// never runs out.
	unreadable string
	boundless  bool
	suspicions []suspicion
	// passed counts the cases without a difference that show or use a rule.
	passed map[string]int
	// asked are the rules of the cases that were played.
	asked map[string]bool
	// failed is the first case that ended in a fault of the subject.
	failed error
}

// bubble plays a case. It returns why the case shows nothing; empty if it shows something.
func (r *run) bubble(id string, play func(ctx context.Context)) (why string) {
	if r.failed != nil {
		return r.failed.Error()
	}
	err := bubble(r.t, play)
	switch {
	case err == nil:
		return ""
	case !errors.Is(err, errExpired):
		r.failed = fmt.Errorf("case %s: %w", id, err)
	}
	return err.Error()
}

// manyAttempts is a limit above those of the rules: a retryer with more counts as unlimited. A full
// quota covers the retries after this many throttles.
const manyAttempts = 100

// measure finds out which settings the subject reads.
func (r *run) measure() {
	s := r.settings()
	r.bubble("of the limit of attempts", func(ctx context.Context) {
		r.limit = r.build(&s).play(ctx, slices.Repeat([]answer{throttle()}, manyAttempts)...)
	})
	r.fixed = ^s.read
}

// settings returns the settings of a case that needs none.
func (r *run) settings() Settings {
	return Settings{
		behavior: r.subject.Behavior, quotaCapacity: defaultCapacity, maxBackoff: defaultMaxBackoff, jitter: 1,
	}
}

// build makes the retryer of a case.
func (r *run) build(s *Settings) stage {
	do, err := r.subject.New(s)
	if err != nil {
		panic(fault{"New: " + err.Error()})
	}
	if do == nil {
		panic(fault{"New: a nil Do"})
	}
	return stage{do}
}

// missing returns why the subject cannot play a case with these settings; empty if it can.
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
		if v := r.verdicts[rule]; v.Reason == "" && !strings.HasSuffix(why, "see "+rule) {
			v.Reason = why
		}
	}
}

// report returns the rules that have cases.
func (r *run) report(ids []string) Report {
	report := Report{Subject: r.subject.Name}
	for _, id := range ids {
		rule := *r.verdicts[id]
		why, unmeant := r.subject.NotMeant[id]
		switch {
		case rule.Broken == 0 && rule.Kept == 0 && rule.Reason == "":
			continue // of another generation or mode, or not visible from outside
		case unmeant:
			rule = Rule{ID: id, Wording: rule.Wording, Matters: rule.Matters, Result: NotMeant, Reason: why}
		case rule.Broken > 0:
			rule.Result = Broken
		case rule.Kept > 0:
			rule.Result = Kept
		default:
			rule.Result = NotAsked
		}
		report.Rules = append(report.Rules, rule)
	}
	return report
}
