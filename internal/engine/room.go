package engine

import (
	"sync/atomic"
	"time"
)

// room estimates how long the attempts of a scope take, so that no send token is spent on an attempt
// that the deadline of its caller cuts short. It is the estimate of round-trip times of RFC 6298,
// section 2, which begins without a deviation here, and adds it twice instead of four times: a caller
// that is refused for nothing has lost its call.
//
// It is safe for concurrent use. Where two attempts end at once, one of them may not count.
type room struct{ mean, deviation atomic.Int64 }

// longest is as long as an attempt can be; sums of a few do not overflow.
const longest = int64(24 * time.Hour)

// note counts an attempt that has succeeded.
func (r *room) note(took time.Duration) {
	last, mean, deviation := min(max(int64(took), 0), longest), r.mean.Load(), r.deviation.Load()
	if mean == 0 {
		r.mean.Store(last)
		return
	}
	r.deviation.Store(deviation + (max(last-mean, mean-last)-deviation)/4)
	r.mean.Store(mean + (last-mean)/8)
}

// needed returns the time that most attempts take; 0 if it is not known.
func (r *room) needed() time.Duration {
	return time.Duration(r.mean.Load() + 2*r.deviation.Load())
}
