//go:build unix

package sim_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/standard"
)

// spent is the processor time of this process, the collection of garbage included.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPlay is a seed of the default of the command, and of questions of docs/simulate.md in which calls wait.
func BenchmarkPlay(b *testing.B) {
	peak := open()
	peak.Offered = 150
	more := peak.Conditions
	more.Offered *= 4
	peak.Phases = []sim.Phase{{From: 30 * second, Conditions: more}, {From: 60 * second, Conditions: peak.Conditions}}
	peak.Duration, peak.Measured.To = 2*time.Minute, 2*time.Minute
	for _, s := range []struct {
		name     string
		scenario sim.Scenario
	}{{"default", usual()}, {"above the limit", open()}, {"peak", peak}} {
		limited := inAdaptiveMode(standard.Config{})
		limited.Name, limited.Deadline = "deadline", 5*second
		for _, v := range []sim.Variant{inStandardMode(standard.Config{}), inAdaptiveMode(standard.Config{}), limited} {
			b.Run(s.name+"/"+v.Name, func(b *testing.B) {
				b.ReportAllocs()
				before := spent(b)
				for b.Loop() {
					_, err := sim.Play(b.Context(), s.scenario, v, 1)
					require.NoError(b, err)
				}
				b.ReportMetric((spent(b)-before).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}
