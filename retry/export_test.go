package retry

// Known is the length of the list of all operations.
func (ts *Tokens[D]) Known() int {
	ts.roster.mu.Lock()
	defer ts.roster.mu.Unlock()
	return len(ts.roster.cells)
}
