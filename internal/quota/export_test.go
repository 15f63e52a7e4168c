package quota

import "time"

// Until returns how long the refill takes to reach cost tokens if no caller takes or adds any.
func (q *Quota) Until(cost int) time.Duration {
	return q.refill.until(q.clock.Now(), int64(cost)-int64(q.Available()))
}
