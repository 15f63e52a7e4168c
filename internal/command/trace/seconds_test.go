package trace_test

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/trace"
)

func read(text string) (s trace.Seconds, err error) {
	err = json.Unmarshal([]byte(text), &s)
	return s, err
}

func TestSecondsAreReadToTheNearestNanosecond(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0":                    0,
		"-0":                   0,
		"0e99999999999":        0,
		"0.000":                0,
		"1e-9":                 1,
		"0.0000000004":         0,
		"0.0000000005":         1,
		"4.9e-10":              0,
		"1e-99999999999999999": 0,
		"1E+3":                 1_000_000_000_000,
		"12.5e-1":              1_250_000_000,
		"0.000125e4":           1_250_000_000,
		"9000000000":           9_000_000_000_000_000_000,
		"8999999999.999999999": 8_999_999_999_999_999_999,
		"1795300000.000000001": 1_795_300_000_000_000_001,

		"0." + strings.Repeat("0", 400) + "1e401": 1_000_000_000,
	} {
		got, err := read(text)
		require.NoError(t, err, text)
		require.Equal(t, trace.Seconds(want), got, text)
	}
	for _, text := range []string{"9000000000.000000001", "9e9999999999999999999", "1e300", "-1", "-1e-400", "-0.0000000001"} {
		_, err := read(text)
		require.Error(t, err, text)
	}
}

func TestSecondsAreReadBackAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		d := trace.Seconds(random.Int64N(int64(trace.MaxTime))) >> random.IntN(63)
		text := d.String()
		got, err := read(text)
		require.NoError(t, err)
		require.Equal(t, d, got, text)
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		require.Zero(t, exact.Cmp(big.NewRat(int64(d), int64(time.Second))), text)
		if d < 1<<50 {
			shortest := strconv.FormatFloat(float64(d)/1e9, 'f', -1, 64)
			require.Equal(t, shortest, text, "the shortest text of a float is exact for a short time")
		}
	}
	require.Equal(t, "-9223372036.854775808", trace.Seconds(math.MinInt64).String())
}
