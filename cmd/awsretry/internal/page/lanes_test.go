//go:build !race

package page_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/retry"
)

// blocks are the beginnings and ends of the blocks of a kind in the only lane.
func blocks(t *testing.T, text, kind string) [][2]float64 {
	t.Helper()
	svg, _, _ := strings.Cut(text[strings.Index(text, `id="lanes-1"`):], "</svg>")
	_, d, found := strings.Cut(svg, `class="block `+kind+`" d="`)
	if !found {
		return nil
	}
	d, _, _ = strings.Cut(d, `"`)
	var found2 [][2]float64
	for _, m := range regexp.MustCompile(`M([\d.]+) 12H([\d.]+)`).FindAllStringSubmatch(d, -1) {
		from, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		to, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		found2 = append(found2, [2]float64{from, to})
	}
	return found2
}

func TestLaneHasABlockForEachPartOfACall(t *testing.T) {
	t.Parallel()
	text := sound(t, small())
	require.Equal(t, [][2]float64{{8, 11}}, blocks(t, text, "throttled"))
	require.Equal(t, [][2]float64{{236, 239}}, blocks(t, text, "failed"))
	require.Equal(t, [][2]float64{{463.9, 466.9}}, blocks(t, text, "ok"))
	require.Equal(t, [][2]float64{{160, 236}}, blocks(t, text, "sendwait"))
	require.Equal(t, [][2]float64{{8, 160}, {236, 463.9}}, blocks(t, text, "backoff"))
	require.Empty(t, blocks(t, text, "rest"))
	require.Contains(t, text, "It succeeded after 1 m 0 s and 3 attempts.")
	require.Contains(t, text, `<tr><th scope="row">2</th><td>20.0 s</td><td>10.0 s</td><td>30.0 s</td><td>5.00 ms</td><td>failed</td></tr>`)
}

func TestCallWithoutAttemptsIsAllWait(t *testing.T) {
	t.Parallel()
	r := small()
	c := &r.Variants[0].Result.Longest
	c.Attempts, c.Err = nil, retry.ErrQuotaExhausted
	text := sound(t, r)
	require.Equal(t, [][2]float64{{8, 464}}, blocks(t, text, "rest"))
	require.Contains(t, text, "It failed after 1 m 0 s and 0 attempts.")
	require.Contains(t, text, "Its error: "+retry.ErrQuotaExhausted.Error())
}

func TestLaneOfManyAttemptsStaysSmall(t *testing.T) {
	t.Parallel()
	r := small()
	c := &r.Variants[0].Result.Longest
	c.Attempts, c.Ended = nil, 100_000*time.Second
	for i := range 100_000 {
		at := time.Duration(i) * time.Second
		c.Attempts = append(c.Attempts, sim.Attempt{Sent: at, Ended: at + time.Millisecond, Throttled: i%2 == 0, Err: retry.ErrQuotaExhausted})
	}
	text := sound(t, r)
	require.Less(t, len(text), 32_000)
	require.Contains(t, text, "and 99,975 more")
}
