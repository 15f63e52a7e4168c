package vectors

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"time"
)

// ExactSeconds is a time that JSON gives in seconds, to the nearest nanosecond: a float of the seconds since 1970 is
// wrong by up to 120 ns.
type ExactSeconds time.Duration

// UnmarshalJSON reads a number of seconds that fits into a Duration. Null leaves the value as it is.
func (s *ExactSeconds) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(text, &number); err != nil {
		return err
	}
	exact, ok := new(big.Rat).SetString(number.String())
	if !ok {
		return fmt.Errorf("%q is no number of seconds", number)
	}
	exact.Mul(exact, big.NewRat(int64(time.Second), 1))
	nanos, _ := new(big.Int).SetString(exact.FloatString(0), 10)
	if !nanos.IsInt64() {
		return fmt.Errorf("%s seconds are no Duration", number)
	}
	*s = ExactSeconds(nanos.Int64())
	return nil
}

// Seconds returns seconds as a Duration, to the nearest nanosecond.
func Seconds[S float64 | ExactSeconds](s S) time.Duration {
	if exact, ok := any(s).(ExactSeconds); ok {
		return time.Duration(exact)
	}
	return time.Duration(math.Round(float64(s) * float64(time.Second)))
}
