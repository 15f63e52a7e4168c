package config

import (
	"bytes"
	"unicode/utf8"
)

// lineKind is what a line that counts is.
type lineKind int

const (
	lineEnd          lineKind = iota // There are no more lines.
	lineHeader                       // A section header; name is set.
	lineProperty                     // A property; key and value are set.
	lineContinuation                 // More of the value above; value is set.
	lineSubProperty                  // A property of the property above; key and value are set.
)

// above is what a line that starts with a blank would continue.
type above int

const (
	aboveNothing  above = iota // A header, or the start of the file.
	aboveProperty              // A property that nothing has continued yet.
	aboveValue                 // A property with a value, or one that is dropped.
	aboveGroup                 // A property without a value: sub-properties follow.
)

// scanner goes over the lines of one file and checks every one of them. The
// slices it gives are parts of the file.
type scanner struct {
	file string
	kind FileKind
	rest []byte
	line int // The number of the current line, from 1.

	inSection bool
	above     above

	name, key, value []byte
}

// newScanner starts at the first line. The whole file must be UTF-8.
func newScanner(file sharedFile) (*scanner, error) {
	s := &scanner{file: file.status.Path, kind: file.status.Kind}
	if !utf8.Valid(file.bytes) {
		s.line = invalidLine(file.bytes)
		return nil, s.fail("", "the line is not valid UTF-8")
	}
	s.rest = bytes.TrimPrefix(file.bytes, []byte("\uFEFF"))
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

// next goes to the next line that counts.
func (s *scanner) next() (lineKind, error) {
	for len(s.rest) > 0 {
		line := s.cutLine()
		if len(line) == 0 {
			continue
		}
		switch line[0] {
		case '#', ';':
		case '[':
			return s.header(line)
		case ' ', '\t':
			if text := trim(line); len(text) > 0 {
				return s.indented(text)
			}
		default:
			return s.property(line)
		}
	}
	return lineEnd, nil
}

// cutLine takes the next line off, without its end: LF, or CR and LF.
func (s *scanner) cutLine() []byte {
	s.line++
	end := bytes.IndexByte(s.rest, '\n')
	if end < 0 {
		line := s.rest
		s.rest = nil
		return line
	}
	line := s.rest[:end]
	s.rest = s.rest[end+1:]
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	return line
}

func (s *scanner) header(line []byte) (lineKind, error) {
	text := line
	if i := bytes.IndexAny(line, "#;"); i >= 0 {
		text = line[:i]
	}
	text = trim(text)
	if text[len(text)-1] != ']' {
		return lineEnd, s.fail(headerText(text), "a section header must end with ']'")
	}
	s.name = trim(text[1 : len(text)-1])
	s.inSection = true
	s.above = aboveNothing
	return lineHeader, nil
}

func (s *scanner) property(line []byte) (lineKind, error) {
	key, value, ok := splitProperty(withoutComment(line))
	switch {
	case !s.inSection:
		return lineEnd, s.fail(keyText(key), "a property stands before the first section: expected a section header such as [default]")
	case !ok:
		return lineEnd, s.fail(keyText(key), "expected an '=' sign in a property")
	case len(key) == 0:
		return lineEnd, s.fail("", "a property did not have a name: expected a key before the '=' sign")
	}
	s.key, s.value = key, value
	s.above = aboveProperty
	return lineProperty, nil
}

// indented takes a line that continues the property above. Comment characters
// in it are ordinary ones. What continues a dropped property is dropped with it,
// whatever it is.
func (s *scanner) indented(text []byte) (lineKind, error) {
	if s.above == aboveProperty {
		s.above = aboveValue
		if len(s.value) == 0 && isName(s.key) {
			s.above = aboveGroup
		}
	}
	s.key, s.value = nil, text
	if s.above == aboveNothing {
		msg := "expected a property above this continuation line, as it starts with a blank"
		if !s.inSection {
			msg = "expected a section header before this indented line"
		}
		return lineEnd, s.fail("", msg)
	}
	if s.above != aboveGroup {
		return lineContinuation, nil
	}
	var ok bool
	s.key, s.value, ok = splitProperty(text)
	switch {
	case !ok:
		return lineEnd, s.fail(keyText(s.key), "expected an '=' sign in a sub-property")
	case len(s.key) == 0:
		return lineEnd, s.fail("", "a sub-property did not have a name: expected a key before the '=' sign")
	}
	return lineSubProperty, nil
}

func (s *scanner) fail(text, msg string) error {
	return &ParseError{Kind: s.kind, File: s.file, Line: s.line, Text: text, Msg: msg}
}

// splitProperty splits a line at its first equals sign. Without one, all of it is
// the key.
func splitProperty(line []byte) (key, value []byte, ok bool) {
	key, value, ok = bytes.Cut(line, []byte{'='})
	return trim(key), trim(value), ok
}

// withoutComment drops what follows the first comment character that stands
// after a blank.
func withoutComment(line []byte) []byte {
	if bytes.IndexByte(line, '#') < 0 && bytes.IndexByte(line, ';') < 0 {
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
