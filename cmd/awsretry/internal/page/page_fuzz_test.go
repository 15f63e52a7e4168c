//go:build !race

package page_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// source makes numbers of bytes; zeros when there are none left.
type source struct{ data []byte }

func (s *source) next() uint64 {
	var eight [8]byte
	s.data = s.data[copy(eight[:], s.data):]
	return binary.LittleEndian.Uint64(eight[:])
}

func (s *source) small(most int) int { return int(s.next() % uint64(most+1)) }

func (s *source) float() float64 {
	n := s.next()
	if n%3 == 0 { // a number as they are
		return float64(n%1_000_000) / 1000
	}
	return math.Float64frombits(n)
}

func (s *source) time() time.Duration {
	n := s.next()
	if n%3 == 0 {
		return time.Duration(n % uint64(time.Hour))
	}
	return time.Duration(n)
}

func (s *source) times() (all []time.Duration) {
	for range s.small(5) {
		all = append(all, s.time())
	}
	return all
}

func reportOf(name string, s *source) *page.Report {
	r := &page.Report{Command: name, Answer: []string{name}, Within: s.time(), Question: page.Question(s.small(2))}
	for range s.small(3) {
		r.Phases = append(r.Phases, page.Phase{Window: sim.Window{From: s.time(), To: s.time()}, Label: name})
	}
	for range s.small(4) {
		v := page.Variant{Name: name, Settings: []page.Setting{{name, name, name}}, Result: &sim.Result{
			Calls: s.small(2), Goodput: s.float(), FailedShare: s.float(), NoQuotaShare: s.float(), AttemptsPerCall: s.float(),
			ThrottledShare: s.float(), LatencyP50: s.float(), LatencyP99: s.float(), LatencyMax: s.float(), DelayPerCall: s.float(),
			Offered: s.float(), Begun: s.float(), OfLimit: s.float(), OfPossible: s.float(), WithinShare: s.float(), FailedP50: s.float(), FailedP99: s.float(),
			Waiting: int(s.next()), Oldest: s.float(), Succeeded: s.times(), Unsuccessful: s.times(),
			Recover: s.float(), Emptied: s.float(), LowestQuota: int(s.next()), Duration: s.time(), Width: s.time(),
		}}
		for range s.small(3) {
			v.Result.Bins = append(v.Result.Bins, sim.Bin{
				From: s.time(), Offered: s.float(), Allowed: s.float(), Begun: int(s.next()), Failed: int(s.next()), Waiting: int(s.next()), Sent: int(s.next()), Accepted: int(s.next()), Throttled: int(s.next()),
				Quota: int(s.next()), SendRate: s.float(),
			})
		}
		for range s.small(3) {
			v.Curve = append(v.Curve, sim.Point{Share: s.float(), AttemptsPerCall: s.float(), FailedShare: s.float()})
		}
		v.Drain = []page.Drain{{"transient", s.float()}, {name, s.float()}}
		for range s.small(2) {
			v.Runs = append(v.Runs, v.Result)
		}
		r.Variants = append(r.Variants, v)
	}
	return r
}

func FuzzAnyReportHasASoundPage(f *testing.F) {
	for i, name := range []string{"settings", "a<b", "\x00\xff", "v2.0"} {
		data := make([]byte, 1024*i)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(data)
		f.Add(name, data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if regexp.MustCompile(`NaN|Inf|ZgotmplZ`).MatchString(name) {
			return // the name looks like what must not be there
		}
		text := sound(t, reportOf(name, &source{data}))
		require.Equal(t, text, written(t, reportOf(name, &source{data})))
	})
}
