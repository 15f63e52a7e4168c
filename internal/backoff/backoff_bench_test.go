package backoff_test

import (
	"testing"
	"time"

	"github.com/awsretry/awsretry/internal/backoff"
)

func BenchmarkDelay(b *testing.B) {
	for _, jitter := range jitters() {
		b.Run("jitter="+jitter.String(), func(b *testing.B) {
			b.ReportAllocs()
			shape := backoff.Exponential{Jitter: jitter}
			index := 0
			for b.Loop() {
				shape.Delay(index, 50*time.Millisecond, time.Second, 0.7)
				index = (index + 1) % 16
			}
		})
	}
}
