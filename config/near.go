package config

import (
	"cmp"
	"slices"
)

const (
	maxNear       = 5   // Names that an error suggests at most.
	maxNearLength = 128 // Bytes of a name that is compared at all.
)

// nearest gives the names that look most like want, the best first: those that
// differ in case only, or in at most a third of their letters.
func nearest(want string, names []string) []string {
	if len(want) > maxNearLength {
		return nil
	}
	type match struct {
		name string
		dist int
	}
	limit := max(1, len(want)/3)
	var found []match
	lower := asciiLower(want)
	for _, name := range names {
		if d := distance(lower, asciiLower(name), limit); d <= limit {
			found = append(found, match{name, d})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.name, b.name))
	})
	var near []string
	for _, m := range found[:min(len(found), maxNear)] {
		near = append(near, m.name)
	}
	return near
}

// distance is the Levenshtein distance of two texts in bytes, or limit+1 if it
// is larger than limit.
func distance(a, b string, limit int) int {
	if len(b) > maxNearLength || max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	var row [maxNearLength + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], limit+1)
}
