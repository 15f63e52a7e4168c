//go:build !race

package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLastBinMayBeShorter(t *testing.T) {
	t.Parallel()
	text := sound(t, small())
	require.Contains(t, text, `<tr><th scope="row">0</th><td>12</td><td>10</td><td>20</td><td>11</td><td>9</td></tr>`)
	require.Contains(t, text, `<tr><th scope="row">10</th><td>12</td><td>7</td><td>9</td><td>13</td><td>11</td></tr>`)
}

func TestBinsWithoutAWidthHaveNoRate(t *testing.T) {
	t.Parallel()
	r := small()
	r.Variants[0].Result.Duration, r.Variants[0].Result.Width = 0, 0
	require.Contains(t, sound(t, r), `<tr><th scope="row">0</th><td>—</td>`)
}
