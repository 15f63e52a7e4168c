package classify

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
