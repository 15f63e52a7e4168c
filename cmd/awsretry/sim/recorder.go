package sim

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/retry"
)

// Bin is what happened in one of the equal parts of a run. All values but Allowed are counts, not rates.
type Bin struct {
	From time.Duration
	// Offered is how many calls callers want to make, and Allowed how many requests a second the service allows.
	// Begun is how many calls begin. Failed calls end with an error.
	Offered, Allowed float64
	Begun, Failed    int
	// Waiting is how many calls are open at the end of the bin.
	Waiting int
	// Sent counts the attempts that reached the service. Of these Accepted succeeded and Throttled were
	// throttled.
	Sent, Accepted, Throttled int
	// Quota is the lowest quota of the clients, and SendRate the sum of their send rates, at the
	// end of the bin; zero if no client is limited.
	Quota    int
	SendRate float64
}

// recorder counts the outcomes of calls.
type recorder struct {
	*Scenario

	bins    []Bin
	width   time.Duration         // of each bin but the last one
	open    map[time.Duration]int // calls by their beginning
	stopped bool                  // the run has ended
	most    int                   // calls that were open at once
	lowest  int
	emptied float64

	calls, failed, attempts, throttled int
	noQuota, noAttempts                int           // calls that failed for it
	last                               time.Duration // the end of the last call
	openCalls, begun, inTime           int
	waiting, undecided                 int           // calls at the end
	oldest                             time.Duration // the age of the oldest of them
	waited                             time.Duration
	succeeded, unsuccessful            []time.Duration // the latencies
	successes                          []time.Duration // the ends, of the whole run
}

// mostBins is the maximum number of bins.
const mostBins = 100

// newRecorder returns a recorder for the run of a scenario with clients whose quotas start with this many tokens.
func newRecorder(s *Scenario, quota int) *recorder {
	r := &recorder{Scenario: s, lowest: quota, emptied: math.NaN(), open: map[time.Duration]int{}}
	r.width = max(time.Second, (s.Duration/mostBins + time.Second - 1).Truncate(time.Second))
	for from := time.Duration(0); from < s.Duration || from == 0; from += r.width {
		w := Window{from, min(from+r.width, s.Duration)}
		r.bins = append(r.bins, Bin{From: from, Quota: quota, Offered: s.Wanted(w), Allowed: s.Allowed(w) / (w.To - w.From).Seconds()})
	}
	return r
}

// end is when a bin ends.
func (r *recorder) end(bin int) time.Duration { return min(r.bins[bin].From+r.width, r.Duration) }

// bin returns the bin of an instant; the end of the run counts for the last bin.
func (r *recorder) bin(at time.Duration) *Bin {
	return &r.bins[min(max(int(at/r.width), 0), len(r.bins)-1)]
}

// began counts a call that begins.
func (r *recorder) began(at time.Duration) {
	r.bin(at).Begun++
	r.open[at]++
	r.openCalls++
	r.most = max(r.most, r.openCalls)
	if r.Measured.Has(at) {
		r.begun++
	}
}

// ended counts a finished call.
func (r *recorder) ended(c *Call) {
	if r.open[c.Began]--; r.open[c.Began] == 0 {
		delete(r.open, c.Began)
	}
	r.openCalls--
	r.last = c.Ended
	if r.stopped { // with the run, not by itself
		return
	}
	for _, a := range c.Attempts {
		b := r.bin(a.Sent)
		b.Sent++
		switch {
		case a.Throttled:
			b.Throttled++
		case a.Err == nil:
			b.Accepted++
		}
	}
	latency := c.Ended - c.Began
	if c.Err == nil {
		r.successes = append(r.successes, c.Ended)
		if latency <= r.Within && r.Measured.Has(c.Began) {
			r.inTime++
		}
	} else {
		r.bin(c.Ended).Failed++
	}
	if !r.Measured.Has(c.Ended) {
		return
	}
	r.calls++
	r.attempts += len(c.Attempts)
	r.throttled += c.Throttled()
	r.waited += c.Waited()
	if c.Err != nil {
		r.failed++
		r.unsuccessful = append(r.unsuccessful, latency)
	} else {
		r.succeeded = append(r.succeeded, latency)
	}
	switch {
	case errors.Is(c.Err, retry.ErrQuotaExhausted):
		r.noQuota++
	case errors.Is(c.Err, retry.ErrAttemptsExhausted):
		r.noAttempts++
	}
}

// stop notes the calls that are open at the end of the run. Later ends do not count.
func (r *recorder) stop() {
	r.stopped, r.waiting = true, r.openCalls
	for began, calls := range r.open {
		age := r.Duration - began
		r.oldest = max(r.oldest, age)
		if age <= r.Within && r.Measured.Has(began) {
			r.undecided += calls
		}
	}
}

// observe is an observer of the strategies.
func (r *recorder) observe(_ context.Context, e retry.Event) {
	switch e.Kind {
	case retry.RetryScheduled, retry.RetryRefused:
		r.lowest = min(r.lowest, e.Quota)
		if errors.Is(e.Reason, retry.ErrQuotaExhausted) && math.IsNaN(r.emptied) {
			r.emptied = e.Time.Sub(start()).Seconds()
		}
	default: // has no quota
	}
}

// sample notes the state of the clients and how many calls wait, at the end of a bin.
func (r *recorder) sample(bin int, clients []*client) {
	b := &r.bins[bin]
	b.Waiting = r.openCalls
	for i, c := range clients {
		state := c.state()
		if i == 0 || state.Quota < b.Quota {
			b.Quota = state.Quota
		}
		if state.Limited {
			b.SendRate += state.FillRate
		}
	}
}

// result returns the result of the run of clients with this plan.
func (r *recorder) result(plan retry.Plan) *Result {
	slices.Sort(r.succeeded)
	slices.Sort(r.unsuccessful)
	slices.Sort(r.successes)
	window := Window{r.Measured.From, min(r.Measured.To, r.Duration)}
	seconds := max(0, (window.To - window.From).Seconds())
	good := float64(count(r.successes, r.Measured))
	f := Figures{
		FailedShare:     part(r.failed, r.calls),
		ThrottledShare:  part(r.throttled, r.attempts),
		LatencyP50:      quantile(r.succeeded, 50),
		LatencyP99:      quantile(r.succeeded, 99),
		Offered:         part(r.Wanted(window), seconds),
		Begun:           part(float64(r.begun), seconds),
		Goodput:         part(good, seconds),
		Requests:        part(float64(r.attempts), seconds),
		OfLimit:         part(good, r.Allowed(window)),
		OfPossible:      part(good, r.Capacity(window)),
		Waiting:         float64(r.waiting),
		Oldest:          math.NaN(),
		Done:            math.NaN(),
		NoQuotaShare:    part(r.noQuota, r.calls),
		NoAttemptsShare: part(r.noAttempts, r.calls),
		NoTimeShare:     part(r.failed-r.noQuota-r.noAttempts, r.calls),
		Undecided:       float64(r.undecided),
		AttemptsPerCall: part(r.attempts, r.calls),
		DelayPerCall:    part(r.waited.Seconds(), float64(r.calls)),
		LatencyMax:      quantile(r.succeeded, 100),
		FailedP50:       quantile(r.unsuccessful, 50),
		FailedP99:       quantile(r.unsuccessful, 99),
		FailedMax:       quantile(r.unsuccessful, 100),
		Recover:         r.recovered(),
		LowestQuota:     float64(r.lowest),
		Emptied:         r.emptied,
		Drain:           drainPoint(plan, plan.RetryCost),
		DrainTimeouts:   drainPoint(plan, plan.TimeoutCost),
		DrainThrottling: drainPoint(plan, plan.ThrottlingCost),
	}
	if r.waiting > 0 {
		f.Oldest = r.oldest.Seconds()
	}
	wanted := float64(r.begun)
	switch {
	case r.Calls > 0:
		wanted, f.Offered = float64(r.Calls), math.NaN()
	case r.Workers > 0: // waiting workers would have begun more
		wanted = max(wanted, r.Wanted(window))
	}
	if r.Calls > 0 && r.waiting == 0 && r.calls == r.Calls {
		f.Done = r.last.Seconds()
	}
	f.WithinShare = part(float64(r.inTime), wanted-float64(r.undecided))
	return &Result{
		Figures: f, Calls: r.calls, Ended: part(float64(r.calls), seconds),
		Succeeded: r.succeeded, Unsuccessful: r.unsuccessful, Width: r.width, Bins: r.bins,
	}
}

// drainPoint returns a drain point with as many digits as processors agree on.
func drainPoint(plan retry.Plan, cost int) float64 {
	if plan.MaxAttempts <= 1 {
		return math.NaN()
	}
	return math.Round(1e4*forecast.DrainPoint(plan, cost)) / 1e4
}

// recovered returns how many seconds after the last change the successes are back at their level in
// the ten seconds before the first change, or at what is possible since then, if that is less.
func (r *recorder) recovered() float64 {
	if len(r.Phases) == 0 {
		return math.NaN()
	}
	first := r.Phases[0].From
	before := Window{max(first-10*time.Second, 0), first}
	rate := float64(count(r.successes, before)) / (before.To - before.From).Seconds()
	after := settled(r.successes, Window{r.LastChange(), r.Duration}, func(w Window) float64 {
		return min(rate*(w.To-w.From).Seconds(), r.Capacity(w))
	})
	if after < 0 {
		return math.NaN()
	}
	return after.Seconds()
}
