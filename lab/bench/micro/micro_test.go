package micro

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/bench/internal/cputime"
)

// Names of subjects that several groups have.
const (
	ours  = "awsretry"
	sdk   = "aws-sdk-go-v2"
	limit = "limit" // the least that the machine could do it with
)

// round is one step, as often as the benchmark wants, by several goroutines.
type round func(ctx context.Context) error

// subject is something that can do the step that a group measures.
type subject struct {
	of      string
	prepare func(tb testing.TB) round
}

// group is a step and all subjects that can do it.
type group struct {
	name     string // in the form of a part of a benchmark's name
	subjects []subject
}

// ready is for a round that needs no preparation.
func ready(do round) func(testing.TB) round {
	return func(testing.TB) round { return do }
}

// measure runs the subjects of each group one after the other, at each parallelism.
func measure(b *testing.B, groups []group) {
	b.Helper()
	for _, g := range groups {
		for _, goroutines := range []int{1, 2, 8} {
			for _, s := range g.subjects {
				// Prepared here and once, though b.Run calls its function for every b.N.
				var do round
				b.Run(fmt.Sprintf("%s/goroutines=%d/of=%s", g.name, goroutines, s.of), func(inner *testing.B) {
					if do == nil {
						do = s.prepare(b)
					}
					spread(inner, goroutines, do)
				})
			}
		}
	}
}

// spread lets exactly so many goroutines do the rounds, whatever GOMAXPROCS is.
func spread(b *testing.B, goroutines int, do round) {
	b.Helper()
	ctx := b.Context()
	run := func(rounds int) {
		for range rounds {
			if err := do(ctx); err != nil {
				b.Error(err)
				return
			}
		}
	}
	b.ReportAllocs()
	before := cputime.Spent()
	defer func() { b.ReportMetric(float64(cputime.Spent()-before)/float64(b.N), "cpu-ns/op") }()
	b.ResetTimer()
	if goroutines == 1 {
		run(b.N)
		return
	}
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() { run((b.N + i) / goroutines) })
	}
	wg.Wait()
}

// allGroups is everything that is measured in this package.
func allGroups() []group {
	var all []group
	for _, groups := range [][]group{
		successGroups(), retryGroups(), classifyGroups(), doGroups(), configGroups(10), callGroups(),
	} {
		all = append(all, groups...)
	}
	return all
}

// TestSubjectsDoWhatIsMeasured keeps a benchmark from measuring an error.
func TestSubjectsDoWhatIsMeasured(t *testing.T) {
	t.Parallel()
	for _, g := range allGroups() {
		for _, s := range g.subjects {
			t.Run(g.name+"/of="+s.of, func(t *testing.T) {
				t.Parallel()
				do := s.prepare(t)
				for range 3 {
					require.NoError(t, do(t.Context()))
				}
			})
		}
	}
}
