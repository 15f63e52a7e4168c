//go:build unix

package micro

import (
	"syscall"
	"testing"
	"time"
)

// reportCPU returns a function that reports the processor time of the whole
// process since, garbage collection on other cores included, for each round.
func reportCPU(b *testing.B) func() {
	b.Helper()
	before := processorTime(b)
	return func() {
		b.Helper()
		b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
	}
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
