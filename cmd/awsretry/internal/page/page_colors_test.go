//go:build !race

package page_test

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// brightness is the relative luminance of a color such as #fff or #0072b2, as WCAG 2 defines it.
func brightness(t *testing.T, color string) float64 {
	t.Helper()
	if len(color) == 4 {
		color = "#" + color[1:2] + color[1:2] + color[2:3] + color[2:3] + color[3:4] + color[3:4]
	}
	rgb, err := strconv.ParseUint(color[1:], 16, 32)
	require.NoError(t, err)
	linear := func(shift int) float64 {
		c := float64(rgb>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	first, second := brightness(t, a), brightness(t, b)
	return (max(first, second) + 0.05) / (min(first, second) + 0.05)
}

func TestColorsStandOutInLightAndDark(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("page.css")
	require.NoError(t, err)
	schemes := regexp.MustCompile(`(?s):root[^ ]* \{\n[^}]*\}`).FindAllString(string(css), 2)
	require.Len(t, schemes, 2)
	for i, scheme := range schemes {
		t.Run([]string{"light", "dark"}[i], func(t *testing.T) {
			t.Parallel()
			colors := map[string]string{}
			for _, m := range regexp.MustCompile(`--([\w-]+): (#[0-9a-f]+);`).FindAllStringSubmatch(scheme, -1) {
				colors[m[1]] = m[2]
			}
			require.Len(t, colors, 20)
			for name, color := range colors {
				switch {
				case slices.Contains([]string{"back", "soft", "rule", "shade"}, name):
				case slices.Contains([]string{"text", "muted", "link"}, name):
					require.GreaterOrEqual(t, contrast(t, color, colors["back"]), 4.5, name)
					require.GreaterOrEqual(t, contrast(t, color, colors["soft"]), 4.5, name)
				default:
					require.GreaterOrEqual(t, contrast(t, color, colors["back"]), 3.0, name)
				}
			}
		})
	}
}
