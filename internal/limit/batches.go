package limit

import (
	"math"
	"sync/atomic"
)

const (
	// wholeBatch is all entries of a batch in Batches.missing, and oneEntry is one in Batches.most.
	wholeBatch, oneEntry = 1 << 20, 1 << 8
	// afterQuiet is how many answers without throttles it takes until a part of a batch is a throttle again.
	afterQuiet = 4
	// mostEntries is the largest batch: products of it and the numbers above fit into an int64.
	mostEntries = math.MaxInt32
	// forgetting is the part of the way by which an answer moves the most that a service serves at once.
	forgetting = 16
)

// Batches judges answers in which a service has throttled entries of a batch. A service whose burst is
// smaller than the batch does so at any rate, and a cut for each answer would bring the rate down to
// nothing. So an answer counts for the entries that it lacks of the most that the service serves at once.
//
// The zero value knows nothing. It is safe for concurrent use. If two answers come at once, one of them may not count.
type Batches struct {
	most    atomic.Int64 // that the service serves at once; 0 if not known
	missing atomic.Int64 // until lacks add up to a throttle
}

// Throttled reports whether an answer counts as a throttle, in which so many entries of a batch were
// throttled; entries is zero for a call without a batch. After four answers without throttled entries a lack is a
// throttle. Otherwise lacks add up until they make a whole batch.
func (b *Batches) Throttled(throttled, entries int) bool {
	throttled = min(throttled, mostEntries)
	size := int64(min(max(throttled, entries, 0), mostEntries))
	served, known, missing := size-int64(throttled), b.most.Load(), b.missing.Load()
	most := size
	if known > 0 {
		most = min(size, max((known+oneEntry/2)/oneEntry, 1))
	} else {
		known = served * oneEntry
	}
	switch lack := most - served; {
	case lack > 0:
		b.most.Store(known - (known-served*oneEntry)/forgetting)
		share := (lack*wholeBatch + most - 1) / most // rounded up, so that whole batches are reached
		if b.missing.Add(-share) > 0 {
			return false
		}
		b.missing.Add(wholeBatch)
		return true
	case throttled > 0: // The burst is smaller than the batch, so that lacks come little by little.
		b.missing.Store(min(max(missing, 0)+wholeBatch/afterQuiet, wholeBatch))
	case missing > 0 && (size == 0 || size*oneEntry >= known): // a smaller batch says nothing
		b.missing.Store(missing - wholeBatch/afterQuiet)
	}
	b.most.Store(max(known, served*oneEntry))
	return false
}
