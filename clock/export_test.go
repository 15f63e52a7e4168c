package clock

import "time"

// PendingDeadlines returns how many contexts still have a deadline to come. No
// exported method tells, since a deadline is not a waiter.
func (c *Fake) PendingDeadlines() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.deadlines)
}

// Watchers returns how many calls of BlockUntil wait.
func (c *Fake) Watchers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.watchers)
}

// Contexts returns how many contexts the clock keeps for calls that wait with them.
func (c *Fake) Contexts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(len(c.ends), len(c.endOf))
}

// BlockedLimit returns the limit of Run; zero for none.
func (c *Fake) BlockedLimit() time.Duration {
	w := c.watch()
	w.stop()
	return w.limit
}
