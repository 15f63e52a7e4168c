package classify

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
