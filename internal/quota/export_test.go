package quota

import "time"

// Until returns the wait for the timer of the first in line.
func (q *Quota) Until(now time.Time, cost int) time.Duration { return q.until(now, cost) }
