package terminal

import (
	"bytes"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Is reports whether a file is a terminal: a character device other than the one that discards
// everything.
func Is(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Fold is a writer that breaks lines which are wider than a terminal, at spaces where it can. The
// lines that follow a break are indented: where the line is a row of a table, to its last column
// in the left half, and else two columns deeper than its beginning. It is not safe for concurrent
// use, and it keeps no more than a line of the terminal.
type Fold struct {
	to    io.Writer
	width int

	tail   []byte // The beginning of a character.
	line   []byte // What is not yet written of the line.
	column int    // The width of line.
	hang   int    // The indentation behind a break; -1 before the first one.
}

// NewFold returns a writer that folds text to lines of at most width columns and writes them to
// another writer. Flush writes a last line without an end.
func NewFold(to io.Writer, width int) *Fold { return &Fold{to: to, width: max(width, 1), hang: -1} }

// Write folds a text. The error is that of the other writer.
func (f *Fold) Write(text []byte) (int, error) {
	f.tail = append(f.tail, text...)
	for utf8.FullRune(f.tail) {
		r, size := utf8.DecodeRune(f.tail)
		if err := f.put(f.tail[:size], r); err != nil {
			return 0, err
		}
		f.tail = f.tail[size:]
	}
	return len(text), nil
}

// Flush writes what Write has kept.
func (f *Fold) Flush() error {
	line := append(f.line, f.tail...)
	f.line, f.tail, f.column, f.hang = nil, nil, 0, -1
	_, err := f.to.Write(line)
	return err
}

func (f *Fold) put(char []byte, r rune) error {
	if r == ' ' && f.hang >= 0 && isBlank(f.line) {
		return nil // A break stands for the spaces.
	}
	f.line = append(f.line, char...)
	if r == '\n' {
		line := f.line
		f.line, f.column, f.hang = f.line[:0], 0, -1
		_, err := f.to.Write(line)
		return err
	}
	f.column += columns(r)
	for f.column > f.width {
		done := f.cut(len(char))
		if len(done) == 0 { // The indentation was as wide as the terminal.
			return nil
		}
		if _, err := f.to.Write(append(done, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// cut takes the beginning of a line that is too wide and leaves the rest. The last space breaks the
// line, if there is one behind the indentation, and else the last character, of so many bytes, is
// left.
func (f *Fold) cut(last int) []byte {
	if f.hang < 0 {
		f.hang = hanging(f.line, f.width)
	}
	end := len(f.line) - last
	if i := bytes.LastIndexByte(f.line, ' '); i >= 0 && !isBlank(f.line[:i]) {
		end = i
	}
	done, rest := bytes.TrimRight(f.line[:end], " "), bytes.TrimLeft(f.line[end:], " ")
	f.line = append([]byte(strings.Repeat(" ", f.hang)), rest...)
	f.column = width(f.line)
	return done
}

func isBlank(line []byte) bool { return len(bytes.TrimLeft(line, " ")) == 0 }

// hanging returns the indentation of the lines that continue a line.
func hanging(line []byte, limit int) int {
	indent := len(line) - len(bytes.TrimLeft(line, " "))
	hang := indent + 2
	for i := indent + 1; i < len(line); i++ {
		if line[i] != ' ' && line[i-1] == ' ' && line[i-2] == ' ' {
			if column := width(line[:i]); column <= limit/2 {
				hang = column
			}
		}
	}
	if hang > limit/2 {
		return 0
	}
	return hang
}

func width(text []byte) (sum int) {
	for _, r := range string(text) {
		sum += columns(r)
	}
	return sum
}

// columns returns how many columns of a terminal a character takes.
func columns(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
		'\uFF01' <= r && r <= '\uFF60', '\U0001F300' <= r && r <= '\U0001FAFF':
		return 2
	}
	return 1
}
