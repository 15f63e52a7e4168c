package simulate

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// rateValue is a number a second as people write it: 500, 500/s, 3/min or 100/h.
type rateValue float64

// Set takes such a number.
func (r *rateValue) Set(text string) error {
	number, unit, _ := strings.Cut(text, "/")
	per, known := map[string]float64{"": 1, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600}[strings.TrimSpace(unit)]
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !known || math.IsNaN(value) || strings.HasSuffix(text, "/") {
		return errors.New("must be a rate such as 50, 50/s, 3000/min or 1000/h")
	}
	*r = rateValue(value / per)
	return nil
}

func (r *rateValue) String() string { return digits(float64(*r)) }

// Type is for the help.
func (r *rateValue) Type() string { return "rate" }

// shareValue is a share of one as people write it: 0.05 or 5%.
type shareValue float64

// Set takes such a share.
func (s *shareValue) Set(text string) error {
	share, err := parseShare(text)
	if err == nil {
		*s = shareValue(share)
	}
	return err
}

func (s *shareValue) String() string { return digits(float64(*s)) }

// Type is for the help.
func (s *shareValue) Type() string { return "share" }

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

// numberValue is a number without a unit, such as of requests.
type numberValue float64

// Set takes a number.
func (n *numberValue) Set(text string) error {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) {
		return errors.New("must be a number such as 100")
	}
	*n = numberValue(value)
	return nil
}

func (n *numberValue) String() string { return digits(float64(*n)) }

// Type is for the help.
func (n *numberValue) Type() string { return "number" }

// countValue is a whole number.
type countValue int

// Set takes a whole number, also as 1e6.
func (n *countValue) Set(text string) error {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || value != math.Trunc(value) || math.Abs(value) > 1e9 {
		return errors.New("must be a whole number such as 100")
	}
	*n = countValue(value)
	return nil
}

func (n *countValue) String() string { return strconv.Itoa(int(*n)) }

// Type is for the help.
func (n *countValue) Type() string { return "int" }

// seedValue is the seed of a run.
type seedValue uint64

// Set takes a whole number above zero.
func (n *seedValue) Set(text string) error {
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil || value == 0 {
		return errors.New("must be a whole number above 0 such as 7")
	}
	*n = seedValue(value)
	return nil
}

func (n *seedValue) String() string { return strconv.FormatUint(uint64(*n), 10) }

// Type is for the help.
func (n *seedValue) Type() string { return "uint" }

// timeValue is a time with its unit.
type timeValue time.Duration

// Set takes a time.
func (d *timeValue) Set(text string) error {
	value, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("must be a time such as 45s, 1m30s or 250ms")
	}
	*d = timeValue(value)
	return nil
}

func (d *timeValue) String() string {
	if *d == 0 {
		return "0" // which the help does not print as a default
	}
	return time.Duration(*d).String()
}

// Type is for the help.
func (d *timeValue) Type() string { return "duration" }

// timesValue is a list of times, from one flag or several.
type timesValue []time.Duration

// Set adds times, with commas between them.
func (l *timesValue) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		var one timeValue
		if err := one.Set(strings.TrimSpace(part)); err != nil {
			return err
		}
		*l = append(*l, time.Duration(one))
	}
	return nil
}

func (l *timesValue) String() string { return strings.Trim(fmt.Sprint([]time.Duration(*l)), "[]") }

// Type is for the help.
func (l *timesValue) Type() string { return "time" }
