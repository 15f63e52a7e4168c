package classify

import "slices"

// Outcome is the failure that a classifier judges.
type Outcome struct {
	// Err is the error of the attempt.
	Err error
	// Service and Operation name the call, as far as the caller said.
	Service, Operation string
	// Attempt is the number of the attempt, from 1.
	Attempt int
	// Previous is the verdict of the classifiers that ran before.
	Previous Verdict
}

// Classifier judges failures. It must be safe for concurrent use, and it cannot
// fail: without an opinion it returns None.
type Classifier interface {
	// Name says who judged, in lower case with dashes.
	Name() string
	// Classify returns what the classifier thinks of the failure.
	Classify(o Outcome) Verdict
}

// Chain runs classifiers from first to last. A later opinion overrides an
// earlier one, no opinion leaves it, and Forbidden ends the run. The zero value
// has no classifiers, so that it never asks for a retry. A Chain does not change
// and is safe for concurrent use.
type Chain struct {
	classifiers []Classifier
}

// NewChain returns a chain of the given classifiers, from lowest to highest
// priority. Nil ones are left out.
func NewChain(classifiers ...Classifier) *Chain {
	kept := slices.DeleteFunc(slices.Clone(classifiers), func(c Classifier) bool { return c == nil })
	return &Chain{classifiers: kept}
}

// Default returns the chain that clients of AWS use: HTTP status, AWS error
// code, transport.
func Default() *Chain { return NewChain(Status(), Code(), Transport()) }

// Name returns "chain".
func (c *Chain) Name() string { return "chain" }

// Classify runs the chain on the failure. A JudgedError is not run through it. Where the verdict is a retry
// without a hint, the hint of the error itself (see RetryAfterError) is added:
// it never makes an error retryable. A nil Chain has no opinion of its own.
func (c *Chain) Classify(o Outcome) Verdict {
	if o.Err == nil {
		return o.Previous
	}
	if verdict, ok := Judgement(o.Err); ok {
		return verdict
	}
	return hinted(c.run(o), o.Err)
}

func (c *Chain) run(o Outcome) Verdict {
	if c == nil || o.Previous.Action() == Forbid {
		return o.Previous
	}
	for _, classifier := range c.classifiers {
		v := classifier.Classify(o)
		if v.Action() == NoOpinion {
			continue
		}
		o.Previous = v
		if v.Action() == Forbid {
			break
		}
	}
	return o.Previous
}
