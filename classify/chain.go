package classify

import (
	"fmt"
	"slices"
)

// Chain is a list of classifiers that run one after the other. A later opinion overrides an
// earlier one, no opinion leaves it, and [Forbidden] ends the run. The zero value and a nil
// Chain have no classifiers, so they never ask for a retry. A Chain is immutable and safe
// for concurrent use.
//
// The time of a verdict is proportional to the number of classifiers and of errors wrapped
// in the failure. All built-in classifiers together read the errors once. A verdict
// allocates nothing unless methods of errors or classifiers from outside do; [Traits] names
// the one exception.
type Chain struct {
	classifiers []Classifier
	front       *front // the first of them, or nil
}

// NewChain returns a chain of the classifiers in this order. A *Chain among them, and the
// result of [Also], stand for their classifiers. Nil classifiers are skipped.
func NewChain(classifiers ...Classifier) *Chain { return chainOf(flat(classifiers)) }

func chainOf(list []Classifier) *Chain { return &Chain{list, frontOf(list)} }

func flat(classifiers []Classifier) []Classifier {
	list := make([]Classifier, 0, len(classifiers))
	for _, classifier := range classifiers {
		switch classifier := classifier.(type) {
		case nil:
		case *Chain:
			list = append(list, classifier.list()...)
		case *also:
			list = append(list, classifier.own.list()...)
		default:
			list = append(list, classifier)
		}
	}
	return list
}

// Default returns the chain for services of AWS. Its classifiers are, in this order:
//
//   - "http-status", see [Status];
//   - "aws-code", see [Code];
//   - "clock-skew", see [Skew];
//   - "modeled": errors that the models of AWS services mark as retryable and that
//     neither their code nor their status gives away. It knows the service from
//     Outcome.Service or, if that is empty, from an error with a method Service()
//     string;
//   - "transport": failures without an answer. It retries timeouts, connections that could not be opened, or were reset, cut or
//     given up by the server or a proxy, certificates that are not trusted, streams of HTTP/2 that the server reset without
//     blaming the client, and name servers that give no useful answer. It does not retry a host that does not exist, or what
//     the caller ended by canceling or by a deadline, see Outcome.CallerGone;
//   - "protocol": the status of a call of gRPC, the SQLSTATE of a database's error, the number of MySQL's, and
//     database/sql/driver.ErrBadConn, where no other classifier has an opinion. The page on classification lists what it retries;
//   - "traits", see [Traits].
func Default() *Chain { return chainWith(Code()) }

func chainWith(code Classifier) *Chain {
	return NewChain(Status(), code, Skew(), &modeledClassifier{}, &transportClassifier{}, &protocolClassifier{}, Traits(false))
}

// InsertBefore returns a chain with the classifiers right before the first one of this
// name. It returns an error if the chain has no classifier of this name.
func (c *Chain) InsertBefore(name string, classifiers ...Classifier) (*Chain, error) {
	first, _, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return chainOf(slices.Insert(slices.Clone(c.classifiers), first, flat(classifiers)...)), nil
}

// InsertAfter returns a chain with the classifiers right after the last one of this name.
// It returns an error if the chain has no classifier of this name.
func (c *Chain) InsertAfter(name string, classifiers ...Classifier) (*Chain, error) {
	_, last, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return chainOf(slices.Insert(slices.Clone(c.classifiers), last+1, flat(classifiers)...)), nil
}

// Without returns a chain without the classifiers of these names. It returns an error if
// the chain has no classifier of one of the names.
func (c *Chain) Without(names ...string) (*Chain, error) {
	kept := slices.Clone(c.list())
	for _, name := range names {
		if _, _, err := c.find(name); err != nil {
			return nil, err
		}
		kept = without(kept, name)
	}
	return chainOf(kept), nil
}

// Replace returns a chain with the classifiers instead of the first one of this name, and
// without any other of this name. So Replace("http-status", Status(503)) retries no other
// status. It returns an error if the chain has no classifier of this name.
func (c *Chain) Replace(name string, classifiers ...Classifier) (*Chain, error) {
	first, _, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return chainOf(slices.Insert(without(slices.Clone(c.classifiers), name), first, flat(classifiers)...)), nil
}

// find returns the places of the first and of the last classifier of this name.
func (c *Chain) find(name string) (first, last int, err error) {
	first, last = -1, -1
	names := []string{}
	for i, classifier := range c.list() {
		names = append(names, classifier.Name())
		if names[i] != name {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	if first < 0 {
		return 0, 0, fmt.Errorf("classify: the chain has no classifier of this name: %q, only %q", name, names)
	}
	return first, last, nil
}

func without(list []Classifier, name string) []Classifier {
	return slices.DeleteFunc(list, func(c Classifier) bool { return c.Name() == name })
}

func (c *Chain) list() []Classifier {
	if c == nil {
		return nil
	}
	return c.classifiers
}

// Name returns "chain".
func (c *Chain) Name() string { return "chain" }

// Classify returns the verdict of the chain. An error that carries its own verdict is not
// classified, see [JudgedError]. To a retry without a hint, Classify adds the hint of the
// error; a hint never makes an error retryable. To a throttle it adds the reach, and
// whether it is a hard quota.
func (c *Chain) Classify(o Outcome) Verdict { return judge(c, nil, &o, nil) }

// Explain returns the verdict of Classify and what each classifier said. Unlike
// Classify it allocates.
func (c *Chain) Explain(o Outcome) (Verdict, Trail) {
	var trail Trail
	verdict := judge(c, nil, &o, &trail)
	return verdict, trail
}

// Also returns a classifier that adds classifiers to those already in use. As the
// classifier of one operation (retry.Operation.Classifier) it does not replace the
// strategy's: its classifiers run after the strategy's, as one chain, see [Outcome.Judge].
// By itself it judges as the chain of [Default] followed by them, and in [NewChain] it
// stands for them. Nil classifiers are skipped. It is safe for concurrent use. Making it
// takes longer than using it, so make it once for many operations.
func Also(classifiers ...Classifier) Classifier {
	own := NewChain(classifiers...)
	return &also{own, NewChain(Default(), own)}
}

type also struct{ own, alone *Chain }

func (*also) Name() string { return "also" }

func (a *also) Classify(o Outcome) Verdict { return a.alone.Classify(o) }

// judge runs two lists of classifiers as one chain. The trail gets what each of them
// said, unless it is nil.
func judge(c, more *Chain, o *Outcome, trail *Trail) Verdict {
	if o.Err == nil {
		return o.Previous
	}
	f := facts{gone: o.CallerGone}
	f.read(o.Err)
	if f.judged != nil {
		if trail != nil {
			*trail = Trail{{Classifier: "judged", Verdict: f.judged.Verdict}}
		}
		return f.complete(f.judged.Verdict, o)
	}
	if o.Previous.action == actionForbid {
		return o.Previous
	}
	list := c.list()
	if trail == nil && c != nil && c.front != nil {
		c.front.run(o, &f)
		list = list[frontLength:]
	}
	if len(list) > 0 || more != nil { // the front is not the whole chain
		o.run(list, &f, trail)
		o.run(more.list(), &f, trail)
	}
	v := f.complete(o.Previous, o)
	if trail != nil && v.kind == Throttling && len(f.reasons) > 0 {
		*trail = append(*trail, Step{Classifier: "throttled-by", Verdict: v, ThrottledBy: f.reasons})
	}
	if trail != nil && v.HintInFull() {
		*trail = append(*trail, Step{Classifier: "retry-after", Verdict: v})
	}
	return v
}

// run sets Previous of the outcome to the verdict of the classifiers.
func (o *Outcome) run(classifiers []Classifier, f *facts, trail *Trail) {
	for _, c := range classifiers {
		if o.Previous.action == actionForbid {
			return
		}
		v := opinion(c, o, f)
		if trail != nil {
			*trail = append(*trail, Step{Classifier: c.Name(), Verdict: v})
		}
		o.take(v)
	}
}

// take sets Previous to an opinion, if it is one.
func (o *Outcome) take(v Verdict) {
	if v.action != actionNone {
		o.Previous = v
	}
}

const frontLength = 7

// front has the classifiers of Default in their order. Most chains begin with them. Calling
// them by their types, and only those that may have an opinion, takes about half the time of
// going through the list, see BenchmarkDefaultChain.
type front struct {
	status    *statusClassifier
	code      *codeClassifier
	skew      *skewClassifier
	modeled   *modeledClassifier
	transport *transportClassifier
	protocol  *protocolClassifier
	traits    *traitsClassifier
}

// frontOf returns the front of a list; nil if it begins differently.
func frontOf(list []Classifier) *front {
	if len(list) < frontLength {
		return nil
	}
	var f front
	var are [frontLength]bool
	f.status, are[0] = list[0].(*statusClassifier)
	f.code, are[1] = list[1].(*codeClassifier)
	f.skew, are[2] = list[2].(*skewClassifier)
	f.modeled, are[3] = list[3].(*modeledClassifier)
	f.transport, are[4] = list[4].(*transportClassifier)
	f.protocol, are[5] = list[5].(*protocolClassifier)
	f.traits, are[6] = list[6].(*traitsClassifier)
	if slices.Contains(are[:], false) {
		return nil
	}
	return &f
}

// run runs those of the seven that may have an opinion. Only transport and traits may forbid.
func (r *front) run(o *Outcome, f *facts) {
	o.take(r.status.opinion(o, f))
	if f.code != "" {
		o.take(r.code.opinion(o, f))
		o.take(r.skew.opinion(o, f))
		o.take(r.modeled.opinion(o, f))
	}
	if f.saysMore() {
		if o.take(r.transport.opinion(o, f)); o.Previous.action != actionForbid {
			o.take(r.protocol.opinion(o, f))
			o.take(r.traits.opinion(o, f))
		}
	}
}

// opinion passes the facts that were already read of the error to the built-in classifiers.
// It names their types because facts that go through an interface would be allocated.
func opinion(c Classifier, o *Outcome, f *facts) Verdict {
	switch c := c.(type) {
	case *statusClassifier:
		return c.opinion(o, f)
	case *codeClassifier:
		return c.opinion(o, f)
	case *skewClassifier:
		return c.opinion(o, f)
	case *modeledClassifier:
		return c.opinion(o, f)
	case *transportClassifier:
		return c.opinion(o, f)
	case *protocolClassifier:
		return c.opinion(o, f)
	case *traitsClassifier:
		return c.opinion(o, f)
	case *hardQuotaClassifier:
		return c.opinion(o, f)
	case *transactionClassifier:
		return c.opinion(o, f)
	default:
		return c.Classify(*o)
	}
}

// alone is the verdict of one built-in classifier.
func alone(c Classifier, o *Outcome) Verdict {
	f := facts{gone: o.CallerGone}
	f.read(o.Err)
	return opinion(c, o, &f)
}
