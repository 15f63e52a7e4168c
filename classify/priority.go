package classify

import "strings"

// Priority says where in a chain a classifier runs: those of lower priority run
// first, and those of higher priority may override them. There are no numbers to
// choose: a priority is one of the built-in ones, or it is Before or After
// another, nested as deep as need be. Between any two priorities that differ there
// is room for more, so what comes right after one never meets what comes right
// before the next. The zero value is that of a classifier without a wish: above
// everything built in.
//
// Priorities are equal, with ==, if they were made in the same way. Classifiers
// of equal priority run in the order in which they were registered. To make or to
// compare a priority costs time in proportion to its nesting.
type Priority struct{ path string }

// A path is the rank of a built-in priority, one byte, followed by the steps from
// there and by the end. Because the end sorts between the two steps, the order of
// the texts is the order of the priorities.
const (
	stepBefore = "\x00"
	pathEnd    = "\x01"
	stepAfter  = "\x02"

	pathStatus    = "\x10" + pathEnd
	pathCode      = "\x20" + pathEnd
	pathSkew      = "\x30" + pathEnd
	pathModeled   = "\x40" + pathEnd
	pathTransport = "\x50" + pathEnd
	pathTraits    = "\x60" + pathEnd
	pathZero      = "\x70" + pathEnd
)

// StatusPriority is the priority of Status, the lowest of the built-in ones.
func StatusPriority() Priority { return Priority{pathStatus} }

// CodePriority is the priority of Code, next above Status.
func CodePriority() Priority { return Priority{pathCode} }

// SkewPriority is the priority of Skew, next above Code.
func SkewPriority() Priority { return Priority{pathSkew} }

// ModeledPriority is the priority of Modeled, next above Skew.
func ModeledPriority() Priority { return Priority{pathModeled} }

// TransportPriority is the priority of Transport, next above Modeled.
func TransportPriority() Priority { return Priority{pathTransport} }

// TraitsPriority is the priority of Traits, next above Transport and the highest
// of the built-in ones.
func TraitsPriority() Priority { return Priority{pathTraits} }

// Before returns the priority right below p. A classifier that has it runs before
// one with p, and after one with any priority below p that was not made from
// Before(p).
func Before(p Priority) Priority { return p.step(stepBefore) }

// After returns the priority right above p. A classifier that has it runs after
// one with p, and before one with any priority above p that was not made from
// After(p).
func After(p Priority) Priority { return p.step(stepAfter) }

// Compare returns -1 if p runs before q, 1 if p runs after q, and 0 if they are
// equal.
func (p Priority) Compare(q Priority) int { return strings.Compare(p.full(), q.full()) }

func (p Priority) step(step string) Priority {
	path := p.full()
	return Priority{path[:len(path)-len(pathEnd)] + step + pathEnd}
}

func (p Priority) full() string {
	if p.path == "" {
		return pathZero
	}
	return p.path
}

// Prioritized is a classifier that says where in a chain it wants to run. Any
// other has the zero Priority. NewChain asks once.
type Prioritized interface {
	Classifier
	Priority() Priority
}

// WithPriority returns the classifier with another priority. It is how a built-in
// one runs elsewhere. Nil stays nil.
func WithPriority(c Classifier, p Priority) Classifier {
	if c == nil {
		return nil
	}
	return ranked{c, p}
}

// ranked is a classifier with a priority that is not its own.
type ranked struct {
	Classifier
	priority Priority
}

func (r ranked) Priority() Priority { return r.priority }

func priorityOf(c Classifier) Priority {
	if p, ok := c.(Prioritized); ok {
		return p.Priority()
	}
	return Priority{}
}
