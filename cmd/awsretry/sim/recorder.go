package sim

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/awsretry/awsretry/retry"
)

// Bin is what happened in one of the equal parts of a run. All values are counts, not rates.
type Bin struct {
	From time.Duration
	// Offered is how many calls callers want to make, and Allowed how many requests the service allows.
	// Begun is how many calls begin. Failed calls end with an error.
	Offered, Allowed float64
	Begun, Failed    int
	// Waiting is how many calls are open at the end of the bin.
	Waiting int
	// Sent counts the attempts that reached the service. Of these Accepted succeeded and Throttled were
	// throttled.
	Sent, Accepted, Throttled int
	// Quota is the lowest quota of the clients, and SendRate the sum of their send rates, at the
	// end of the bin; NaN if no client is limited.
	Quota    int
	SendRate float64
	// Pool is the lowest pool of the clients at the end of the bin.
	Pool int
}

// recorder counts the outcomes of calls.
type recorder struct {
	bins  []Bin
	width time.Duration // of each bin but the last one

	table    string // that counts
	start    time.Time
	scenario *Scenario
	duration time.Duration
	measured Window
	within   time.Duration
	open     map[time.Duration]int // calls by their beginning
	stopped  bool                  // the run has ended
	most     int                   // calls that were open at once
	lowest   int
	emptied  time.Duration

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

// newRecorder returns a recorder of clients whose quotas start with this many tokens.
func newRecorder(start time.Time, quota int) *recorder {
	return &recorder{table: troubled, start: start, lowest: quota, emptied: -1, open: map[time.Duration]int{}}
}

// spread makes the bins of the run of a scenario. It comes before any call.
func (r *recorder) spread(s *Scenario) {
	r.duration, r.measured, r.within = s.Duration, s.Measured, s.Within
	r.width = max(time.Second, (r.duration/mostBins + time.Second - 1).Truncate(time.Second))
	for from := time.Duration(0); from < r.duration || from == 0; from += r.width {
		b := Bin{From: from, Quota: r.lowest, SendRate: math.NaN()}
		w := Window{from, min(from+r.width, r.duration)}
		b.Offered, b.Allowed = s.Wanted(w), s.Allowed(w)/(w.To-w.From).Seconds()
		r.bins = append(r.bins, b)
	}
	r.scenario = s
}

// end is when a bin ends.
func (r *recorder) end(bin int) time.Duration { return min(r.bins[bin].From+r.width, r.duration) }

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
	if r.measured.Has(at) {
		r.begun++
	}
}

// closed removes a call that began at an instant from the open ones.
func (r *recorder) closed(began time.Duration) {
	if r.open[began]--; r.open[began] == 0 {
		delete(r.open, began)
	}
	r.openCalls--
}

// ended counts a finished call.
func (r *recorder) ended(c *Call) {
	r.closed(c.Began)
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
		if latency <= r.within && r.measured.Has(c.Began) {
			r.inTime++
		}
	} else {
		r.bin(c.Ended).Failed++
	}
	if !r.measured.Has(c.Ended) {
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
		age := r.duration - began
		r.oldest = max(r.oldest, age)
		if age <= r.within && r.measured.Has(began) {
			r.undecided += calls
		}
	}
}

// observe is an observer of the strategies. Only one table counts.
func (r *recorder) observe(_ context.Context, e retry.Event) {
	if e.Operation.Resource != r.table {
		return
	}
	switch e.Kind {
	case retry.RetryScheduled, retry.RetryRefused:
		r.lowest = min(r.lowest, e.Quota)
		if errors.Is(e.Reason, retry.ErrQuotaExhausted) && r.emptied < 0 {
			r.emptied = e.Time.Sub(r.start)
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
		if i == 0 || state.pool < b.Pool {
			b.Pool = state.pool
		}
		if state.Limited {
			b.limit(state.FillRate)
		}
	}
}

// limit adds the send rate of a client.
func (b *Bin) limit(rate float64) {
	if math.IsNaN(b.SendRate) {
		b.SendRate = 0
	}
	b.SendRate += rate
}

// result returns the result of the run.
func (r *recorder) result() *Result {
	slices.Sort(r.succeeded)
	slices.Sort(r.unsuccessful)
	slices.Sort(r.successes)
	s := r.scenario
	window := Window{r.measured.From, min(r.measured.To, r.duration)}
	all := slices.Sorted(slices.Values(slices.Concat(r.succeeded, r.unsuccessful)))
	result := &Result{
		FailedShare:     ratio(r.failed, r.calls),
		NoQuotaShare:    ratio(r.noQuota, r.calls),
		NoAttemptsShare: ratio(r.noAttempts, r.calls),
		NoTimeShare:     ratio(r.failed-r.noQuota-r.noAttempts, r.calls),
		Done:            math.NaN(),
		AttemptsPerCall: ratio(r.attempts, r.calls),
		ThrottledShare:  ratio(r.throttled, r.attempts),
		LatencyP50:      quantile(r.succeeded, 50), LatencyP99: quantile(r.succeeded, 99),
		FailedP50: quantile(r.unsuccessful, 50), FailedP99: quantile(r.unsuccessful, 99),
		LatencyMax: quantile(all, 100), DelayPerCall: math.NaN(), WithinShare: math.NaN(),
		Goodput: math.NaN(), OfPossible: math.NaN(), OfLimit: math.NaN(), Offered: math.NaN(), Begun: math.NaN(), Ended: math.NaN(),
		Waiting: r.waiting, Undecided: r.undecided, Oldest: r.oldest.Seconds(), Recover: math.NaN(), Emptied: math.NaN(),
		LowestQuota: r.lowest, Duration: r.duration, Bins: r.bins, Width: r.width, Calls: r.calls,
		Succeeded: r.succeeded, Unsuccessful: r.unsuccessful,
	}
	if r.calls > 0 {
		result.DelayPerCall = r.waited.Seconds() / float64(r.calls)
	}
	if r.emptied >= 0 {
		result.Emptied = r.emptied.Seconds()
	}
	seconds := (window.To - window.From).Seconds()
	if seconds <= 0 {
		return result
	}
	if s.Calls > 0 && r.waiting == 0 && r.calls == s.Calls {
		result.Done = r.last.Seconds()
	}
	good := float64(count(r.successes, r.measured))
	result.Goodput, result.Begun, result.Ended = good/seconds, float64(r.begun)/seconds, float64(r.calls)/seconds
	wanted := float64(r.begun)
	result.Offered = s.Wanted(window) / seconds
	result.OfLimit, result.OfPossible = part(good, s.Allowed(window)), part(good, s.Capacity(window))
	switch {
	case s.Calls > 0:
		wanted, result.Offered = float64(s.Calls), math.NaN()
	case s.Workers > 0: // waiting workers would have begun more
		wanted = max(wanted, s.Wanted(window))
	}
	result.WithinShare = part(float64(r.inTime), wanted-float64(r.undecided))
	if len(s.Phases) > 0 {
		result.Recover = r.recovered()
	}
	return result
}

// quantile returns a quantile of sorted times, in seconds; NaN if there are none.
func quantile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)].Seconds()
}

// recovered returns how many seconds after the last change the successes are back at their level in
// the ten seconds before the first change, or at what is possible since then, if that is less.
func (r *recorder) recovered() float64 {
	s := r.scenario
	first := s.Phases[0].From
	before := Window{max(first-10*time.Second, 0), first}
	rate := ratio(count(r.successes, before), 1) / (before.To - before.From).Seconds()
	after := settled(r.successes, Window{s.LastChange(), s.Duration}, func(w Window) float64 {
		return min(rate*(w.To-w.From).Seconds(), s.Capacity(w))
	})
	if after < 0 || math.IsNaN(rate) {
		return math.NaN()
	}
	return after.Seconds()
}
