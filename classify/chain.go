package classify

import (
	"slices"
)

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

// entry is a classifier and where it runs.
type entry struct {
	classifier Classifier
	priority   Priority
}

// lead is the built-in classifiers with which a chain begins, as most do: their
// order is known, so they are called one after the other, and no dispatch costs
// more than the verdicts.
type lead struct {
	status    *statusClassifier
	code      *codeClassifier
	skew      *skewClassifier
	modeled   *modeledClassifier
	transport *transportClassifier
	traits    *traitsClassifier
	length    int // how many there are
}

// leadOf takes entries for as long as they are built in and in the usual order.
func leadOf(entries []entry) lead {
	var l lead
	last := 0
	for _, e := range entries {
		longer := l
		place := longer.add(e.classifier)
		if place <= last {
			break
		}
		l, last = longer, place
	}
	return l
}

// add returns the place of the classifier in the usual order; 0 if it is not built
// in.
func (l *lead) add(c Classifier) (place int) {
	l.length++
	switch c := c.(type) {
	case *statusClassifier:
		l.status = c
		return 1
	case *codeClassifier:
		l.code = c
		return 2
	case *skewClassifier:
		l.skew = c
		return 3
	case *modeledClassifier:
		l.modeled = c
		return 4
	case *transportClassifier:
		l.transport = c
		return 5
	case *traitsClassifier:
		l.traits = c
		return 6
	default:
		return 0
	}
}

// run asks all of them. Only the last one may forbid.
func (l *lead) run(o *Outcome, f *facts) {
	if l.status != nil {
		o.take(l.status.judge(o, f))
	}
	if l.code != nil {
		o.take(l.code.judge(o, f))
	}
	if l.skew != nil {
		o.take(l.skew.judge(o, f))
	}
	if l.modeled != nil {
		o.take(l.modeled.judge(o, f))
	}
	if l.transport != nil {
		o.take(l.transport.judge(o, f))
	}
	if l.traits != nil {
		o.take(l.traits.judge(o, f))
	}
}

// take makes an opinion the verdict so far.
func (o *Outcome) take(v Verdict) {
	if v.action != NoOpinion {
		o.Previous = v
	}
}

// judge runs the lead of a chain, if it is given, and then two lists of classifiers
// as if they were one chain, in which those of more come after those of base with
// the same priority. A trail, if there is one, gets what each of the two lists said.
func judge(first *lead, base, more []entry, o Outcome, trail *Trail) Verdict {
	if o.Err == nil {
		return o.Previous
	}
	if verdict, ok := Judgement(o.Err); ok {
		trail.add("judged", verdict)
		return verdict
	}
	if o.Previous.action == Forbid {
		return o.Previous
	}
	var f facts
	f.read(o.Err)
	if first != nil {
		first.run(&o, &f)
	}
	for i := range base {
		for len(more) > 0 && more[0].priority.Compare(base[i].priority) < 0 {
			more[0].ask(&o, &f, trail)
			more = more[1:]
		}
		base[i].ask(&o, &f, trail)
	}
	for i := range more {
		more[i].ask(&o, &f, trail)
	}
	return f.hint(o.Previous)
}

// ask takes the opinion of one classifier. Nobody is asked after Forbidden.
func (e *entry) ask(o *Outcome, f *facts, trail *Trail) {
	if o.Previous.action == Forbid {
		return
	}
	v := e.opinion(o, f)
	if trail != nil {
		trail.add(e.classifier.Name(), v)
	}
	o.take(v)
}

// opinion lets the built-in classifiers see what was read of the error already.
func (e *entry) opinion(o *Outcome, f *facts) Verdict {
	switch c := e.classifier.(type) {
	case *statusClassifier:
		return c.judge(o, f)
	case *codeClassifier:
		return c.judge(o, f)
	case *skewClassifier:
		return c.judge(o, f)
	case *modeledClassifier:
		return c.judge(o, f)
	case *transportClassifier:
		return c.judge(o, f)
	case *traitsClassifier:
		return c.judge(o, f)
	default:
		return c.Classify(*o)
	}
}

// Additions are classifiers that one operation adds to those of its strategy. As
// the classifier of an operation they do not replace the strategy's: both run, as
// one chain, in the order of their priorities. They do not change and are safe for
// concurrent use.
type Additions struct {
	chain *Chain
	alone *Chain
}

// Add returns the classifiers as additions. Nil ones are left out.
func Add(classifiers ...Classifier) *Additions {
	return &Additions{NewChain(classifiers...), Default().With(classifiers...)}
}

// With returns additions that have these classifiers as well.
func (a *Additions) With(classifiers ...Classifier) *Additions {
	return Add(append([]Classifier{a.own()}, classifiers...)...)
}

// On returns the classifier of an operation that has one, or nil, and gets the
// additions: nil and Additions stay additions to the strategy's classifier, and any
// other, which replaces that, gets them added to itself.
func (a *Additions) On(operation Classifier) Classifier {
	switch operation := operation.(type) {
	case nil:
		return a
	case *Additions:
		return operation.With(a)
	default:
		return NewChain(operation, a)
	}
}

// Name returns "additions".
func (a *Additions) Name() string { return "additions" }

// Classify judges with the default chain and the additions: it is for those who do
// not know of a strategy. Layered adds them to another one's classifier.
func (a *Additions) Classify(o Outcome) Verdict {
	if a == nil {
		return judge(nil, nil, nil, o, nil)
	}
	return a.alone.Classify(o)
}

func (a *Additions) own() *Chain {
	if a == nil {
		return nil
	}
	return a.chain
}

// Layered judges a failure as a strategy with the first classifier does for an
// operation with the second: nil leaves the strategy's alone, Additions run with
// it as one chain, and any other replaces it. It allocates nothing.
func Layered(strategy, operation Classifier, o Outcome) Verdict {
	switch operation := operation.(type) {
	case nil:
		return strategy.Classify(o)
	case *Additions:
		chain, ok := strategy.(*Chain)
		if ok {
			return judge(nil, chain.list(), operation.own().list(), o, nil)
		}
		whole := [...]entry{{strategy, priorityOf(strategy)}}
		return judge(nil, whole[:], operation.own().list(), o, nil)
	default:
		return operation.Classify(o)
	}
}
