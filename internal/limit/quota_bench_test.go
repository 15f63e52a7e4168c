package limit_test

import (
	"testing"

	"github.com/awsretry/awsretry/internal/limit"
)

func BenchmarkQuota(b *testing.B) {
	config := limit.QuotaConfig{Capacity: 500, Initial: 500}
	refilling := config
	refilling.Refill = 1
	limited := config
	limited.DebtStep = 5
	cases := []struct {
		name   string
		config limit.QuotaConfig
		op     func(q *limit.Quota)
	}{
		{"case=take-refund", config, takeAndRefund},
		{"case=take-refund-refilling", refilling, takeAndRefund},
		{"case=take-refund-limited", limited, takeAndRefund},
		{"case=refund-on-full", config, func(q *limit.Quota) { q.Refund(1) }},
	}
	for _, c := range cases {
		b.Run(c.name+"/run=serial", func(b *testing.B) {
			q := newQuota(c.config)
			b.ReportAllocs()
			for b.Loop() {
				c.op(q)
			}
		})
		b.Run(c.name+"/run=parallel", func(b *testing.B) {
			q := newQuota(c.config)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					c.op(q)
				}
			})
		})
	}
}

func takeAndRefund(q *limit.Quota) {
	if !q.Limits(5) {
		q.Charge(5)
	}
	q.Refund(5)
	q.Helped()
	q.Failed()
}
