//go:build long

package effect

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// variants are contenders as [sim.Play] takes them.
func variants() []sim.Variant {
	standardMode := func(b retry.Behavior) func(sim.Parts) (retry.Strategy, error) {
		return func(p sim.Parts) (retry.Strategy, error) {
			return standard.New(standard.Config{Behavior: b, Clock: p.Clock, Random: p.Random, Observer: p.Observer})
		}
	}
	adaptiveMode := func(b retry.Behavior) func(sim.Parts) (retry.Strategy, error) {
		return func(p sim.Parts) (retry.Strategy, error) {
			return adaptive.New(adaptive.Config{
				Standard: standard.Config{Behavior: b, Clock: p.Clock, Random: p.Random, Observer: p.Observer},
			})
		}
	}
	return []sim.Variant{
		{Name: "awsretry-standard", New: standardMode(retry.V21)},
		{Name: "awsretry-standard-2.0", New: standardMode(retry.V20)},
		{Name: "awsretry-adaptive", New: adaptiveMode(retry.V21)},
		{Name: "awsretry-adaptive-2.0", New: adaptiveMode(retry.V20)},
	}
}

// TestSimulatedRunsAreTheSameInBothWorlds holds that the calls in a bubble of testing/synctest, on
// the clock of programs, are those in virtual time, and that the figures of [sim.Play] are
// theirs. No tolerance is needed: events hardly ever fall on the same instant, so that the
// order of goroutines decides nothing with these seeds; and both worlds begin at a whole
// second, so that the windows of the measured rate are the same.
func TestSimulatedRunsAreTheSameInBothWorlds(t *testing.T) {
	t.Parallel()
	played := []scenario{
		steady(50, time.Second, 1, 100), steady(50, short, 1, 100), steady(50, time.Second, 10, 10),
		halves(50), outage(50),
	}
	for _, s := range played {
		s.Duration -= 40 * time.Second // of the minute that counts: 20 s are enough
		s.Measured.To = s.Duration
		for _, v := range variants() {
			t.Run(s.String()+"/of="+v.Name, func(t *testing.T) {
				t.Parallel()
				inBubble := play(t, s, named(t, v.Name), 1)
				want, got := texts(inBubble), texts(playVirtual(t, s, 1, v.New))
				for i := range want {
					if want[i] != got[i] { // so that a failure shows one text, not all of them
						require.Equal(t, want[i], got[i])
					}
				}

				result, err := sim.Play(t.Context(), s.Scenario, v, 1)
				require.NoError(t, err)
				m := inBubble.metrics()
				require.Equal(t, [...]float64{m.failed, m.throttled}, [...]float64{result.FailedShare, result.ThrottledShare})
				require.InEpsilon(t, m.goodput*s.Capacity(s.Measured), result.Goodput*(s.Measured.To-s.Measured.From).Seconds(), 1e-12)
			})
		}
	}
}

// playVirtual is play in virtual time, with these strategies.
func playVirtual(t *testing.T, s scenario, seed uint64, make func(sim.Parts) (retry.Strategy, error)) *record {
	t.Helper()
	r := &record{scenario: s}
	clk := sim.NewClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	start := clk.Now()
	var world sim.World
	var client sim.Client
	loads := s.loads(contender{}, seed, start, &r.calls)
	for i, load := range loads {
		if client == nil || s.hot == 0 {
			own := clk.Beside()
			if world = own; s.late != (lateness{}) {
				world = busyWorld{own, s.late.draws(seed + uint64(i))}
			}
			strategy, err := make(sim.Parts{Clock: world, Random: seeded(seed + uint64(i))})
			require.NoError(t, err)
			client = looped{strategy}
			if s.batch > 0 {
				client = batched{strategy, s.batch, load.Service, &bucket{s.Rate, s.Burst, s.Burst, start}}
			}
		}
		world, client := world, client
		begin := func() { load.Begin(t.Context(), world, client) }
		if i == s.Clients-1 && s.joins > 0 {
			clk.AfterFunc(s.joins, begin)
		} else {
			begin()
		}
	}
	for _, p := range s.Phases {
		clk.AfterFunc(p.From, func() { loads[0].Service.Change(clk.Now(), p.Conditions) })
	}
	clk.Run(start.Add(s.Duration))
	return r
}

// batched sends a batch of entries with each call. The service counts entries, and throttles those for which there is no room.
type batched struct {
	strategy retry.Strategy
	entries  int
	service  *sim.Service
	bucket   *bucket
}

func (b batched) Do(ctx context.Context, table string, attempt func(context.Context) error) error {
	batch := retry.Batch[int]{Entries: make([]int, b.entries)}
	_, err := retry.SendAll(ctx, b.strategy, retry.Operation{Resource: table}, batch,
		func(ctx context.Context, entries []int) ([]retry.Sent[int], error) {
			room := 0
			b.service.Admit = func(now time.Time) bool { // which is asked before any other task runs
				room = b.bucket.take(now, len(entries))
				return room == len(entries)
			}
			err := attempt(ctx)
			sent := make([]retry.Sent[int], len(entries))
			if err != nil {
				for i := room; i < len(sent); i++ {
					sent[i].Err = err
				}
			}
			return sent, nil
		})
	return err
}

// texts are how many calls of a run the end does not cut off, and these calls with all that
// is known of them, in the order in which they ended.
func texts(r *record) []string {
	texts := []string{""}
	for _, c := range r.calls {
		if c.Ended < r.scenario.Duration {
			texts = append(texts, fmt.Sprintf("%+v", *c))
		}
	}
	texts[0] = fmt.Sprintf("%d calls", len(texts)-1)
	return texts
}
