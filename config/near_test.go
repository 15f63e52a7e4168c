package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

func TestNearNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, asked string
		has         []string
		want        []string
	}{
		{"a typing error", "production", []string{"staging", "prodution"}, []string{"prodution"}},
		{"up to a third of the letters", "abcdefghi", []string{"abcdefxyz", "abcdewxyz"}, []string{"abcdefxyz"}},
		{"the nearest first, then by name", "prod-eu", []string{"a-od-eu", "prod-us", "prod-eu1", "PROD-EU"}, []string{"PROD-EU", "prod-eu1", "a-od-eu", "prod-us"}},
		{"one letter of a short name", "ab", []string{"abc", "xy", "a"}, []string{"a", "abc"}},
		{"at most five", "pp", []string{"p1", "p6", "p3", "p4", "p5", "p2"}, []string{"p1", "p2", "p3", "p4", "p5"}},
		{"nothing alike", "zebra", []string{"default", "prod"}, nil},
		{"a name too long to compare", strings.Repeat("x", 200), []string{strings.Repeat("x", 199)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := openTexts(t, "[profile "+strings.Join(c.has, "]\n[profile ")+"]\n", "["+c.has[0]+"]\n")
			_, err := files.Profile(c.asked, config.Origin{Kind: config.OriginOption, Name: "WithProfile"})
			var missing *config.ProfileNotFoundError
			require.ErrorAs(t, err, &missing)
			require.Equal(t, c.want, missing.Near)
		})
	}
}
