package conformance

import (
	"fmt"
	"math"
	"slices"
)

// judgment is the result of a case.
type judgment struct {
	about Finding
	// compared are the aspects that the case has shown, and found the wrong ones.
	compared aspect
	// hidden are those that a wait for the send rate hides, except that they are not too short.
	hidden aspect
	found  []difference
	// stopped is why the case was not played to its end; empty if it was.
	stopped string
	// uses are rules that the case depends on but does not show.
	uses []string
}

// difference is a wrong aspect of a case.
type difference struct {
	aspect  aspect
	finding Finding
	// plain means that no other rule can be the cause.
	plain bool
}

// differs notes a wrong aspect.
func (j *judgment) differs(a aspect, want, got string) {
	j.compared |= a
	f := j.about
	f.Want, f.Got = want, got
	j.found = append(j.found, difference{aspect: a, finding: f})
}

// stop notes a difference after which the case says nothing more.
func (j *judgment) stop(a aspect, want, got string) {
	j.differs(a, want, got)
	j.stopped = fmt.Sprintf("case %s ended early: expected %s, got %s", j.about.Case, want, got)
}

// suspicion is a difference with the rules that may be broken, and those that the case depends on.
type suspicion struct {
	difference

	rules, uses []string
}

// mayBe reports whether the difference may be due to a rule.
func (s suspicion) mayBe(rule string) bool {
	const waits = delay | spread
	speaks := aspects(rule)
	switch {
	case slices.Contains(s.rules, rule):
		return true
	case s.plain || !slices.Contains(s.uses, rule):
		return false
	case speaks&throttling != 0 && rule != "C02" && rule != "C03":
		return true // a throttle has other costs and waits
	case speaks&waits != 0:
		return s.aspect&(hinted|ending|sending|waits) != 0
	default:
		return s.aspect&(speaks|quota) != 0 && speaks&(outcome|quota) != 0
	}
}

// needed returns the aspects without which a case does not show a rule.
func needed(rule string) aspect {
	switch rule {
	case "S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S18", "S19":
		return quota
	case "C01", "C04", "C08":
		return throttling
	default:
		return 0
	}
}

// judge notes what a case shows about its rules. It shows that a rule is kept if all aspects of the
// rule that the case has were compared and none differs.
func (r *run) judge(rules []string, j judgment) {
	for _, rule := range rules {
		r.asked[rule] = true
	}
	for _, d := range j.found {
		suspects := speaking(rules, d.aspect)
		if len(suspects) > 0 {
			r.suspicions = append(r.suspicions, suspicion{d, suspects, j.uses})
		}
	}
	if j.stopped == "" {
		r.pass(rules, j)
	}
	for _, rule := range rules {
		differs := slices.ContainsFunc(j.found, func(d difference) bool { return aspects(rule)&d.aspect != 0 })
		switch {
		case differs: // blame decides
		case j.stopped != "":
			r.skip([]string{rule}, j.stopped)
		case aspects(rule)&j.hidden != 0:
			r.skip([]string{rule}, "after a throttle the wait for the send rate hides the backoff")
		case needed(rule)&quota&^j.compared != 0 && r.unreadable != "":
			r.skip([]string{rule}, r.unreadable)
		case aspects(rule)&j.compared == 0 || needed(rule)&^j.compared != 0:
			r.skip([]string{rule}, "its cases do not show it")
		default:
			r.verdicts[rule].Kept++
		}
	}
}

// suspect reports whether a rule may be broken.
func (r *run) suspect(rule string) bool {
	return slices.ContainsFunc(r.suspicions, func(s suspicion) bool { return slices.Contains(s.rules, rule) })
}

// speaking returns the rules about an aspect.
func speaking(rules []string, a aspect) []string {
	return slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return aspects(rule)&a == 0 })
}

// blame decides which rules are broken. A difference can be due to any rule that its case shows or uses.
// The rule that correlates best with the cases that differ, and least with the others, is broken, and
// accounts for all differences that may be due to it; blame then repeats this for the rest. The measure
// is the Ochiai coefficient, as in spectrum-based fault localization.
func (r *run) blame() {
	left := r.suspicions
	for len(left) > 0 {
		guilty, best := "", 0.0
		for _, rule := range suspectsOf(left) {
			differ := 0.0
			for _, s := range left {
				switch {
				case slices.Contains(s.rules, rule):
					differ++
				case s.mayBe(rule):
					differ += used
				}
			}
			score := differ / math.Sqrt(float64(len(left))*(differ+float64(r.passed[rule])))
			if score > best {
				guilty, best = rule, score
			}
		}
		left = r.lay(guilty, left)
	}
}

// pass counts a case for the rules that nothing in it contradicts.
func (r *run) pass(rules []string, j judgment) {
	for _, rule := range slices.Concat(rules, j.uses) {
		against := slices.ContainsFunc(j.found, func(d difference) bool { return suspicion{d, rules, j.uses}.accuses(rule) })
		if against || aspects(rule)&j.compared == 0 || aspects(rule)&j.hidden != 0 || needed(rule)&^j.compared != 0 {
			continue
		}
		r.passed[rule]++
		if len(rules) == 1 && rules[0] == rule {
			r.passed[rule] += alone
		}
	}
}

// accuses reports whether the difference may be due to a rule and is about an aspect of it.
func (s suspicion) accuses(rule string) bool { return aspects(rule)&s.aspect != 0 && s.mayBe(rule) }

// alone is the extra weight of a case that shows a single rule.
const alone = 4

// used is the weight of a case for a rule that it uses; a case that shows the rule weighs 1.
const used = 0.7

// suspectsOf returns the rules that the cases show, in order.
func suspectsOf(list []suspicion) (rules []string) {
	for _, s := range list {
		rules = append(rules, s.rules...)
	}
	slices.SortFunc(rules, inOrder)
	return slices.Compact(rules)
}

// lay assigns the differences that may be due to a rule to it, and returns the others.
func (r *run) lay(guilty string, list []suspicion) (left []suspicion) {
	v := r.verdicts[guilty]
	for _, s := range list {
		if !s.mayBe(guilty) {
			left = append(left, s)
			continue
		}
		for _, rule := range s.rules {
			switch {
			case rule != guilty:
				r.skip([]string{rule}, "case "+s.finding.Case+" shows that "+guilty+" is broken")
			case !slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Case == s.finding.Case }):
				v.Broken++
				v.Findings = append(v.Findings, s.finding)
			}
		}
	}
	return left
}
