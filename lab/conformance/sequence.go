package conformance

import (
	"slices"
	"strings"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/retry"
)

// attemptsOf returns the limit of attempts in a case.
func attemptsOf(c vectors.Sequence) int {
	switch g := c.Given; {
	case g.Attempts() > 0:
		return g.Attempts()
	case retry.Behavior(c.Behavior) != retry.V20 && strings.HasPrefix(g.Service, "dynamodb"):
		return 4
	default:
		return usualAttempts
	}
}

// within reports whether a retryer with another limit can play the case.
func within(c vectors.Sequence, limit int) bool {
	made := map[string]int{}
	for _, step := range c.Steps {
		if made[step.Request]++; made[step.Request] > limit || step.Want.Outcome == "max_attempts_exceeded" {
			return false
		}
		if step.Want.Outcome != "retry" {
			made[step.Request] = 0
		} else if made[step.Request] == limit {
			return false
		}
	}
	return true
}

// capacityOf returns the size of the quota in a case.
func capacityOf(g vectors.Given) int {
	if capacity := g.Capacity(); capacity != nil {
		return *capacity
	}
	return defaultCapacity
}

// initialOf returns the tokens of the quota at the start of a case.
func initialOf(g vectors.Given) int {
	if g.InitialQuota != nil {
		return *g.InitialQuota
	}
	return capacityOf(g)
}

// fills reports whether the quota of a case gets full, so that its size matters.
func fills(c vectors.Sequence) bool {
	return slices.ContainsFunc(c.Steps, func(s vectors.Step) bool { return s.Want.QuotaAfter >= capacityOf(c.Given) })
}

// about describes the case of a finding.
func about(c vectors.Sequence) Finding {
	var b strings.Builder
	for i, step := range c.Steps {
		if i > 0 {
			b.WriteString(", ")
		}
		if step.Request != "" {
			b.WriteString(step.Request + ": ")
		}
		b.WriteString(answerOf(step.Response).nth(i).String())
		if step.Want.Outcome != "retry" && step.Request == "" && i+1 < len(c.Steps) {
			b.WriteString(" | ")
		}
	}
	return Finding{Case: c.ID, Title: c.Title, Answers: strings.ReplaceAll(b.String(), " | , ", " | ")}
}

// uses returns the rules that the steps of a case depend on, even those it does not show.
func uses(c vectors.Sequence, behavior retry.Behavior) (rules []string) {
	made := map[string]int{}
	rules = []string{"S10"}
	if behavior == retry.V21 {
		rules = []string{"S11"}
	}
	if c.Given.Jitter != 1 {
		rules = append(rules, "S13")
	}
	for _, step := range c.Steps {
		made[step.Request]++
		switch {
		case step.Want.Outcome == "success" && made[step.Request] == 1:
			rules = append(rules, "S05")
		case step.Want.Outcome == "success":
			rules = append(rules, "S06")
		case step.Want.Outcome == "retry":
			rules = append(rules, costs(step.Response))
		case step.Want.Outcome == "quota_exceeded":
			rules = append(rules, costs(step.Response), "S09")
		case step.Want.Outcome == "max_attempts_exceeded":
			rules = append(rules, "S08")
		}
		if fails := step.Want.Outcome != "retry" && step.Want.Outcome != "success"; fails && made[step.Request] > 1 {
			rules = append(rules, "S07")
		}
		rules = append(rules, classes(step.Response)...)
		if step.Want.Outcome != "retry" {
			made[step.Request] = 0
		}
	}
	slices.Sort(rules)
	return slices.DeleteFunc(slices.Compact(rules), func(rule string) bool { return slices.Contains(c.Rules, rule) })
}

// costs returns the rule about the cost of a retry after the response.
func costs(response vectors.Response) string {
	switch response.Kind {
	case "timeout":
		return "S03"
	case "throttling":
		return "S04"
	case "clock_skew":
		return "S21"
	default:
		return "S02"
	}
}

// classes returns the rules about whether the response is retried.
func classes(response vectors.Response) []string {
	switch response.Kind {
	case "timeout", "connect":
		return []string{"C07"}
	case "throttling":
		if response.ErrorCode == "" {
			return []string{"C04"}
		}
		return []string{"C01", "C08"}
	case "clock_skew":
		return []string{"C05"}
	case "client", "server":
		return []string{"C03", "C06"}
	case "transient":
		return []string{"C02", "C03"}
	default:
		return nil
	}
}

// refuses reports whether an empty quota affects the delays of a case.
func refuses(c vectors.Sequence) bool {
	return slices.ContainsFunc(c.Steps, func(s vectors.Step) bool { return s.Want.Outcome == "quota_exceeded" })
}
