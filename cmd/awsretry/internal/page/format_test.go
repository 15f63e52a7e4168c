//go:build !race

package page

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersHaveThreeDigitsAndAUnit(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 s": Seconds(0), "0.45 ms": Seconds(0.00045), "12.8 ms": Seconds(0.0128), "1.00 s": Seconds(0.9996), "2.16 s": Seconds(2.159),
		"59.9 s": Seconds(59.94), "1 m 0 s": Seconds(59.96), "1 m 12 s": Seconds(72), "1 h 0 m": Seconds(3599.9), "26 h 1 m": Seconds(93660),
		"0 %": Percent(0), "< 0.1 %": Percent(0.0004), "79.5 %": Percent(0.795), "100 %": Percent(1), "100.1 %": Percent(1.001), "100.0 %": Percent(0.99996),
		"0.050": Number(0.05), "9.99": Number(9.99), "10.0": Number(9.999), "12,346": Number(12345.6), "-1,235": Number(-1234.6), "1e+300": Number(1e300),
		"50": Brief(50), "49.3": Brief(49.31), "0.5": Brief(0.5), "1,200": Brief(1200), "1e+30": Brief(1e30),
	} {
		require.Equal(t, want, got)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, got := range []string{Seconds(v), Percent(v), Number(v), Brief(v)} {
			require.Equal(t, unknown, got)
		}
	}
}
