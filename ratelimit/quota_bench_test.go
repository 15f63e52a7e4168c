package ratelimit_test

import (
	"testing"

	"github.com/awsretry/awsretry/ratelimit"
)

func BenchmarkQuota(b *testing.B) {
	config := ratelimit.QuotaConfig{Capacity: 500, Initial: 500}
	refilling := config
	refilling.RefillPerSecond = 1
	cases := []struct {
		name   string
		config ratelimit.QuotaConfig
		op     func(quota *ratelimit.Quota)
	}{
		{"case=take-refund", config, takeAndRefund},
		{"case=take-refund-refilling", refilling, takeAndRefund},
		{"case=refund-on-full", config, func(quota *ratelimit.Quota) { quota.Refund(1) }},
	}
	for _, c := range cases {
		b.Run(c.name+"/run=serial", func(b *testing.B) {
			quota := ratelimit.NewQuota(c.config, at(0))
			b.ReportAllocs()
			for b.Loop() {
				c.op(quota)
			}
		})
		b.Run(c.name+"/run=parallel", func(b *testing.B) {
			quota := ratelimit.NewQuota(c.config, at(0))
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					c.op(quota)
				}
			})
		})
	}
}

func takeAndRefund(quota *ratelimit.Quota) {
	quota.Take(at(1), 5)
	quota.Refund(5)
}
