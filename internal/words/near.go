package words

import (
	"cmp"
	"slices"
	"strings"
)

const (
	maxNames  = 5  // How many names are suggested at most.
	maxLength = 64 // Names with more bytes are not compared.
)

// Names collects the names that are most like a wanted one. Such names differ from it only in
// ASCII case, or in at most a third of its bytes.
type Names struct {
	want  string // In lower case.
	found []match
}

type match struct {
	name     string
	distance int
}

// Near returns Names for a wanted name.
func Near(want string) *Names { return &Names{want: lower(want)} }

// Add takes a name that there is.
func (n *Names) Add(name string) {
	limit := max(1, len(n.want)/3)
	if len(n.want) > maxLength || len(name) > maxLength {
		return
	}
	d := Distance(n.want, lower(name), limit)
	if d > limit {
		return
	}
	m := match{strings.Clone(name), d}
	at, known := slices.BinarySearchFunc(n.found, m, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	if !known {
		n.found = slices.Insert(n.found, at, m)
		n.found = n.found[:min(len(n.found), maxNames)]
	}
}

// Best returns up to five names, the nearest first.
func (n *Names) Best() []string {
	var names []string
	for _, m := range n.found {
		names = append(names, m.name)
	}
	return names
}

// Distance returns how many bytes of a must be changed, put in, left out or swapped with their
// neighbor to get b, or limit+1 if that is more than limit. A byte takes part in one swap at
// most (optimal string alignment).
func Distance(a, b string, limit int) int {
	if len(b) > maxLength || max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	var rows [3][maxLength + 1]int // Of the prefixes of a: two bytes shorter, one shorter, and this one.
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		lowest := row[0]
		for j := range len(b) {
			change := above[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			lowest = min(lowest, row[j+1])
		}
		if lowest > limit { // Then no row further down has less.
			return limit + 1
		}
	}
	return min(row[len(b)], limit+1)
}

func lower(name string) string {
	lower := []byte(name)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + ('a' - 'A')
		}
	}
	return string(lower)
}
