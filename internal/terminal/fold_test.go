package terminal_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/terminal"
)

func fold(t *testing.T, text string, width, step int) string {
	t.Helper()
	var b strings.Builder
	f := terminal.NewFold(&b, width)
	for len(text) > 0 {
		n := min(step, len(text))
		written, err := f.Write([]byte(text[:n]))
		require.NoError(t, err)
		require.Equal(t, n, written)
		text = text[n:]
	}
	require.NoError(t, f.Flush())
	return b.String()
}

func TestFoldBreaksLinesThatAreTooWide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
		width            int
	}{
		{"fits", "abc def\n", "abc def\n", 7},
		{"at a space", "abc def ghi\n", "abc def\n  ghi\n", 8},
		{"at a space that just fits", "abc def ghi\n", "abc def\n  ghi\n", 7},
		{"several times", "a b c d e f g\n", "a b c\n  d e\n  f g\n", 5},
		{"keeps the indentation", "    abc def ghi\n", "    abc def\n      ghi\n", 13},
		{"a row of a table", "  worst case  3s of backoff in one operation\n", "  worst case  3s of backoff in\n              one operation\n", 30},
		{"a last column in the right half", "  a  bcdefghijklmn  opq rst\n", "  a  bcdefghijklmn  opq\n     rst\n", 24},
		{"a word that is too wide", "abcdefghij\n", "abcd\n  ef\n  gh\n  ij\n", 4},
		{"such a word behind another", "ab cdefghij\n", "ab\n  cdef\n  ghij\n", 6},
		{"wide characters", "日本語日本\n", "日本\n  語\n  日\n  本\n", 5},
		{"an accent of its own", "e\u0301e\u0301e\u0301\n", "e\u0301e\u0301e\u0301\n", 3},
		{"no end", "abc def", "abc\n  def", 5},
		{"not UTF-8", "ab\xff cd\n", "ab\xff\n  cd\n", 4},
		{"one column", "ab c\n", "a\nb\nc\n", 1},
		{"a character wider than the terminal", "日本\n", "日\n本\n", 1},
		{"spaces at the end", "abc     \n", "abc\n  \n", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for step := 1; step <= len(c.text); step++ {
				require.Equal(t, c.want, fold(t, c.text, c.width, step))
			}
		})
	}
}

func FuzzFold(f *testing.F) {
	f.Add("a b\n  c  d e f g\n", uint8(9))
	f.Add("日本語 \xff\n\n   \n", uint8(0))
	f.Fuzz(func(t *testing.T, text string, columns uint8) {
		width := int(columns)%100 + 2
		folded := fold(t, text, width, len(text)+1)
		require.Equal(t, withoutSpaces(text), withoutSpaces(folded))
		require.Equal(t, folded, fold(t, text, width, 1))
		for line := range strings.Lines(folded) {
			line = strings.TrimSuffix(line, "\n")
			wide := 0
			for _, r := range line {
				if r >= utf8.RuneSelf {
					wide++
				}
			}
			require.LessOrEqual(t, utf8.RuneCountInString(line)-strings.Count(line, "\n"), width+wide)
		}
	})
}

// withoutSpaces drops what Fold may change.
func withoutSpaces(text string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(text) }

// closed is a writer that fails.
type closed struct{}

var errClosed = errors.New("closed")

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestFoldReturnsTheErrorOfItsWriter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a\n", "abc def\n"} {
		f := terminal.NewFold(closed{}, 5)
		_, err := f.Write([]byte(text))
		require.ErrorIs(t, err, errClosed)
	}
	f := terminal.NewFold(closed{}, 5)
	_, err := f.Write([]byte("abc"))
	require.NoError(t, err)
	require.ErrorIs(t, f.Flush(), errClosed)
}
