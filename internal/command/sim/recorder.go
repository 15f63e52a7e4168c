package sim

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/awsretry/awsretry/retry"
)

// Bin is what happened in a part of a run, as long as the others.
type Bin struct {
	From time.Duration
	// Offered are calls that began, Sent attempts that the service took up. Accepted ones
	// succeeded, and Throttled ones it throttled. All are numbers, not rates.
	Offered, Sent, Accepted, Throttled int
	// Quota is the lowest quota of the clients, and SendRate the sum of their send rates, at the
	// end of the bin; NaN if no client is limited.
	Quota    int
	SendRate float64
	// Pool is the lowest pool of the clients at the end of the bin.
	Pool int
}

// recorder counts what becomes of calls.
type recorder struct {
	bins  []Bin
	width time.Duration // of each bin but the last one

	table      string // that counts
	start      time.Time
	duration   time.Duration
	measured   Window
	open, most int // calls, now and at the most
	lowest     int
	emptied    time.Duration

	calls, failed, noQuota, attempts, throttled int
	waited                                      time.Duration
	latencies                                   []time.Duration
	successes                                   []time.Duration // of the whole run
	longest                                     Call
}

// mostBins is how many bins there are at most.
const mostBins = 100

// newRecorder returns a recorder of clients that have so many tokens in their quotas at first.
func newRecorder(start time.Time, quota int) *recorder {
	return &recorder{table: troubled, start: start, lowest: quota, emptied: -1}
}

// spread makes the bins of a run that takes so long, of which a window counts. It comes before any
// call.
func (r *recorder) spread(duration time.Duration, measured Window) {
	r.duration, r.measured = duration, measured
	r.width = max(time.Second, (duration/mostBins + time.Second - 1).Truncate(time.Second))
	for from := time.Duration(0); from < duration || from == 0; from += r.width {
		r.bins = append(r.bins, Bin{From: from, Quota: r.lowest, SendRate: math.NaN()})
	}
}

// end is when a bin ends.
func (r *recorder) end(bin int) time.Duration { return min(r.bins[bin].From+r.width, r.duration) }

// bin is that of an instant; what happens at the end of the run counts for the last one.
func (r *recorder) bin(at time.Duration) *Bin {
	return &r.bins[min(max(int(at/r.width), 0), len(r.bins)-1)]
}

// began counts a call that begins.
func (r *recorder) began(at time.Duration) {
	r.bin(at).Offered++
	r.open++
	r.most = max(r.most, r.open)
}

// ended counts a call that has ended.
func (r *recorder) ended(c *Call) {
	r.open--
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
	if c.Err == nil {
		r.successes = append(r.successes, c.Ended)
	}
	if !r.measured.Has(c.Ended) {
		return
	}
	r.calls++
	r.attempts += len(c.Attempts)
	r.throttled += c.Throttled()
	r.waited += c.Waited()
	r.latencies = append(r.latencies, c.Ended-c.Began)
	if c.Err != nil {
		r.failed++
	}
	if errors.Is(c.Err, retry.ErrQuotaExhausted) {
		r.noQuota++
	}
	if c.Ended-c.Began > r.longest.Ended-r.longest.Began || r.calls == 1 {
		r.longest = *c
	}
}

// observe is an observer of the strategies. Only one table counts.
func (r *recorder) observe(ctx context.Context, e retry.Event) {
	if e.Operation.Resource != r.table {
		return
	}
	switch e.Kind {
	case retry.RetryScheduled, retry.RetryRefused:
		r.lowest = min(r.lowest, e.Quota)
		if errors.Is(e.Reason, retry.ErrQuotaExhausted) && r.emptied < 0 {
			r.emptied = e.Time.Sub(r.start)
		}
	case retry.SendWaitEnded:
		if n := notedOf(ctx); n != nil {
			n.sendWait += e.Delay
		}
	default: // says nothing of quota and send wait
	}
}

// sample notes the state of the clients at the end of a bin.
func (r *recorder) sample(bin int, clients []*client) {
	b := &r.bins[bin]
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

// result is what the run came to, of a scenario or, if that is nil, of a trace.
func (r *recorder) result(s *Scenario) *Result {
	slices.Sort(r.latencies)
	slices.Sort(r.successes)
	result := &Result{
		Goodput:         math.NaN(),
		FailedShare:     ratio(r.failed, r.calls),
		NoQuotaShare:    ratio(r.noQuota, r.calls),
		AttemptsPerCall: ratio(r.attempts, r.calls),
		ThrottledShare:  ratio(r.throttled, r.attempts),
		LatencyP50:      math.NaN(), LatencyP99: math.NaN(), LatencyMax: math.NaN(), DelayPerCall: math.NaN(),
		Recover: math.NaN(), Emptied: math.NaN(),
		LowestQuota: r.lowest, Duration: r.duration, Bins: r.bins, Width: r.width, Longest: r.longest, Calls: r.calls,
	}
	if seconds := (min(r.measured.To, r.duration) - r.measured.From).Seconds(); seconds > 0 {
		result.Goodput = float64(count(r.successes, r.measured)) / seconds
	}
	if n := len(r.latencies); n > 0 {
		result.LatencyP50 = r.latencies[n/2].Seconds()
		result.LatencyP99 = r.latencies[n*99/100].Seconds()
		result.LatencyMax = r.latencies[n-1].Seconds()
		result.DelayPerCall = r.waited.Seconds() / float64(r.calls)
	}
	if r.emptied >= 0 {
		result.Emptied = r.emptied.Seconds()
	}
	if s != nil && len(s.Changes) > 0 {
		result.Recover = r.recovered(s)
	}
	return result
}

// recovered is how many seconds after the last change the successes are what they were in the ten
// seconds before the first one.
func (r *recorder) recovered(s *Scenario) float64 {
	before := Window{max(s.Changes[0].At-10*time.Second, 0), s.Changes[0].At}
	rate := float64(count(r.successes, before)) / (before.To - before.From).Seconds()
	after := settled(r.successes, Window{s.LastChange(), s.Duration}, func(w Window) float64 {
		return rate * (w.To - w.From).Seconds()
	})
	if after < 0 {
		return math.NaN()
	}
	return after.Seconds()
}
