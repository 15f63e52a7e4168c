package simulate

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// value is that of a flag, as people write it. Kind is its type for pflag, which says how its default is shown.
type value[T any] struct {
	to    *T
	kind  string
	parse func(text string) (T, error)
	text  func(of T) string
}

// Set sets the value, unless the text is of none.
func (v value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err == nil {
		*v.to = parsed
	}
	return err
}

func (v value[T]) String() string { return v.text(*v.to) }

// Type is for the help.
func (v value[T]) Type() string { return v.kind }

// rate is a number a second: 500, 500/s, 3/min or 100/h.
func rate(to *float64) pflag.Value {
	return value[float64]{to, "rate", func(text string) (float64, error) {
		number, unit, _ := strings.Cut(text, "/")
		per, known := map[string]float64{"": 1, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600}[strings.TrimSpace(unit)]
		a, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !known || math.IsNaN(a) || strings.HasSuffix(text, "/") {
			return 0, errors.New("must be a rate such as 50, 50/s, 3000/min or 1000/h")
		}
		return a / per, nil
	}, digits}
}

// share is a part of one: 0.05 or 5%.
func share(to *float64) pflag.Value { return value[float64]{to, "share", parseShare, digits} }

func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, errors.New("must be a share such as 0.05 or 5%")
	}
	return share, nil
}

// amount is a number without a unit, such as of requests.
func amount(to *float64) pflag.Value {
	return value[float64]{to, "number", func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) {
			return 0, errors.New("must be a number such as 100")
		}
		return x, nil
	}, digits}
}

// count is a whole number, also as 1e6.
func count(to *int) pflag.Value {
	return value[int]{to, "int", func(text string) (int, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || x != math.Trunc(x) || math.Abs(x) > 1e9 {
			return 0, errors.New("must be a whole number such as 100")
		}
		return int(x), nil
	}, strconv.Itoa}
}

// seed is that of a run.
func seed(to *uint64) pflag.Value {
	return value[uint64]{to, "uint", func(text string) (uint64, error) {
		x, err := strconv.ParseUint(text, 10, 64)
		if err != nil || x == 0 {
			return 0, errors.New("must be a whole number above 0 such as 7")
		}
		return x, nil
	}, func(x uint64) string { return strconv.FormatUint(x, 10) }}
}

// timeSpan is a time with its unit. The help does not print a default of 0.
func timeSpan(to *time.Duration) pflag.Value {
	return value[time.Duration]{to, "duration", parseTime, func(d time.Duration) string {
		if d == 0 {
			return "0"
		}
		return d.String()
	}}
}

func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("must be a time such as 45s, 1m30s or 250ms")
	}
	return d, nil
}

// times are those of a flag that is given once or several times, with commas between them.
func times(to *[]time.Duration) pflag.Value {
	return value[[]time.Duration]{to, "time", func(text string) ([]time.Duration, error) {
		all := *to
		for part := range strings.SplitSeq(text, ",") {
			d, err := parseTime(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			all = append(all, d)
		}
		return all, nil
	}, func(all []time.Duration) string { return strings.Trim(fmt.Sprint(all), "[]") }}
}

// fromTo is the shortest and the longest time of an answer: A..B, or one time for both.
func fromTo(to *[2]time.Duration) pflag.Value {
	return value[[2]time.Duration]{to, "time", func(text string) (l [2]time.Duration, err error) {
		from, until, both := strings.Cut(text, "..")
		if !both {
			until = from
		}
		var other error
		l[0], err = time.ParseDuration(from)
		l[1], other = time.ParseDuration(until)
		if err != nil || other != nil {
			return l, errors.New("must be a time such as 10ms, or two such as 5ms..20ms")
		}
		return l, nil
	}, func(l [2]time.Duration) string { return l[0].String() + ".." + l[1].String() }}
}
