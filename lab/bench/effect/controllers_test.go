//go:build long

package effect

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

var (
	rows  = flag.String("rows", "", "the rows of the table of controllers to play, as a regular expression, instead of the few with bounds")
	first = flag.Uint64("first", 1, "the first seed of the table of controllers")
	ofSDK = flag.Uint64("sdk", 0, "how many of the seeds to play the SDK's adaptive mode with too, which takes minutes for each at high rates")
)

// row is a scenario of the table, and what its third figure is: seconds until goodput is 90 % of R, Jain's
// index of the clients, or the share of the last client, which joins late.
type row struct {
	scenario
	of    float64 // R: what goodput is a share of
	third string
}

const (
	none    = ""
	seconds = "s to 0.9 R"
	jain    = "Jain, least share"
	ofLast  = "share of the last client"
)

// figures are the figures of a row, as means over its runs. A share of a client is 1 if it gets as much as each other.
type figures struct{ goodput, throttled, third, least float64 }

// add adds a run to a mean of n.
func (f *figures) add(run figures, n uint64) {
	f.goodput, f.throttled = f.goodput+run.goodput/float64(n), f.throttled+run.throttled/float64(n)
	f.third, f.least = f.third+run.third/float64(n), f.least+run.least/float64(n)
}

// lone is one client with a limit for itself, which offers five times of it.
func lone(name string, rate, burst float64, change ...func(r *row)) row {
	r := shared(name, 1, rate, burst)
	r.Workers, r.third = 100, none
	if rate < 50 {
		r.Workers = 10
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

// shared are several clients with a limit together.
func shared(name string, clients int, rate, burst float64, change ...func(r *row)) row {
	r := row{of: rate, third: jain}
	r.name, r.Clients, r.Workers, r.Offered = name, clients, 10, 5*rate
	r.Rate, r.Burst, r.Latency = rate, max(1, burst), [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond}
	settle := time.Duration(max(90, 60/rate)) * time.Second
	r.Measured = sim.Window{From: settle, To: settle + time.Duration(max(120, 400/rate))*time.Second}
	r.Duration = r.Measured.To
	for _, c := range change {
		c(&r)
	}
	return r
}

// times changes the limit after two minutes.
func times(by float64) func(r *row) {
	return func(r *row) {
		r.change(2*time.Minute, func(now *sim.Conditions) { now.Rate, now.Burst = by*r.Rate, max(1, by*r.Burst) })
		r.Offered *= max(1, by)
		r.Phases[0].Offered = r.Offered
		r.Measured = sim.Window{From: 2 * time.Minute, To: 4 * time.Minute}
		r.of, r.third, r.Duration = by*r.Rate, seconds, r.Measured.To
	}
}

// tableOfControllers are the rows. A burst is in requests.
func tableOfControllers() (all []row) {
	for _, rate := range []float64{0.5, 1, 2, 5, 10, 50} {
		all = append(all, lone(fmt.Sprintf("R %v, burst of one", rate), rate, 1))
	}
	for _, rate := range []float64{2, 5, 10, 50, 100, 500, 1000} {
		all = append(all, lone(fmt.Sprintf("R %v, burst 1 s", rate), rate, rate))
	}
	for _, rate := range []float64{50, 500} {
		all = append(all, lone(fmt.Sprintf("R %v, burst 0.1 s", rate), rate, rate/10))
	}
	for _, burst := range []float64{2, 20} {
		all = append(all, lone(fmt.Sprintf("R 10, burst %v, as nginx has it", burst), 10, burst+1))
	}
	for _, rate := range []float64{50, 100, 500, 1000} {
		all = append(all, lone(fmt.Sprintf("R %v, latency 50-300 ms", rate), rate, rate, func(r *row) {
			r.Latency, r.Workers = [2]time.Duration{50 * time.Millisecond, 300 * time.Millisecond}, int(max(100, rate/2))
		}))
	}
	for _, rate := range []float64{5, 50, 500} {
		all = append(all, lone(fmt.Sprintf("R %v, windows of a second", rate), rate, rate, func(r *row) {
			for at := time.Duration(0); at < r.Duration; at += time.Second {
				full, counting := r.Conditions, r.Conditions
				full.Rate, counting.Rate = 1e9, 1e-9
				r.Phases = append(r.Phases, sim.Phase{From: at, Conditions: full}, sim.Phase{From: at + time.Microsecond, Conditions: counting})
			}
		}))
	}
	for _, rate := range []float64{5, 50, 500} {
		for _, share := range []float64{0.005, 0.02, 0.1} {
			all = append(all, lone(fmt.Sprintf("R %v, %v %% throttled at random", rate, 100*share), rate, rate, func(r *row) { r.Throttle = share }))
		}
	}
	for _, rate := range []float64{50, 500} {
		all = append(all,
			lone(fmt.Sprintf("R %v, demand 1.05 R", rate), rate, rate, func(r *row) { r.Offered = 1.05 * rate }),
			lone(fmt.Sprintf("R %v, demand 10 s on, 10 s off", rate), rate, rate, func(r *row) {
				for at := 10 * time.Second; at < r.Duration; at += 20 * time.Second {
					r.change(at, func(now *sim.Conditions) { now.Offered = 0 })
					r.change(at+10*time.Second, func(*sim.Conditions) {})
				}
				r.of = rate / 2
			}))
	}
	for _, rate := range []float64{5, 50, 500} {
		all = append(all, lone(fmt.Sprintf("R %v, outage of 5 s", rate), rate, rate, outageOf(5*time.Second)))
	}
	for _, by := range []float64{2, 10, 0.5} {
		for _, rate := range []float64{1, 2, 5, 10, 50, 500} {
			if by == 2 || by == 10 && rate >= 5 && rate <= 50 || by == 0.5 && rate >= 5 {
				all = append(all, lone(fmt.Sprintf("R %v becomes %v", rate, by*rate), rate, rate, times(by)))
			}
		}
	}
	for _, c := range []struct {
		clients     int
		rate, burst float64
	}{{2, 100, 100}, {10, 100, 100}, {100, 100, 100}, {3, 20, 20}, {10, 20, 20}, {30, 20, 20}, {2, 100, 1}, {10, 100, 1}} {
		all = append(all, shared(fmt.Sprintf("%d clients, R %v, burst %v", c.clients, c.rate, c.burst), c.clients, c.rate, c.burst))
	}
	joining := shared("10 clients, R 100, one joins late", 10, 100, 100)
	joining.third, joining.joins = ofLast, time.Minute
	all = append(all, joining)
	all = append(all, ofNeighbors()...)
	all = append(all, ofServices()...)
	return append(all, ofBusyMachines()...)
}

// ofNeighbors are rows of clients that share a service.
func ofNeighbors() (all []row) {
	for _, rate := range []float64{1, 2, 5, 10, 20, 100} {
		all = append(all, shared(fmt.Sprintf("2 clients, R %v, burst of one", rate), 2, rate, 1, jitter(2)))
	}
	all = append(all, shared("2 clients, R 100, burst of one", 2, 100, 1, jitter(10)))
	for _, rate := range []float64{5, 20} {
		all = append(all, shared(fmt.Sprintf("5 clients, R %v, burst 1 s", rate), 5, rate, rate))
	}
	for _, burst := range []float64{1, 100} {
		all = append(all, shared(fmt.Sprintf("8 workers beside 1, R 100, burst %v", burst), 2, 100, burst, func(r *row) {
			r.Workers, r.Offered, r.third = 8, math.Inf(1), ofLast
			r.last = func(own *sim.Scenario) { own.Workers = 1 }
		}))
	}
	return append(all, shared("hot key of 64/s, 120/s wanted, beside 180/s of R 1000", 2, 1000, 1000, func(r *row) {
		r.Workers, r.Offered, r.hot, r.of, r.third = 60, 2*180, 64, 180+64, none
		r.last = func(own *sim.Scenario) { own.Workers, own.Offered, own.Rate, own.Burst = 40, 120, 64, 64 }
	}))
}

// ofServices are rows of services that count in another way than a bucket, or answer late, or change.
func ofServices() (all []row) {
	for _, rate := range []float64{5, 50} {
		all = append(all,
			lone(fmt.Sprintf("R %v becomes %v, two minutes", rate, rate/10), rate, rate, times(0.1)),
			lone(fmt.Sprintf("R %v, outage of a minute", rate), rate, rate, outageOf(time.Minute)))
		for _, burst := range []float64{1, rate} {
			all = append(all, lone(fmt.Sprintf("R %v, burst %v, throttles take 3 s", rate, burst), rate, burst, func(r *row) {
				r.Workers, r.SlowThrottles = 100, 3*time.Second
			}))
		}
	}
	for _, latency := range []time.Duration{300 * time.Millisecond, 2 * time.Second} {
		for _, rate := range []float64{2, 5, 50} {
			all = append(all, lone(fmt.Sprintf("R %v, latency %v", rate, latency), rate, rate, func(r *row) {
				r.Latency, r.Workers = [2]time.Duration{latency * 8 / 10, latency * 12 / 10}, int(max(20, 8*rate*latency.Seconds()))
			}))
		}
	}
	for _, c := range []struct {
		rate float64
		in   time.Duration
	}{{10, time.Second}, {100, time.Second}, {1, time.Minute}, {10, time.Minute}} {
		n := int(c.rate * c.in.Seconds())
		all = append(all,
			lone(fmt.Sprintf("%d in a fixed window of %v", n, c.in), c.rate, 1, func(r *row) { r.admit = func() func(time.Time) bool { return fixed(n, c.in) } }),
			lone(fmt.Sprintf("%d in a sliding window of %v", n, c.in), c.rate, 1, func(r *row) { r.admit = func() func(time.Time) bool { return sliding(n, c.in) } }))
	}
	for _, c := range []struct{ rate, burst float64 }{{5, 5}, {20, 1}, {20, 20}, {100, 100}} {
		all = append(all, lone(fmt.Sprintf("R %v (1 +- 0.6 sin), 10 min, burst %v", c.rate, c.burst), c.rate, c.burst, func(r *row) {
			r.Offered *= 2
			for at := time.Duration(0); at < 1320*time.Second; at += time.Second {
				r.change(at, func(now *sim.Conditions) {
					now.Rate = c.rate * (1 + 0.6*math.Sin(2*math.Pi*at.Seconds()/600))
					now.Burst = max(1, c.burst*now.Rate/c.rate)
				})
			}
			r.Measured, r.Duration = sim.Window{From: 120 * time.Second, To: 1320 * time.Second}, 1320*time.Second
		}))
	}
	for _, c := range []struct{ rate, burst float64 }{{50, 100}, {50, 10}, {500, 500}} {
		all = append(all, lone(fmt.Sprintf("batches of 10, %v entries/s, burst %v", c.rate, c.burst), c.rate, c.burst, func(r *row) {
			r.batch, r.of, r.Offered = 10, c.rate/10, c.rate/2
		}))
	}
	return append(all, lone("R 3, burst 10", 3, 10), lone("R 3, burst 10, first minute", 3, 10, func(r *row) {
		r.Measured = sim.Window{To: time.Minute}
		r.Duration = r.Measured.To
	}))
}

// ofBusyMachines are rows with clients that wake up late.
func ofBusyMachines() (all []row) {
	for _, late := range []lateness{{}, {5 * time.Millisecond, 20 * time.Millisecond}, {18 * time.Millisecond, 99 * time.Millisecond}} {
		add := func(r row) {
			r.late, r.name = late, fmt.Sprintf("%s, wake-ups late by %v", r.name, late.p99)
			all = append(all, r)
		}
		known := func(rate ratelimit.Rate, burst float64) func(r *row) {
			return func(r *row) {
				r.known, r.name = adaptive.SendLimit{Ceiling: rate, Burst: burst}, fmt.Sprintf("%s, known %v:%v", r.name, rate, burst)
			}
		}
		for _, c := range []struct{ rate, burst float64 }{{5, 1}, {10, 1}, {10, 2}, {10, 20}, {50, 1}} {
			r := lone(fmt.Sprintf("R %v, burst %v", c.rate, c.burst), c.rate, c.burst)
			known(ratelimit.Rate(c.rate), c.burst)(&r)
			add(r)
			if late != (lateness{}) && c.burst == 1 {
				add(lone(fmt.Sprintf("R %v, burst %v", c.rate, c.burst), c.rate, c.burst))
				add(lone(fmt.Sprintf("R %v, burst %v", c.rate, c.burst), c.rate, c.burst, known(ratelimit.Rate(c.rate), c.burst), jitter(2)))
			}
		}
		add(lone("R 5, burst 1", 5, 1, known(10, 1)))
		add(lone("R 10, burst 2", 10, 2, known(10, 1)))
		add(lone("R 10, burst 1", 10, 1, known(10, 2)))
		add(lone("R 10 becomes 5, burst 1", 10, 1, times(0.5), known(10, 1)))
		add(lone("R 20, burst 100, 200 calls at once", 20, 100, known(20, 100), func(r *row) {
			r.Workers, r.Offered, r.of = 200, math.Inf(1), 25
			r.Measured, r.Duration = sim.Window{To: 20 * time.Second}, 20*time.Second
		}))
		add(shared("2 clients, R 10, burst 1", 2, 10, 1, known(5, 1)))
		add(shared("2 clients, R 10, burst 10", 2, 10, 10, known(5, 5)))
		add(shared("2 clients, R 10, burst 10", 2, 10, 10, known(10, 10)))
	}
	for _, rate := range []float64{50, 500} {
		for _, share := range []float64{0.005, 0.02} {
			all = append(all, lone(fmt.Sprintf("R %v, %v %% throttled at random, known", rate, 100*share), rate, rate, func(r *row) {
				r.Throttle, r.known = share, adaptive.SendLimit{Ceiling: ratelimit.Rate(rate), Burst: rate}
			}))
		}
		all = append(all, lone(fmt.Sprintf("R %v, outage of 5 s, known", rate), rate, rate, outageOf(5*time.Second), func(r *row) {
			r.known = adaptive.SendLimit{Ceiling: ratelimit.Rate(rate), Burst: rate}
		}))
	}
	return all
}

// jitter is the longest time that a request takes to the service, in milliseconds.
func jitter(ms int) func(r *row) {
	return func(r *row) {
		r.Jitter = time.Duration(ms) * time.Millisecond
		r.name = fmt.Sprintf("%s, jitter %v", r.name, r.Jitter)
	}
}

// outageOf has a service that throttles all for a time, until the end of the second minute. The minute afterwards counts.
func outageOf(d time.Duration) func(r *row) {
	return func(r *row) {
		end := 2 * time.Minute
		if d >= time.Minute {
			end += d
		}
		r.change(end-d, func(now *sim.Conditions) { now.Throttle = 1 })
		r.change(end, func(*sim.Conditions) {})
		r.Measured, r.third = sim.Window{From: end, To: end + time.Minute}, seconds
		r.Duration = r.Measured.To
	}
}

// fixed lets so many requests through in each window.
func fixed(n int, in time.Duration) func(time.Time) bool {
	var window time.Time
	passed := 0
	return func(now time.Time) bool {
		if w := now.Truncate(in); w.After(window) {
			window, passed = w, 0
		}
		passed++
		return passed <= n
	}
}

// sliding lets so many requests through in any time of this length.
func sliding(n int, in time.Duration) func(time.Time) bool {
	var passed []time.Time
	return func(now time.Time) bool {
		for len(passed) > 0 && now.Sub(passed[0]) >= in {
			passed = passed[1:]
		}
		if len(passed) >= n {
			return false
		}
		passed = append(passed, now)
		return true
	}
}

// bounds are the least goodput and the most throttles of the rows that an ordinary test plays, with the default. A third figure
// is bounded where it matters: seconds from above, shares of a client from below.
var bounds = map[string]figures{
	"R 1, burst of one":                        {goodput: 0.88, throttled: 0.045},
	"R 5, burst of one":                        {goodput: 0.9, throttled: 0.03},
	"R 5, burst 1 s":                           {goodput: 0.98, throttled: 0.03},
	"R 500, burst 1 s":                         {goodput: 0.98, throttled: 0.001},
	"R 50, latency 50-300 ms":                  {goodput: 0.98, throttled: 0.015},
	"R 50, windows of a second":                {goodput: 0.9, throttled: 0.01},
	"R 5, outage of 5 s":                       {goodput: 0.95, throttled: 0.12, third: 3},
	"R 5 becomes 10":                           {goodput: 0.95, throttled: 0.05, third: 10},
	"R 50 becomes 500":                         {goodput: 0.9, throttled: 0.01, third: 15},
	"R 50 becomes 25":                          {goodput: 0.98, throttled: 0.02, third: 3},
	"2 clients, R 2, burst of one, jitter 2ms": {goodput: 0.6, throttled: 0.45, least: 0.6},
	"10 clients, R 20, burst 20":               {goodput: 0.98, throttled: 0.24, least: 0.5},
	"hot key of 64/s, 120/s wanted, beside 180/s of R 1000":                   {goodput: 0.98, throttled: 0.02},
	"batches of 10, 500 entries/s, burst 500":                                 {goodput: 0.98, throttled: 0.02},
	"R 10, burst 1, known 10:1, jitter 2ms, wake-ups late by 99ms":            {goodput: 0.85, throttled: 0.05},
	"R 20, burst 100, 200 calls at once, known 20:100, wake-ups late by 99ms": {goodput: 0.98, throttled: 0.01},
	"R 500, 0.5 % throttled at random, known":                                 {goodput: 0.95, throttled: 0.01},
}

// TestTableOfControllers plays the table with both controllers, with -seeds from -first on, and the SDK's with -sdk of them, and
// with -v prints it: goodput as a share of R, the share of throttles, and the third figure, as means.
func TestTableOfControllers(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(*rows)
	controllers := []ratelimit.Controller{ratelimit.FindLimit, ratelimit.CutPerThrottle}
	var played []row
	left := maps.Clone(bounds)
	for _, r := range tableOfControllers() {
		_, bounded := bounds[r.name]
		delete(left, r.name)
		if *rows == "" && bounded || *rows != "" && pattern.MatchString(r.name) {
			played = append(played, r)
		}
	}
	require.Empty(t, left, "rows that do not exist")
	switch {
	case *rows == "":
		controllers = controllers[:1]
	case *seeds == 0:
		controllers = nil
	}
	columns := []string{"awsretry", "a cut for each throttle"}[:len(controllers)]
	if *ofSDK > 0 {
		columns = append(columns, "the SDK's")
	}
	text := make([]string, len(played))
	t.Cleanup(func() {
		t.Logf("\n| | %s | |\n|---|---|%s\n%s", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)), strings.Join(text, "\n"))
	})
	for i, r := range played {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			var cells []string
			for _, controller := range controllers {
				var mean figures
				for seed := range *seeds {
					mean.add(r.play(t, controller, *first+seed), *seeds)
				}
				cells = append(cells, r.cell(mean))
				if want, bounded := bounds[r.name]; bounded && controller == ratelimit.FindLimit {
					require.GreaterOrEqual(t, mean.goodput, want.goodput)
					require.LessOrEqual(t, mean.throttled, want.throttled)
					require.GreaterOrEqual(t, mean.least, want.least)
					if want.third > 0 {
						require.LessOrEqual(t, mean.third, want.third)
					}
				}
			}
			if *ofSDK > 0 {
				var mean figures
				for seed := range *ofSDK {
					mean.add(r.ofCalls(play(t, r.scenario, named(t, "aws-sdk-go-v2-adaptive"), *first+seed)), *ofSDK)
				}
				cells = append(cells, r.cell(mean))
			}
			text[i] = fmt.Sprintf("| %s | %s | %s |", r.name, strings.Join(cells, " | "), r.third)
		})
	}
}

func (r *row) cell(f figures) string {
	text := fmt.Sprintf("%.2f, %.2f %%", f.goodput, 100*f.throttled)
	if r.third != none {
		text += fmt.Sprintf(", %.2f", f.third)
	}
	if r.third == jain {
		text += fmt.Sprintf(", %.2f", f.least)
	}
	return text
}

// play plays the row in virtual time.
func (r *row) play(t *testing.T, controller ratelimit.Controller, seed uint64) figures {
	t.Helper()
	return r.ofCalls(playVirtual(t, r.scenario, seed, func(p sim.Parts) (retry.Strategy, error) {
		return adaptive.New(adaptive.Config{
			Controller: controller, Standard: standard.Config{Clock: p.Clock, Random: p.Random},
			SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return r.known },
		})
	}))
}

// ofCalls returns the figures of a run.
func (r *row) ofCalls(got *record) figures {
	successes, attempts, throttled := 0, 0, 0
	each := make([]float64, r.Clients)
	var ends []time.Duration
	for _, c := range got.calls {
		if c.Err == nil {
			ends = append(ends, c.Ended)
		}
		if !r.Measured.Has(c.Ended) {
			continue
		}
		attempts += len(c.Attempts)
		throttled += c.Throttled()
		if c.Err == nil {
			successes++
			each[c.Worker/max(r.Workers, 1)]++
		}
	}
	fair := max(float64(successes), 1) / float64(r.Clients)
	f := figures{
		goodput:   float64(successes) / (r.of * (r.Measured.To - r.Measured.From).Seconds()),
		throttled: share(throttled, attempts),
	}
	switch r.third {
	case seconds:
		slices.Sort(ends)
		f.third = (r.Duration - r.LastChange()).Seconds()
		if after := r.Settled(ends, r.LastChange()); after >= 0 {
			f.third = after.Seconds()
		}
	case jain:
		f.third, f.least = got.fairness(), slices.Min(each)/fair
	case ofLast:
		f.third = each[r.Clients-1] / fair
	}
	return f
}
