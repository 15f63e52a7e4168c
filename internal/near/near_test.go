package near_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/near"
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
		require.Equal(t, c.want, near.Distance(c.a, c.b, c.limit), "%q %q", c.a, c.b)
	}
}

func TestDistanceAboveTheLimitIsTheLimitAndOne(t *testing.T) {
	t.Parallel()
	words := []string{""}
	for i := 0; len(words[i]) < 4; i++ {
		words = append(words, words[i]+"a", words[i]+"b", words[i]+"c")
	}
	for _, a := range words {
		for _, b := range words {
			whole := near.Distance(a, b, 8)
			for limit := range 4 {
				require.Equal(t, min(whole, limit+1), near.Distance(a, b, limit), "%q %q", a, b)
			}
		}
	}
}

func TestBestNamesComeFirst(t *testing.T) {
	t.Parallel()
	names := near.To("Prod")
	for _, name := range []string{"staging", "pord", "prd", "PROD", "prod", "prod1", "prod2", "prd"} {
		names.Add(name)
	}
	require.Equal(t, []string{"PROD", "prod", "pord", "prd", "prod1"}, names.Best())
	require.Nil(t, near.To("zebra").Best())
}
