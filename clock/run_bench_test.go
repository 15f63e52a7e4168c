package clock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// One round is one sleep of one of the functions.
func BenchmarkFakeRunSleep(b *testing.B) {
	for name, own := range map[string]func(ctx context.Context) (context.Context, context.CancelFunc){
		"shared":   func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} },
		"separate": context.WithCancel,
	} {
		for _, functions := range []int{1, 100, 1600} {
			b.Run(fmt.Sprintf("context=%s/functions=%d", name, functions), func(b *testing.B) {
				var clk clock.Fake
				fs := make([]func(), functions)
				rounds := b.N/functions + 1
				for i := range fs {
					ctx, cancel := own(b.Context())
					defer cancel()
					fs[i] = func() {
						for range rounds {
							_ = clk.Sleep(ctx, time.Duration(1000+i))
						}
					}
				}
				b.ReportAllocs()
				b.ResetTimer()
				clk.Run(fs...)
			})
		}
	}
}
