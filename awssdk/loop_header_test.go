package awssdk

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeaderTellsAttemptAndLimit(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][2]int{
		"attempt=1; max=3":                       {1, 3},
		"attempt=12; max=30; ttl=20260101T0000Z": {12, 30},
		"attempt=2":                              {2, math.MaxInt},
		"attempt=2; max=-1":                      {2, math.MaxInt},
		"attempt=-2; max=0":                      {0, 0},
		"attempt=0":                              {0, 0},
		"attempt=x; max=":                        {0, 0},
		"":                                       {0, 0},
	} {
		number, limit := parseAttempt(header)
		require.Equal(t, want, [2]int{number, limit}, header)
	}
	number, limit := new(shared).attemptOf(context.Background())
	require.Zero(t, number, "no loop")
	require.Zero(t, limit, "no loop")
}

func FuzzParseAttempt(f *testing.F) {
	f.Fuzz(func(t *testing.T, header string) {
		number, limit := parseAttempt(header)
		require.GreaterOrEqual(t, number, 0)
		require.GreaterOrEqual(t, limit, 0)
	})
}
