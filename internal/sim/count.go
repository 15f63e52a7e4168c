package sim

import (
	"slices"
	"time"
)

// count is how many of the sorted instants are in a window.
func count(sorted []time.Duration, w Window) int {
	first, _ := slices.BinarySearch(sorted, w.From)
	last, _ := slices.BinarySearch(sorted, w.To)
	return last - first
}

// Share is a part of a whole, and 0 of nothing.
func Share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
