package config

import (
	"bytes"
	"unicode/utf8"
)

// lineKind is what a line that counts is.
type lineKind int

const (
	lineEnd          lineKind = iota // There are no more lines.
	lineHeader                       // A section header; key is the name of the section.
	lineProperty                     // A property.
	lineContinuation                 // More of the value above; there is no key.
	lineSubProperty                  // A property of the property above.
)

// above is what a line that starts with a blank would continue.
type above int

const (
	aboveNothing above = iota // A header, or the start of the file.
	aboveValue                // A property with a value, or one that is dropped.
	aboveGroup                // A property without a value: sub-properties follow.
)

// item is a line that counts. Its slices are parts of the file.
type item struct {
	kind       lineKind
	key, value []byte
}

// scanner goes over the lines of one file and checks every one of them.
type scanner struct {
	file string
	kind FileKind
	data []byte
	next int // Where the next line starts in data.
	line int // The number of the current line, from 1.

	comments bool // There is a comment character somewhere in the file.

	inSection bool
	above     above
}

// newScanner starts at the first line. The whole file must be UTF-8.
func newScanner(file sharedFile) (scanner, error) {
	s := scanner{file: file.status.Path, kind: file.status.Kind}
	if !utf8.Valid(file.bytes) {
		s.line = invalidLine(file.bytes)
		return s, s.fail("", "the line is not valid UTF-8")
	}
	s.data = bytes.TrimPrefix(file.bytes, []byte("\uFEFF"))
	s.comments = bytes.IndexByte(s.data, '#') >= 0 || bytes.IndexByte(s.data, ';') >= 0
	return s, nil
}

// invalidLine is the number of the first line with a byte that is not UTF-8.
func invalidLine(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[size:]
	}
	return line
}

// scan goes to the next line that counts and writes it to it: a result of this size,
// copied at each return, takes a quarter of the time of the pass.
func (s *scanner) scan(it *item) error {
	for s.next < len(s.data) {
		line := s.cutLine()
		if len(line) == 0 {
			continue
		}
		switch line[0] {
		case '#', ';':
		case '[':
			return s.header(it, line)
		case ' ', '\t':
			if text := trim(line); len(text) > 0 {
				return s.indented(it, text)
			}
		default:
			return s.property(it, line)
		}
	}
	*it = item{}
	return nil
}

// cutLine takes the next line off, without its end: LF, or CR and LF.
func (s *scanner) cutLine() []byte {
	s.line++
	rest := s.data[s.next:]
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		s.next = len(s.data)
		return rest
	}
	s.next += end + 1
	if end > 0 && rest[end-1] == '\r' {
		end--
	}
	return rest[:end]
}

func (s *scanner) header(it *item, line []byte) error {
	text := line
	if s.comments {
		if i := bytes.IndexAny(line, "#;"); i >= 0 {
			text = line[:i]
		}
	}
	text = trim(text)
	if text[len(text)-1] != ']' {
		return s.fail(headerText(text), "a section header must end with ']'")
	}
	s.inSection = true
	s.above = aboveNothing
	*it = item{kind: lineHeader, key: trim(text[1 : len(text)-1])}
	return nil
}

func (s *scanner) property(it *item, line []byte) error {
	key, value, ok := splitProperty(s.withoutComment(line))
	switch {
	case !s.inSection:
		return s.fail(keyText(key), "a property stands before the first section: expected a section header such as [default]")
	case !ok:
		return s.fail(keyText(key), "expected an '=' sign in a property")
	case len(key) == 0:
		return s.fail("", "a property did not have a name: expected a key before the '=' sign")
	}
	s.above = aboveValue
	if len(value) == 0 && isName(key) {
		s.above = aboveGroup
	}
	*it = item{lineProperty, key, value}
	return nil
}

// indented takes a line that continues the property above. Comment characters
// in it are ordinary ones. What continues a dropped property is dropped with it,
// whatever it is.
func (s *scanner) indented(it *item, text []byte) error {
	switch {
	case s.above == aboveValue:
		*it = item{kind: lineContinuation, value: text}
		return nil
	case s.above == aboveNothing && !s.inSection:
		return s.fail("", "expected a section header before this indented line")
	case s.above == aboveNothing:
		return s.fail("", "expected a property above this continuation line, as it starts with a blank")
	}
	key, value, ok := splitProperty(text)
	switch {
	case !ok:
		return s.fail(keyText(key), "expected an '=' sign in a sub-property")
	case len(key) == 0:
		return s.fail("", "a sub-property did not have a name: expected a key before the '=' sign")
	}
	*it = item{lineSubProperty, key, value}
	return nil
}

func (s *scanner) fail(text, msg string) error {
	return &ParseError{Kind: s.kind, File: s.file, Line: s.line, Text: text, Msg: msg}
}

// splitProperty splits a line at its first equals sign. Without one, all of it is
// the key.
func splitProperty(line []byte) (key, value []byte, ok bool) {
	i := equalsSign(line)
	if i < 0 {
		return trim(line), nil, false
	}
	return trim(line[:i]), trim(line[i+1:]), true
}

// equalsSign is where the first equals sign stands, or less than 0. bytes.Cut
// would take twice as long, for every line of a file.
func equalsSign(line []byte) int { return bytes.IndexByte(line, '=') }

// withoutComment drops what follows the first comment character that stands
// after a blank.
func (s *scanner) withoutComment(line []byte) []byte {
	if !s.comments {
		return line
	}
	for i := 1; i < len(line); i++ {
		if (line[i] == '#' || line[i] == ';') && isBlank(line[i-1]) {
			return line[:i]
		}
	}
	return line
}

// headerText is what an error may show of a header: nothing after the bracket
// that closes it, or after an equals sign.
func headerText(line []byte) string {
	if i := bytes.IndexAny(line, "]="); i >= 0 {
		line = line[:i+1]
	}
	return shorten(string(line))
}

// keyText is what an error may show of a line that is not well formed: its first
// word, if that is a retry setting or looks like one.
func keyText(key []byte) string {
	word := key
	if i := bytes.IndexAny(key, " \t:="); i >= 0 {
		word = key[:i]
	}
	if retryKey(word) != "" || lookalike(word) != "" {
		return string(word)
	}
	return ""
}
