package conformance

import (
	"fmt"
	"strings"
)

// Result is the result of a rule for a subject.
type Result string

// The results.
const (
	// Kept means that no case has found the rule broken, and at least one was asked.
	Kept Result = "kept"
	// Broken means that a case has found the rule broken.
	Broken Result = "broken"
	// NotAsked means that no case tells whether the rule is kept; Reason says why.
	NotAsked Result = "not asked"
	// NotMeant means that the rule is in NotMeant of the [Subject].
	NotMeant Result = "not meant"
)

// Report is the result of the suite for a subject. It lists the rules in order: standard mode,
// adaptive mode, classification.
type Report struct {
	Subject string // The name of the Subject.
	Rules   []Rule
}

// Rule is a rule and its result.
type Rule struct {
	ID      string // Such as S01.
	Wording string // What the rule says.
	// Matters says what users notice when the rule is broken.
	Matters string
	Result  Result
	// Kept and Broken count the cases, and Findings has the broken ones.
	Kept, Broken int
	Findings     []Finding
	// Reason says why the rule is not meant, or why cases were not asked; it can be empty.
	Reason string
}

// Finding is a case that breaks a rule.
type Finding struct {
	// Case is the id of the case, and Title says what it plays.
	Case, Title string
	// Answers are the answers of the service, in order.
	Answers string
	// Want is what the rule asks for, and Got what the retryer did.
	Want, Got string
}

// Count returns how many rules have the result.
func (r Report) Count(result Result) (n int) {
	for _, rule := range r.Rules {
		if rule.Result == result {
			n++
		}
	}
	return n
}

// String returns one line for each result, with the rules.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s and the %d retry rules of the AWS SDKs:", r.Subject, len(r.Rules))
	for _, result := range []Result{Kept, Broken, NotAsked, NotMeant} {
		if n := r.Count(result); n > 0 {
			fmt.Fprintf(&b, "\n%4d %-9s", n, result)
			for _, rule := range r.Rules {
				if rule.Result == result {
					b.WriteString(" " + rule.ID)
				}
			}
		}
	}
	return b.String()
}

// shown is how many findings of one rule the text includes.
const shown = 3

// String returns the rule and what was found.
func (r Rule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.ID, r.Wording)
	switch r.Result {
	case Kept, Broken:
		fmt.Fprintf(&b, "\n%s in %d of %d cases", r.Result, r.count(), r.Kept+r.Broken)
		if r.Reason != "" {
			fmt.Fprintf(&b, "; other cases were not asked: %s", r.Reason)
		}
	case NotAsked, NotMeant:
		fmt.Fprintf(&b, "\n%s: %s", r.Result, r.Reason)
	}
	if r.Result == Broken {
		fmt.Fprintf(&b, "\nwhy it matters: %s", r.Matters)
	}
	for i, f := range r.Findings {
		if i == shown {
			fmt.Fprintf(&b, "\n\nand %d more cases", len(r.Findings)-shown)
			break
		}
		fmt.Fprintf(&b, "\n\n%s", f)
	}
	return b.String()
}

func (r Rule) count() int {
	if r.Result == Broken {
		return r.Broken
	}
	return r.Kept
}

// String returns the case, what was wanted, and what came.
func (f Finding) String() string {
	return fmt.Sprintf("case     %s (%s)\nanswers  %s\nexpected %s\ngot      %s", f.Title, f.Case, f.Answers, f.Want, f.Got)
}
