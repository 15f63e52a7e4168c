package classify

import (
	"log/slog"
	"strings"
)

// Step is what one classifier said.
type Step struct {
	// Classifier is the name of the classifier, or "judged" for the verdict of a
	// JudgedError.
	Classifier string
	// Verdict is what it said, without what is made of it.
	Verdict Verdict
}

// String returns the step in the form "http-status: retry(transient)".
func (s Step) String() string { return s.Classifier + ": " + s.Verdict.String() }

// Trail is what the classifiers of a chain said, in the order in which they were
// asked. Those after one that forbade the retry were not asked and are not in it.
type Trail []Step

// String returns the steps with a semicolon in between.
func (t Trail) String() string {
	steps := make([]string, len(t))
	for i, s := range t {
		steps[i] = s.String()
	}
	return strings.Join(steps, "; ")
}

// LogValue returns the text of the trail, so that it can be an attribute of a log
// record.
func (t Trail) LogValue() slog.Value { return slog.StringValue(t.String()) }

func (t *Trail) add(name string, v Verdict) {
	if t != nil {
		*t = append(*t, Step{name, v})
	}
}

// Explain is Classify with the decision trail. Only this allocates.
func (c *Chain) Explain(o Outcome) (Verdict, Trail) {
	var trail Trail
	verdict := judge(nil, c.list(), nil, o, &trail)
	return verdict, trail
}
