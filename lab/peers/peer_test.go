//go:build long

package peers

import (
	"testing"

	"github.com/awsretry/awsretry/lab/conformance"
)

// peer is a retryer in the table.
type peer struct {
	// column is the title of its column, and about one line that says what it is and how it was made.
	column, about string
	// ways are the subjects of the peer. Each result of the table is that of all ways, so that a rule
	// is broken if one of them breaks it.
	ways []conformance.Subject
	// setUp prepares the test, for example its environment; nil does nothing.
	setUp func(t *testing.T)
	// notes says of each rule that is broken what a user notices, and where it is known.
	notes map[string]note
}

// note is what the table says about a broken rule.
type note struct {
	// effect is one line: the consequence for a user. It begins with a capital and ends with a full stop.
	effect string
	// from are the rules whose differences make the cases of this one come out differently; empty if it is
	// this rule. A note with from needs no effect.
	from []string
	// like is the column whose note says the same; empty if none does.
	like string
	// issue is the address of a public issue; empty if there is none.
	issue string
}

// peers are the columns of the table.
func peers() []peer {
	return append(append(append(ours(), sdk()...), wrappers()...), libraries()...)
}
