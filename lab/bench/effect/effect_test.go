//go:build !race

package effect

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/sim"
)

var (
	all  = flag.Bool("all", false, "play every scenario with every contender")
	seed = flag.Uint64("seed", 1, "of latencies and jitter")
)

// TestEffect plays the scenarios, a few of them unless -all is given, and prints what
// they come to in the format of benchmarks. Goodput above what the service allows
// would be a fault of the service here.
func TestEffect(t *testing.T) {
	played, by := slice()
	if *all {
		played, by = scenarios(), contenders()
	}
	for i, s := range played {
		fmt.Fprintf(os.Stderr, "    seed %d, scenario %d of %d: %v\n", *seed, i+1, len(played)+1, &s)
		for _, c := range by {
			t.Run(s.String()+"/of="+c.name, func(t *testing.T) {
				m := play(t, s, c, *seed).metrics()
				m.write(os.Stdout, &s, c.name)
				require.Greater(t, m.goodput, 0.0)
				require.Less(t, m.goodput, 1.05)
			})
		}
	}
	fmt.Fprintf(os.Stderr, "    seed %d, scenario %d of %d: two tables\n", *seed, len(played)+1, len(played)+1)
	for _, c := range by {
		t.Run("scenario=tables/of="+c.name, func(t *testing.T) {
			goodput := twoTables(t, c, *seed)
			writeLine(os.Stdout, "scenario=tables", c.name, value{goodput, "goodput/alone"})
			require.Greater(t, goodput, 0.0)
		})
	}
}

// BenchmarkService is what the service itself costs every contender.
func BenchmarkService(b *testing.B) {
	now := time.Now()
	service := sim.NewService(limited(50, short), 1, now)
	for b.Loop() {
		now = now.Add(time.Millisecond)
		if latency, _ := service.Take(now); latency <= 0 {
			b.Fatal("an answer without latency")
		}
	}
}
