package terminal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/terminal"
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
		require.Equal(t, c.escaped, terminal.Escaped(c.text))
		require.Equal(t, c.plain, terminal.Plain(c.text))
	}
}

func TestOnlyACharacterDeviceIsATerminal(t *testing.T) {
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, null.Close()) }()
	require.False(t, terminal.Is(null), "nothing reads what is written there")

	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	require.False(t, terminal.Is(file))
	require.NoError(t, file.Close())
	require.False(t, terminal.Is(file))

	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.False(t, terminal.Is(w))
	require.NoError(t, w.Close())
	require.NoError(t, r.Close())
}
