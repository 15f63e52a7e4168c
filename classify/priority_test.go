package classify_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// builtInPriorities from the lowest to the highest.
func builtInPriorities() []classify.Priority {
	return []classify.Priority{
		classify.StatusPriority(), classify.CodePriority(), classify.SkewPriority(),
		classify.ModeledPriority(), classify.TransportPriority(), classify.TraitsPriority(),
		{},
	}
}

func TestPrioritiesFromTheLowestToTheHighest(t *testing.T) {
	t.Parallel()
	before, after := classify.Before, classify.After
	status, code := classify.StatusPriority(), classify.CodePriority()
	sorted := []classify.Priority{
		before(before(status)), before(status), after(before(status)),
		status,
		before(after(status)), after(status), before(after(after(status))), after(after(status)), after(after(after(status))),
		before(before(before(code))), before(before(code)), before(code), before(after(before(code))), after(before(code)),
		code,
		before(after(code)), after(code),
		classify.SkewPriority(), classify.ModeledPriority(), classify.TransportPriority(), classify.TraitsPriority(),
		after(classify.TraitsPriority()), before(classify.Priority{}),
		{},
		after(classify.Priority{}),
	}
	for i, p := range sorted {
		for j, q := range sorted {
			require.Equal(t, compare(i, j), p.Compare(q), "%d and %d", i, j)
			require.Equal(t, i == j, p == q, "%d and %d", i, j)
		}
	}
}

func compare(i, j int) int {
	switch {
	case i < j:
		return -1
	case i > j:
		return 1
	}
	return 0
}

// TestPrioritiesAgreeWithAListInWhichTheyAreInserted keeps all priorities in a
// plain list, into which each new one is put right beside the one that it was made
// from, but outside of what was made from that one before.
func TestPrioritiesAgreeWithAListInWhichTheyAreInserted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		list := builtInPriorities()
		for range 60 {
			from := list[random.IntN(len(list))]
			at := slices.Index(list, from)
			made := classify.Before(from)
			if random.IntN(2) == 0 {
				made = classify.After(from)
				at++
			}
			if !slices.Contains(list, made) {
				list = slices.Insert(list, at, made)
			}
		}
		require.True(t, slices.IsSortedFunc(list, classify.Priority.Compare), "seed %d", seed)
		distinct := slices.CompactFunc(slices.Clone(list), func(a, b classify.Priority) bool { return a.Compare(b) == 0 })
		require.Len(t, distinct, len(list), "seed %d: two of them collide", seed)
	}
}

// FuzzPriority makes priorities in two arbitrary ways.
func FuzzPriority(f *testing.F) {
	f.Fuzz(func(t *testing.T, a, b []byte) {
		p, q := nested(a), nested(b)
		require.Equal(t, p == q, p.Compare(q) == 0)
		require.Equal(t, -q.Compare(p), p.Compare(q))
		for _, between := range [][3]classify.Priority{
			{classify.Before(p), p, classify.After(p)},
			{classify.Before(p), classify.After(classify.Before(p)), p},
			{p, classify.Before(classify.After(p)), classify.After(p)},
		} {
			require.Equal(t, -1, between[0].Compare(between[1]))
			require.Equal(t, -1, between[1].Compare(between[2]))
		}
		require.Equal(t, inOrder(ranks(a), ranks(b)), p.Compare(q))
	})
}

// ranks is what nested makes of the bytes, as numbers: a built-in one, then -1 for
// each step before and 1 for each step after.
func ranks(steps []byte) []int {
	if len(steps) == 0 {
		return []int{len(builtInPriorities()) - 1}
	}
	numbers := []int{int(steps[0]) % len(builtInPriorities())}
	for _, step := range steps[1:] {
		numbers = append(numbers, 2*int(step%2)-1)
	}
	return numbers
}

// inOrder compares two places in a binary tree: where one way ends, it is after all
// that turn left there and before all that turn right.
func inOrder(a, b []int) int {
	switch {
	case len(a) == 0 && len(b) == 0:
		return 0
	case len(a) == 0:
		return -b[0]
	case len(b) == 0:
		return a[0]
	case a[0] != b[0]:
		return compare(a[0], b[0])
	}
	return inOrder(a[1:], b[1:])
}

// nested makes a priority: the first byte chooses a built-in one, each further one
// a step.
func nested(steps []byte) classify.Priority {
	if len(steps) == 0 {
		return classify.Priority{}
	}
	p := builtInPriorities()[int(steps[0])%len(builtInPriorities())]
	for _, step := range steps[1:] {
		if step%2 == 0 {
			p = classify.Before(p)
		} else {
			p = classify.After(p)
		}
	}
	return p
}

func TestAClassifierKeepsTheRestOfItselfUnderAnotherPriority(t *testing.T) {
	t.Parallel()
	moved := classify.WithPriority(classify.Status(), classify.After(classify.TraitsPriority()))
	require.Equal(t, "http-status", moved.Name())
	require.Equal(t, classify.RetryAs(classify.Transient), moved.Classify(classify.Outcome{Err: statusError(503)}))
	require.Equal(t, classify.After(classify.TraitsPriority()), moved.(classify.Prioritized).Priority())
	again := classify.WithPriority(moved, classify.StatusPriority())
	require.Equal(t, classify.StatusPriority(), again.(classify.Prioritized).Priority())
	require.Nil(t, classify.WithPriority(nil, classify.StatusPriority()))
}

func TestBuiltInClassifiersHaveTheExportedPriorities(t *testing.T) {
	t.Parallel()
	for i, c := range builtIn() {
		require.Equal(t, builtInPriorities()[i], c.(classify.Prioritized).Priority(), c.Name())
	}
}
