package together

// Watched returns how many services are watched.
func (w *Watch) Watched() int { return len(w.services) }
