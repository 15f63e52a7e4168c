//go:build !race

package page_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
)

// labels are the labels of the drain points, with their places.
func labels(t *testing.T, text string) (names []string, x, y []float64) {
	t.Helper()
	svg, _, _ := strings.Cut(text[strings.Index(text, `id="curve-1"`):], "</svg>")
	for _, m := range regexp.MustCompile(`<text class="label middle" x="([\d.]+)" y="([\d.]+)">([^<]*)<`).FindAllStringSubmatch(svg, -1) {
		left, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		top, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		names, x, y = append(names, m[3]), append(x, left), append(y, top)
	}
	return names, x, y
}

func TestLabelsOfDrainPointsDoNotOverlap(t *testing.T) {
	t.Parallel()
	r := small()
	for _, share := range []float64{0.2151, 0.321, 0.23, 0.2149, 0.9, 0.25} {
		v := r.Variants[0]
		v.Drain = []page.Drain{{"throttling", 0.5}, {"transient", share}}
		r.Variants = append(r.Variants, v)
	}
	names, x, y := labels(t, sound(t, r))
	require.Equal(t, []string{"21.5 %", "23.0 %", "25.0 %", "32.1 %", "90.0 %"}, names)
	for i := range names {
		for j := range i {
			require.True(t, math.Abs(x[i]-x[j]) >= 42 || math.Abs(y[i]-y[j]) >= 13, "%s and %s", names[i], names[j])
		}
	}
}
