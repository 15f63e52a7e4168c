package words_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/words"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 3, 0},
		{"abc", "abc", 0, 0},
		{"abc", "abd", 3, 1},
		{"abc", "ab", 3, 1},
		{"", "ab", 3, 2},
		{"kitten", "sitting", 5, 3},
		{"kitten", "sitting", 2, 3},
		{"pord", "prod", 2, 1},
		{"abcd", "badc", 3, 2},
		{"ca", "abc", 3, 3}, // With any number of swaps it would be 2.
		{"a", strings.Repeat("a", 500), 1000, 1001},
	} {
		require.Equal(t, c.want, words.Distance(c.a, c.b, c.limit), "%q %q", c.a, c.b)
	}
}

func TestDistanceAboveTheLimitIsTheLimitAndOne(t *testing.T) {
	t.Parallel()
	all := []string{""}
	for i := 0; len(all[i]) < 4; i++ {
		all = append(all, all[i]+"a", all[i]+"b", all[i]+"c")
	}
	for _, a := range all {
		for _, b := range all {
			whole := words.Distance(a, b, 8)
			for limit := range 4 {
				require.Equal(t, min(whole, limit+1), words.Distance(a, b, limit), "%q %q", a, b)
			}
		}
	}
}

func TestBestNamesComeFirst(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct{ has, best []string }{
		"Prod":                   {strings.Fields("staging pord prd PROD prod prod1 prod2 prd"), strings.Fields("PROD prod pord prd prod1")},
		"abcdefghi":              {strings.Fields("abcdefxyz abcdewxyz"), []string{"abcdefxyz"}}, // up to a third of the letters
		"ab":                     {strings.Fields("abc xy a"), []string{"a", "abc"}},
		"azx":                    {[]string{"1zx", "AZX"}, []string{"AZX", "1zx"}},
		"zebra":                  {strings.Fields("default prod"), nil},
		strings.Repeat("x", 200): {[]string{strings.Repeat("x", 199)}, nil},
	} {
		names := words.Near(want)
		for _, name := range c.has {
			names.Add(name)
		}
		require.Equal(t, c.best, names.Best())
	}
}
