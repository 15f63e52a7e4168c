//go:build long

package effect

import (
	"flag"
	"fmt"
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
	rows     = flag.String("rows", "^$", "the rows of the table of controllers to play, as a regular expression")
	first    = flag.Uint64("first", 1, "the first seed of the table of controllers")
	withSDK  = flag.Bool("sdk", false, "play the SDK's adaptive mode too, where the limit is at most 100 a second")
	joinedAt = time.Minute
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
	jain    = "Jain"
	joins   = "share of one that joins"
)

// figures3 are the figures of a row, as means over its runs.
type figures3 struct{ goodput, throttled, third float64 }

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
func shared(name string, clients int, rate, burst float64) row {
	r := row{of: rate, third: jain}
	r.name, r.Clients, r.Workers, r.Offered = name, clients, 10, 5*rate
	r.Rate, r.Burst, r.Latency = rate, max(1, burst), [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond}
	settle := time.Duration(max(90, 60/rate)) * time.Second
	r.Measured = sim.Window{From: settle, To: settle + time.Duration(max(120, 400/rate))*time.Second}
	r.Duration = r.Measured.To
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
		all = append(all, lone(fmt.Sprintf("R %v, outage of 5 s", rate), rate, rate, func(r *row) {
			r.change(115*time.Second, func(now *sim.Conditions) { now.Throttle = 1 })
			r.change(2*time.Minute, func(*sim.Conditions) {})
			r.Measured, r.third = sim.Window{From: 2 * time.Minute, To: 3 * time.Minute}, seconds
			r.Duration = r.Measured.To
		}))
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
	joining.third = joins
	return append(all, joining)
}

// TestTableOfControllers plays the table with the default and with Hold, with -seeds from -first on, and with
// -v prints it: goodput as a share of R, the share of throttles, and the third figure, as means.
func TestTableOfControllers(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(*rows)
	if *rows == "" {
		pattern = regexp.MustCompile("")
	}
	controllers := []ratelimit.Controller{ratelimit.CutPerEvent, ratelimit.Hold}
	var played []row
	for _, r := range tableOfControllers() {
		if pattern.MatchString(r.name) {
			played = append(played, r)
		}
	}
	text := make([]string, len(played))
	t.Cleanup(func() {
		t.Log("\n| | CUBIC | Hold | |\n|---|---|---|---|\n" + strings.Join(text, "\n"))
	})
	for i, r := range played {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			var cells []string
			for _, controller := range controllers {
				var mean figures3
				for seed := range *seeds {
					f := r.play(t, controller, *first+seed)
					n := float64(*seeds)
					mean.goodput, mean.throttled, mean.third = mean.goodput+f.goodput/n, mean.throttled+f.throttled/n, mean.third+f.third/n
				}
				cells = append(cells, r.cell(mean))
			}
			if *withSDK && r.Rate <= 100 && r.third != joins && r.Clients <= 10 && r.Burst < 1e6 {
				cells = append(cells, r.cell(r.ofCalls(play(t, r.scenario, named(t, "aws-sdk-go-v2-adaptive"), *first))))
			}
			text[i] = fmt.Sprintf("| %s | %s | %s |", r.name, strings.Join(cells, " | "), r.third)
		})
	}
}

func (r *row) cell(f figures3) string {
	text := fmt.Sprintf("%.2f, %.2f %%", f.goodput, 100*f.throttled)
	if r.third != none {
		text += fmt.Sprintf(", %.2f", f.third)
	}
	return text
}

// play plays the row in virtual time.
func (r *row) play(t *testing.T, controller ratelimit.Controller, seed uint64) figures3 {
	t.Helper()
	late := time.Duration(0)
	if r.third == joins {
		late = joinedAt
	}
	return r.ofCalls(playVirtual(t, r.scenario, seed, late, func(p sim.Parts) (retry.Strategy, error) {
		return adaptive.New(adaptive.Config{Controller: controller, Standard: standard.Config{Clock: p.Clock, Random: p.Random}})
	}))
}

// ofCalls returns the figures of a run.
func (r *row) ofCalls(got *record) figures3 {
	successes, attempts, throttled, last := 0, 0, 0, 0
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
			if c.Worker/max(r.Workers, 1) == r.Clients-1 {
				last++
			}
		}
	}
	f := figures3{
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
		f.third = got.fairness()
	case joins:
		f.third = float64(last*r.Clients) / math.Max(float64(successes), 1)
	}
	return f
}

// TestSettlesAtTheRateOfTheService is the proof that adaptive mode finds the rate of a service, stays there, and follows
// it. Hold may be 0.05 R below the target.
func TestSettlesAtTheRateOfTheService(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate    float64
		burst   time.Duration
		workers int
		then    float64 // the rate from the 30th second on

		goodput, throttled float64 // what it has to reach
	}{
		{5, time.Second, 10, 5, 0.97, 0.10},
		{5, short, 10, 5, 0.70, 0.10},
		{50, time.Second, 10, 50, 0.95, 0.02},
		{50, short, 10, 50, 0.95, 0.02},
		{50, time.Second, 100, 50, 0.95, 0.02},
		{50, short, 100, 50, 0.95, 0.02},
		{500, time.Second, 100, 500, 0.95, 0.02},
		{500, short, 100, 500, 0.95, 0.02},
		{5, time.Second, 10, 10, 0.97, 0.10},
		{5, short, 10, 10, 0.70, 0.10},
		{5, time.Second, 10, 2.5, 0.97, 0.25},
		{5, short, 10, 2.5, 0.60, 0.25},
		{50, time.Second, 100, 25, 0.95, 0.02},
		{50, time.Second, 100, 100, 0.95, 0.02},
		{50, short, 100, 25, 0.95, 0.02},
		{50, short, 100, 100, 0.95, 0.02},
		{50, time.Second, 10, 25, 0.95, 0.02},
		{50, time.Second, 10, 100, 0.95, 0.02},
		{500, time.Second, 100, 250, 0.95, 0.02},
		{500, short, 100, 250, 0.95, 0.02},
		{500, time.Second, 100, 1000, 0.93, 0.02},
		{500, short, 100, 1000, 0.93, 0.02},
	} {
		s := steady(c.rate, c.burst, 1, c.workers)
		if c.then != c.rate {
			s.change(settled, func(now *sim.Conditions) { now.Rate = c.then })
			s.measure(settled + time.Minute)
		}
		for _, by := range []struct {
			name                     string
			goodput, throttled, wait float64 // in the time that the service needs to serve every worker once
		}{
			{"awsretry-adaptive", c.goodput, c.throttled, 3},
			{"awsretry-adaptive-hold", c.goodput - 0.05, min(c.throttled, 0.05), 1.7},
		} {
			got := play(t, s, named(t, by.name), 1).metrics()
			t.Logf("%s, then %v, %s: %.3f R, %.2f %%, %v", s.String(), c.then, by.name, got.goodput, 100*got.throttled, got.initial)
			require.GreaterOrEqual(t, got.goodput, by.goodput)
			require.LessOrEqual(t, got.throttled, by.throttled)
			require.LessOrEqual(t, got.initial.Seconds()*c.then/float64(c.workers), by.wait)
			require.LessOrEqual(t, got.wakeUpsPerDelay, 1.1)
		}
	}
}
