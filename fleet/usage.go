package fleet

import "time"

const (
	usageStep  = 100 * time.Millisecond
	usageSteps = 101 // ten seconds and the current step
)

// usage counts what a member sent in the last ten seconds. Its zero value has sent nothing.
type usage struct {
	start  time.Time // of step 0
	newest int64     // number of the newest step
	costs  [usageSteps]float32
}

// Add notes that an attempt was sent.
func (u *usage) Add(now time.Time, cost float64) {
	u.forward(now)
	u.costs[u.newest%usageSteps] += float32(cost)
}

// Sum returns the cost of what was sent in the window before now, ten seconds at most.
func (u *usage) Sum(now time.Time, window time.Duration) float64 {
	u.forward(now)
	sum := 0.0
	for i := range min(int64(window/usageStep), usageSteps) {
		sum += float64(u.costs[(u.newest-i+usageSteps)%usageSteps])
	}
	return sum
}

// forward begins the step of now.
func (u *usage) forward(now time.Time) {
	if u.start.IsZero() {
		u.start = now
	}
	step := int64(now.Sub(u.start) / usageStep)
	if step-u.newest >= usageSteps {
		*u = usage{start: u.start, newest: step}
	}
	for u.newest < step {
		u.newest++
		u.costs[u.newest%usageSteps] = 0
	}
}
