//go:build long

package peers

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/conformance"
)

var (
	update  = flag.Bool("update", false, "write lab/conformance/peers.md")
	results = flag.String("results", "", "write the results to this file, a line for each peer and rule, and compare nothing")
)

// page is the page that the test writes and compares.
const page = "../conformance/peers.md"

// TestTable plays one peer after the other: those of the SDK set its environment and its random source.
func TestTable(t *testing.T) {
	var columns []column
	for _, p := range peers() {
		reports := make([]conformance.Report, len(p.ways))
		t.Run(p.column, func(t *testing.T) { p.play(t, reports) })
		columns = append(columns, p.with(reports))
	}
	if *results != "" {
		require.NoError(t, os.WriteFile(*results, []byte(lines(columns)), 0o600))
		return
	}
	for _, c := range columns {
		c.requireNotes(t)
	}
	for _, id := range ids(columns) {
		require.NotEmpty(t, short()[id], "the rule %s has no short wording", id)
	}
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(pageOf(columns)), 0o600))
	}
	want, err := os.ReadFile(page)
	require.NoError(t, err)
	require.True(t, string(want) == pageOf(columns), //nolint:testifylint // Equal would print both pages
		"the results have changed: run make conformance and read the difference of lab/conformance/peers.md")
}

// column is a peer with its results.
type column struct {
	peer

	adaptive bool
	rules    map[string]verdict
}

// verdict is the result of a rule in all ways of a peer.
type verdict struct {
	wording, reason string
	result          conformance.Result
	// broken has for each way that breaks the rule its name and the cases.
	broken []failing
}

type failing struct {
	way   string
	cases []string
}

// play plays all ways of the peer at the same time. A peer that sets up what its ways share has one.
func (p peer) play(t *testing.T, reports []conformance.Report) {
	t.Helper()
	if p.setUp != nil {
		p.setUp(t)
	}
	for i, way := range p.ways {
		t.Run(way.Name, func(t *testing.T) {
			t.Parallel()
			reports[i] = conformance.Check(t, way)
		})
	}
}

// with returns the column of these reports.
func (p peer) with(reports []conformance.Report) column {
	c := column{peer: p, rules: map[string]verdict{}}
	for i, way := range p.ways {
		c.adaptive = c.adaptive || way.Adaptive
		for _, rule := range reports[i].Rules {
			c.rules[rule.ID] = c.rules[rule.ID].and(way.Name, rule)
		}
	}
	return c
}

// and adds what one way has shown.
func (v verdict) and(way string, rule conformance.Rule) verdict {
	if v.result == "" || weight(rule.Result) > weight(v.result) {
		v.wording, v.result, v.reason = rule.Wording, rule.Result, rule.Reason
	}
	if rule.Result == conformance.Broken {
		f := failing{way: way}
		for _, finding := range rule.Findings {
			f.cases = append(f.cases, finding.Case)
		}
		v.broken = append(v.broken, f)
	}
	return v
}

// weight says which result of two ways is that of both: a rule is kept if one way keeps it and none
// breaks it.
func weight(r conformance.Result) int {
	return slices.Index([]conformance.Result{conformance.NotAsked, conformance.NotMeant, conformance.Kept, conformance.Broken}, r)
}

// requireNotes holds the notes to the broken rules.
func (c column) requireNotes(t *testing.T) {
	t.Helper()
	for _, id := range ids([]column{c}) {
		v := c.rules[id]
		_, noted := c.notes[id]
		require.Equal(t, v.result == conformance.Broken, noted, "the note of %s on %s, which is %s: %v", c.column, id, v.result, v.broken)
	}
	for id, n := range c.notes {
		require.Contains(t, c.rules, id, "a note of %s", c.column)
		require.NotEqual(t, n.effect == "", len(n.from) == 0, "%s, %s: one of effect and from", c.column, id)
		for _, from := range n.from {
			require.NotEmpty(t, c.notes[from].effect, "%s, %s: the rule %s has no effect", c.column, id, from)
		}
	}
}

// lines returns the results for lab/scripts/sdk-changes: peer, rule, result and the broken cases, with tabs
// between.
func lines(columns []column) string {
	var b strings.Builder
	for _, c := range columns {
		for _, id := range ids([]column{c}) {
			v := c.rules[id]
			var detail []string
			for _, f := range v.broken {
				text := strings.Join(f.cases, " ")
				if len(c.ways) > 1 {
					text = f.way + ": " + text
				}
				detail = append(detail, text)
			}
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", c.column, id, v.result, strings.Join(detail, "; "))
		}
	}
	return b.String()
}

// ids returns the rules of the columns in the order of the reports.
func ids(columns []column) []string {
	found := map[string]bool{}
	for _, c := range columns {
		for id := range c.rules {
			found[id] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(x, y string) int {
		return cmp.Or(cmp.Compare(strings.Index("SAC", x[:1]), strings.Index("SAC", y[:1])), cmp.Compare(x, y))
	})
}

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
