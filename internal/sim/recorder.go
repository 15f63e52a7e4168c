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
}

// Recorder counts what becomes of calls. It is not safe for concurrent use. Use [NewRecorder].
type Recorder struct {
	// Bins are the parts of the run. Width is how long each of them is, but for the last one.
	Bins  []Bin
	Width time.Duration

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

// NewRecorder returns a recorder of a run that takes so long, of which a window counts, with
// clients whose quota is full at first.
func NewRecorder(duration time.Duration, measured Window, quota int) *Recorder {
	r := &Recorder{duration: duration, measured: measured, lowest: quota, emptied: -1}
	r.Width = max(time.Second, (duration/mostBins + time.Second - 1).Truncate(time.Second))
	for from := time.Duration(0); from < duration; from += r.Width {
		r.Bins = append(r.Bins, Bin{From: from, Quota: quota, SendRate: math.NaN()})
	}
	return r
}

// end is when a bin ends.
func (r *Recorder) end(bin int) time.Duration { return min(r.Bins[bin].From+r.Width, r.duration) }

// bin is that of an instant; what happens at the end of the run counts for the last one.
func (r *Recorder) bin(at time.Duration) *Bin {
	return &r.Bins[min(max(int(at/r.Width), 0), len(r.Bins)-1)]
}

// Began counts a call that begins.
func (r *Recorder) Began(at time.Duration) {
	r.bin(at).Offered++
	r.open++
	r.most = max(r.most, r.open)
}

// Ended counts a call that has ended.
func (r *Recorder) Ended(c *Call) {
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

// Observe is an observer of the strategies.
func (r *Recorder) Observe(ctx context.Context, e retry.Event) {
	switch e.Kind {
	case retry.RetryScheduled, retry.RetryRefused:
		r.lowest = min(r.lowest, e.Quota)
		if errors.Is(e.Reason, retry.ErrQuotaExhausted) && r.emptied < 0 {
			r.emptied = e.Time.Sub(start())
		}
	case retry.SendWaitEnded:
		if n := notedOf(ctx); n != nil {
			n.sendWait += e.Delay
		}
	default: // says nothing of quota and send wait
	}
}

// sample notes the state at the end of a bin.
func (r *Recorder) sample(bin int, clients []*client) {
	b := &r.Bins[bin]
	for i, c := range clients {
		state := c.state()
		if i == 0 || state.Quota < b.Quota {
			b.Quota = state.Quota
		}
		if !state.Limited {
			continue
		}
		if math.IsNaN(b.SendRate) {
			b.SendRate = 0
		}
		b.SendRate += state.FillRate
	}
}

func (r *Recorder) result(s *Scenario) *Result {
	slices.Sort(r.latencies)
	slices.Sort(r.successes)
	result := &Result{
		Goodput:         float64(count(r.successes, r.measured)) / (r.measured.To - r.measured.From).Seconds(),
		FailedShare:     ratio(r.failed, r.calls),
		NoQuotaShare:    ratio(r.noQuota, r.calls),
		AttemptsPerCall: ratio(r.attempts, r.calls),
		ThrottledShare:  ratio(r.throttled, r.attempts),
		LatencyP50:      NaN(), LatencyP99: NaN(), LatencyMax: NaN(), DelayPerCall: NaN(),
		Recover: NaN(), Emptied: NaN(),
		LowestQuota: r.lowest, Bins: r.Bins, Width: r.Width, Longest: r.longest, Calls: r.calls,
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
		if after := s.Settled(r.successes, s.LastChange()); after >= 0 {
			result.Recover = after.Seconds()
		}
	}
	return result
}
