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

// retryAs asks for a retry, but for one thing: what is a throttle already stays
// one.
func (o *Outcome) retryAs(kind Kind) Verdict {
	if o.Previous.kind == Throttling && kind != Throttling {
		return None()
	}
	return RetryAs(kind)
}

// Classifier judges failures. It must be safe for concurrent use, and it cannot
// fail: without an opinion it returns None. One that also has a Priority says with
// it where in a chain it runs, see Prioritized.
type Classifier interface {
	// Name says who judged, in lower case with dashes.
	Name() string
	// Classify returns what the classifier thinks of the failure.
	Classify(o Outcome) Verdict
}

// Chain runs classifiers from the lowest priority to the highest. A later opinion
// overrides an earlier one, no opinion leaves it, and Forbidden ends the run. The
// zero value has no classifiers, so that it never asks for a retry. A Chain does
// not change and is safe for concurrent use.
//
// A verdict takes time in proportion to the classifiers and to the errors wrapped
// in the failure, which are read once for all built-in classifiers together. It
// allocates nothing, as far as the methods of the errors and the classifiers of
// the user do not; Traits names the one exception.
type Chain struct {
	entries []entry
	lead    lead // the same as the first entries
}

// NewChain returns a chain of the given classifiers, sorted by priority; those of
// equal priority keep their order. Nil ones are left out. A Chain or
// Additions among them stand for their classifiers, each with its own priority;
// WithPriority keeps them in one piece. To build a chain of n takes n log n comparisons of priorities.
func NewChain(classifiers ...Classifier) *Chain {
	c := &Chain{}
	for _, classifier := range classifiers {
		switch classifier := classifier.(type) {
		case nil:
		case *Chain:
			c.entries = append(c.entries, classifier.list()...)
		case *Additions:
			c.entries = append(c.entries, classifier.own().list()...)
		case ranked:
			c.entries = append(c.entries, entry{classifier.Classifier, classifier.priority})
		default:
			c.entries = append(c.entries, entry{classifier, priorityOf(classifier)})
		}
	}
	slices.SortStableFunc(c.entries, func(a, b entry) int { return a.priority.Compare(b.priority) })
	c.lead = leadOf(c.entries)
	return c
}

// Default returns the chain that clients of AWS use. From the lowest to the
// highest priority: Status, Code, Skew, Modeled, Transport, Traits.
func Default() *Chain {
	return NewChain(Status(), Code(), Skew(), Modeled(), Transport(), Traits(UnknownOnServerFault))
}

// With returns a chain that has the given classifiers besides those of c, each
// where its priority puts it.
func (c *Chain) With(classifiers ...Classifier) *Chain {
	return NewChain(append([]Classifier{c}, classifiers...)...)
}

// Without returns a chain without the classifiers of these names.
func (c *Chain) Without(names ...string) *Chain {
	kept := &Chain{}
	kept.entries = slices.DeleteFunc(slices.Clone(c.list()), func(e entry) bool {
		return slices.Contains(names, e.classifier.Name())
	})
	kept.lead = leadOf(kept.entries)
	return kept
}

// Replace returns a chain with the given classifiers in place of those of the same
// names: Default().Replace(Status(503)) retries on no other status. It is Without
// and With in one.
func (c *Chain) Replace(classifiers ...Classifier) *Chain {
	var names []string
	for _, classifier := range classifiers {
		if classifier != nil {
			names = append(names, classifier.Name())
		}
	}
	return c.Without(names...).With(classifiers...)
}

// Name returns "chain".
func (c *Chain) Name() string { return "chain" }

// Classify runs the chain on the failure. A JudgedError is not run through it.
// Where the verdict is a retry without a hint, the hint of the error itself (see
// RetryAfterError) is added: it never makes an error retryable. A nil Chain has no
// opinion of its own.
func (c *Chain) Classify(o Outcome) Verdict {
	if c == nil {
		return judge(nil, nil, nil, o, nil)
	}
	return judge(&c.lead, c.entries[c.lead.length:], nil, o, nil)
}

func (c *Chain) list() []entry {
	if c == nil {
		return nil
	}
	return c.entries
}
