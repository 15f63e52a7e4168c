package sim

import (
	"slices"
	"time"
)

// count returns how many of the sorted instants are in a window.
func count(sorted []time.Duration, w Window) int {
	first, _ := slices.BinarySearch(sorted, w.From)
	last, _ := slices.BinarySearch(sorted, w.To)
	return last - first
}
