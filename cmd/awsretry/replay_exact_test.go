package main

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReplayKeepsTheNanosecondsOfEpochTimes(t *testing.T) {
	t.Parallel()
	trace := `{"start_s": 1795300000.000000001, "operations": [
		{"start_s": 1795300000.000000003, "latency_s": 0.000000004, "responses": [{"status": 500}, {"status": 200}]}]}`
	out, errs, status := runReplay(t, strings.NewReader(trace), "replay", "--json", "-")
	require.Empty(t, errs)
	require.Zero(t, status)
	require.Contains(t, out, `"sent_at_s":[1795300000.000000003,1795300000.050000007],"send_wait_s":[0,0],"end_t_s":1795300000.050000011,`)
}

func TestReplayOfOutcomesAtEpochTimesIsThatOfTheSameOutcomesEarly(t *testing.T) {
	t.Parallel()
	rates := func(second string) string {
		out, errs, status := runReplay(t, strings.NewReader(strings.ReplaceAll(`{"start_s": S.000000000, "steps": [
			{"t_s": S.100000001, "throttled": true}, {"t_s": S.499999999}, {"t_s": S.999999999, "throttled": true}]}`, "S", second)),
			"replay", "--json", "-")
		require.Empty(t, errs)
		require.Zero(t, status)
		return out
	}
	// Half a second ends a window of the measured rate, and a nanosecond less does not.
	require.Equal(t, rates("4"), rates("1795300004"))
}

func TestReplayReadsDecimalsToTheNearestNanosecond(t *testing.T) {
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
		got, ok := nanoseconds(text)
		require.True(t, ok, text)
		require.Equal(t, time.Duration(want), got, text)
	}
	for _, text := range []string{"9000000000.000000001", "9e9999999999999999999", "1e300", "-1", "-1e-400", "-0.0000000001"} {
		_, ok := nanoseconds(text)
		require.False(t, ok, text)
	}
}

func TestReplayReadsBackWhatItPrints(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		d := time.Duration(random.Int64N(int64(maxTime))) >> random.IntN(63)
		text := exactSeconds(d).String()
		got, ok := nanoseconds(text)
		require.True(t, ok)
		require.Equal(t, d, got, text)
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		require.Zero(t, exact.Cmp(big.NewRat(int64(d), int64(time.Second))), text)
		if d < 1<<50 {
			shortest := strconv.FormatFloat(float64(d)/1e9, 'f', -1, 64)
			require.Equal(t, shortest, text, "the shortest text of a float is exact for a short time")
		}
	}
	require.Equal(t, "-9223372036.854775808", exactSeconds(math.MinInt64).String())
}
