package config

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// lineKind is what a line is. Blank lines are never returned.
type lineKind uint8

const (
	lineEnd          lineKind = iota // There are no more lines.
	lineHeader                       // A section header; item.key is the name of the section.
	lineProperty                     // A property; item.drop if its key is no identifier (R11).
	lineContinuation                 // More of the value above (R13); item.value is the line.
	lineSubProperty                  // A property of the property above (R14).
	lineMalformed                    // A line that is skipped (R08); item.msg says what was expected.
	lineComment                      // A comment that is not UTF-8; no other comment is returned.
)

// item is one line. Its slices are parts of the file.
type item struct {
	kind       lineKind
	drop       bool // A property that is dropped with all lines that continue it.
	comment    bool // A comment behind the property was cut off (R10).
	sign       byte // '=' or ':' of a property or sub-property.
	depth      int  // Spaces and tabs before the text.
	start      int  // Where the line begins in the data.
	number     int  // The number of the line, from 1.
	text       []byte
	key, value []byte
	msg        string // What was expected in place of a malformed line.
}

// above is the property that a deeper line continues, as rule R13 knows it.
type above uint8

const (
	aboveNothing   above = iota // A header or the start of the file.
	aboveValue                  // A property with a value.
	aboveGroup                  // A property with an empty value: sub-properties follow.
	aboveDropped                // A dropped property.
	aboveMalformed              // A malformed line: deeper lines are skipped in silence.
)

// scanner goes over the lines of one file and classifies every one of them by
// rules R01 to R14.
type scanner struct {
	data   []byte
	next   int // Where the next line starts.
	number int // The number of the current line.

	valid    bool // The whole data is UTF-8.
	comments bool // There may be a # or ; somewhere in the data.

	started bool // A line that begins with [ has been seen.
	above   above
	depth   int // The indentation of the property above.
}

// scan goes to the next line that counts and writes it to it. The caller keeps
// one item for the whole pass, since copying one for each line costs a quarter of
// the time of the pass.
func (s *scanner) scan(it *item) bool {
	for s.next < len(s.data) {
		start := s.next
		line := s.cutLine()
		depth := 0
		for depth < len(line) && isBlank(line[depth]) {
			depth++
		}
		text := trim(line[depth:])
		if len(text) == 0 || (text[0] == '#' || text[0] == ';') && s.isUTF8(text) {
			continue
		}
		*it = item{start: start, number: s.number, depth: depth, text: text}
		switch {
		case text[0] == '#' || text[0] == ';':
			it.kind = lineComment
		case text[0] == '[':
			s.header(it)
		case !s.started:
			it.malformed("expected a section header such as [default] before the first property")
		case s.above != aboveNothing && depth > s.depth:
			if !s.deeper(it) {
				continue
			}
		default:
			s.property(it)
		}
		return true
	}
	*it = item{number: s.number}
	return false
}

// cutLine takes the next line off, without its end: LF, or CR and LF; at the end
// of the file also CR alone (R02).
func (s *scanner) cutLine() []byte {
	s.number++
	rest := s.data[s.next:]
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		s.next, end = len(s.data), len(rest)
	} else {
		s.next += end + 1
	}
	if end > 0 && rest[end-1] == '\r' {
		end--
	}
	return rest[:end]
}

// header reads a section header (R05). A malformed one ends the section above too.
func (s *scanner) header(it *item) {
	s.started, s.above = true, aboveNothing
	text := it.text
	if s.comments {
		if i := bytes.IndexAny(text, "#;"); i >= 0 {
			text = trim(text[:i])
		}
	}
	switch {
	case !s.isUTF8(it.text):
		it.malformed(msgUTF8)
	case text[len(text)-1] != ']':
		it.malformed("a section header must end with ']'")
	default:
		it.kind, it.key = lineHeader, trim(text[1:len(text)-1])
	}
}

// property reads a line that is a property of its own (R09 to R11). The next
// lines continue it if they are deeper.
func (s *scanner) property(it *item) {
	s.depth, s.above = it.depth, aboveMalformed
	if !s.isUTF8(it.text) {
		it.malformed(msgUTF8)
		return
	}
	text := it.text
	if s.comments {
		text = withoutComment(text)
	}
	it.comment = len(text) < len(it.text)
	if !it.split(text) {
		return
	}
	it.kind, it.drop = lineProperty, !isIdentifier(it.key)
	switch {
	case it.drop:
		s.above = aboveDropped
	case len(it.value) > 0:
		s.above = aboveValue
	default:
		s.above = aboveGroup
	}
}

// deeper reads a line that is deeper than the property above (R13, R14), and
// reports whether it counts.
func (s *scanner) deeper(it *item) bool {
	switch {
	case s.above == aboveMalformed:
		return false
	case !s.isUTF8(it.text):
		it.malformed(msgUTF8)
	case s.above == aboveDropped:
		return false
	case s.above == aboveValue:
		it.kind, it.value = lineContinuation, it.text
	case it.split(it.text):
		it.kind = lineSubProperty
	}
	return true
}

// split splits a property at its first equals sign or, without one, at its first
// colon (R09). It reports whether the line is well formed.
func (it *item) split(text []byte) bool {
	i := bytes.IndexByte(text, '=')
	if i < 0 {
		i = bytes.IndexByte(text, ':')
	}
	if i < 0 {
		it.key = text
		it.malformed("expected an '=' sign in a property")
		return false
	}
	it.sign, it.key, it.value = text[i], trim(text[:i]), trim(text[i+1:])
	if len(it.key) == 0 {
		it.malformed("the property did not have a name: expected a key before the '" + string(it.sign) + "' sign")
		return false
	}
	return true
}

const msgUTF8 = "the line is not valid UTF-8"

func (it *item) malformed(msg string) { it.kind, it.msg = lineMalformed, msg }

func (s *scanner) isUTF8(text []byte) bool { return s.valid || utf8.Valid(text) }

// withoutComment drops what follows the first # or ; behind a space or tab (R10).
func withoutComment(text []byte) []byte {
	for i := 1; i < len(text); i++ {
		if (text[i] == '#' || text[i] == ';') && isBlank(text[i-1]) {
			return trim(text[:i])
		}
	}
	return text
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// trim drops whitespace (R03) at both ends. It runs several times a line, so the
// usual cases come before the call.
func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	if len(b) > 0 && (isOdd(b[0]) || isOdd(b[len(b)-1])) {
		return bytes.TrimFunc(b, unicode.IsSpace)
	}
	return b
}

// isOdd reports whether c may be whitespace other than a space: a control
// character, or a byte of a character beyond ASCII.
func isOdd(c byte) bool { return c < ' ' || c >= utf8.RuneSelf }

// isIdentifier reports whether b may be a key: one or more of the characters
// [A-Za-z0-9_/.%@:+-] (R11).
func isIdentifier(b []byte) bool {
	for _, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '/', c == '.', c == '%', c == '@', c == ':', c == '+', c == '-':
		default:
			return false
		}
	}
	return len(b) > 0
}
