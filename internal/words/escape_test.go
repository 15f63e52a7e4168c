package words_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/words"
)

func TestTextsAreShownAndNotObeyed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, escaped, plain string }{
		{"", "", ""},
		{`a "b" \ ü`, `a "b" \ ü`, `a "b" \ ü`},
		{"a\x1b[31m", `a\x1b[31m`, `"a\x1b[31m"`},
		{"a\tb\n", `a\tb\n`, `"a\tb\n"`},
		{"\u202eline", `\u202eline`, `"\u202eline"`},
		{"\u2028", `\u2028`, `"\u2028"`},
		{"\xff", `�`, `"\xff"`},
	} {
		require.Equal(t, c.escaped, words.Escaped(c.text))
		require.Equal(t, c.plain, words.Plain(c.text))
	}
}
