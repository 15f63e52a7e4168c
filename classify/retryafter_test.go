package classify_test

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestParseRetryAfterMillis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value string
		after time.Duration
		ok    bool
	}{
		{"0", 0, true},
		{"1", time.Millisecond, true},
		{"1500", 1500 * time.Millisecond, true},
		{"000010", 10 * time.Millisecond, true},
		{"9223372036854", 9223372036854 * time.Millisecond, true},
		{"9223372036855", math.MaxInt64, true},
		{"9223372036854775807", math.MaxInt64, true},
		{strings.Repeat("0", 40) + "9223372036854775807", math.MaxInt64, true},
		{"9223372036854775808", 0, false},
		{"18446744073709551615", 0, false},
		{"18446744073709551616", 0, false},
		{"1" + strings.Repeat("0", 400), 0, false},
		{"", 0, false},
		{" ", 0, false},
		{" 5", 0, false},
		{"5 ", 0, false},
		{"-0", 0, false},
		{"-1", 0, false},
		{"-99999999999999999999", 0, false},
		{"+1", 0, false},
		{"1.5", 0, false},
		{"1e3", 0, false},
		{"0x10", 0, false},
		{"1_000", 0, false},
		{"1,000", 0, false},
		{"٣", 0, false},
		{"NaN", 0, false},
		{"5ms", 0, false},
		{"9223372036855ms", 0, false},
		{"Wed, 21 Oct 2026 07:28:00 GMT", 0, false},
		{"5\x00", 0, false},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Parallel()
			after, ok := classify.ParseRetryAfterMillis(c.value)
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.after, after)
		})
	}
}

func FuzzParseRetryAfterMillis(f *testing.F) {
	f.Fuzz(func(t *testing.T, value string) {
		after, ok := classify.ParseRetryAfterMillis(value)
		wantAfter, wantOK := exactMillis(value)
		require.Equal(t, wantOK, ok)
		require.Equal(t, wantAfter, after)
		require.GreaterOrEqual(t, after, time.Duration(0))
	})
}

// exactMillis reads decimal digits, and nothing else, as a signed 64-bit number.
func exactMillis(value string) (time.Duration, bool) {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return 0, false
	}
	nanoseconds, _ := new(big.Int).SetString(value, 10)
	if !nanoseconds.IsInt64() {
		return 0, false
	}
	nanoseconds.Mul(nanoseconds, big.NewInt(int64(time.Millisecond)))
	if !nanoseconds.IsInt64() {
		return math.MaxInt64, true
	}
	return time.Duration(nanoseconds.Int64()), true
}
