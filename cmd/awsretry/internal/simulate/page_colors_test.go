//go:build !race

package simulate

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// brightness is the relative luminance of a color such as #0072b2, as WCAG 2 defines it.
func brightness(t *testing.T, color string) (sum float64) {
	t.Helper()
	if len(color) == 4 { // such as #fff
		color = regexp.MustCompile(`[^#]`).ReplaceAllString(color, "$0$0")
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		value, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		require.NoError(t, err)
		if c := float64(value) / 255; c <= 0.04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
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
			requireContrast := func(name, behind string, least float64) {
				a, b := brightness(t, colors[name]), brightness(t, colors[behind])
				require.GreaterOrEqual(t, (max(a, b)+0.05)/(min(a, b)+0.05), least, name)
			}
			for name := range colors {
				switch name {
				case "back", "soft", "rule", "shade":
				case "text", "muted", "link":
					requireContrast(name, "back", 4.5)
					requireContrast(name, "soft", 4.5)
				default:
					requireContrast(name, "back", 3)
				}
			}
		})
	}
}
