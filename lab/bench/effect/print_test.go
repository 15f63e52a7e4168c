//go:build !race

package effect

import (
	"fmt"
	"io"
	"time"
)

// write prints metrics in the format of benchmarks, which the report reads.
func (m *metrics) write(w io.Writer, s *scenario, of string) {
	writeLine(w, s.String(), of,
		value{m.goodput, "goodput/R"},
		value{m.throttled, "throttled-share"},
		value{m.attempts, "attempts/success"},
		value{m.failed, "failed-share"},
		value{m.noQuota, "no-quota-share"},
		seconds(m.p50, "p50-wait-s"),
		seconds(m.p99, "p99-wait-s"),
		seconds(m.longest, "longest-wait-s"),
		seconds(m.initial, "longest-initial-s"),
		seconds(m.settled, "settled-s"),
		value{m.fairness, "fairness"},
		value{m.wakeUps, "wakeups/send"},
		value{m.wakeUpsPerDelay, "wakeups/delayed"},
		value{float64(m.cpu.Nanoseconds()), "cpu-ns/send"},
		value{m.inOutage, "outage-attempts/op"},
	)
}

type value struct {
	amount float64
	unit   string
}

func seconds(d time.Duration, unit string) value { return value{d.Seconds(), unit} }

func writeLine(w io.Writer, scenario, of string, values ...value) {
	fmt.Fprintf(w, "BenchmarkEffect/%s/of=%s 1", scenario, of)
	for _, v := range values {
		fmt.Fprintf(w, " %v %s", v.amount, v.unit)
	}
	fmt.Fprintln(w)
}
