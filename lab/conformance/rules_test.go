package conformance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/testdata"
)

// unseen are the rules that the documentation of the package says no case can show.
func unseen() []string { return []string{"A12", "A13", "C09", "C10"} }

func TestEveryRuleSaysWhyItMatters(t *testing.T) {
	t.Parallel()
	b, err := read(testdata.Cases)
	require.NoError(t, err)
	for _, id := range b.ids() {
		require.NotEmpty(t, b.wording[id], id)
		require.NotZero(t, aspects(id), id)
		require.Equal(t, slices.Contains(unseen(), id), matters()[id] == "", id)
	}
	require.Len(t, matters(), len(b.ids())-len(unseen()))
}

func TestRulesAreInOrder(t *testing.T) {
	t.Parallel()
	rules := []string{"C01", "A02", "S14b", "S02", "S14", "S17", "A01", "S01"}
	slices.SortFunc(rules, inOrder)
	require.Equal(t, []string{"S01", "S02", "S14", "S14b", "S17", "A01", "A02", "C01"}, rules)
}
