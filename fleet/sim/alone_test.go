package sim

import (
	"fmt"
	"testing"
	"time"
)

func TestAloneTmp(t *testing.T) {
	for _, r := range []run{
		{rate: 500, members: 100}, {rate: 100, members: 100}, {rate: 500, members: 100, even: true}, {rate: 100, members: 100, even: true},
		{rate: 5, members: 10}, {rate: 5, members: 2}, {rate: 500, members: 10}, {rate: 5, members: 100}, {rate: 500, members: 1000},{rate: 5000, members: 1000},
	} {
		r.alone = true
r.roundTrip=time.Millisecond
		r.length = 90 * time.Second
		for _, r.burst = range []time.Duration{time.Second, time.Second / 10} {
			t.Run(fmt.Sprint(r.rate, r.members, r.even, r.burst), func(t *testing.T) {
				d := demands(r.rate, r.members)
				if r.even {
					d = even(r.rate, r.members)
				}
				r.seed = 1
				b := time.Now()
				rec:=r.play(t)
res := rec.part(30, 90, r.rate, entitled(r.rate, d))
				fmt.Printf("%v %v %v %v: %.3f %.2f%% jain %.3f longest %v s %d calls %.0f  %v\n", r.rate, r.members, r.even, r.burst, res.goodput, 100*res.throttled, res.jain, res.longest, rec.settled(0,r.rate), res.calls, time.Since(b))
			})
		}
	}
}
