package clock

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
