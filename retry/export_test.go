package retry

// LearnedScopes returns how many scopes and operations a timeout keeps times of.
func LearnedScopes(t *LearnedTimeout) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.scopes)
}
