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
	lineProperty                     // A property; item.drop tells if its key is no identifier (R11).
	lineContinuation                 // More of the value above (R13); item.value is the line.
	lineSubProperty                  // A property of the property above (R14).
	lineMalformed                    // A line that is skipped (R08); item.msg says what was expected.
	lineComment                      // A comment that is not UTF-8; no other comment is returned.
)

// item is one line. Its slices are parts of the file. Members that its kind does
// not mention may be those of an earlier line.
type item struct {
	kind    lineKind
	comment bool // A comment behind the property was cut off (R10).
	nested  bool // The header is indented deeper than the property above.
	sign    byte // '=' or ':' of a property or sub-property.
	depth   int  // Spaces and tabs before the text.
	start   int  // Where the line begins in the data.
	at      int  // Where its text begins.
	number  int  // The number of the line, from 1.
	text    []byte
	key     []byte // Of a header, a property and a sub-property.
	value   []byte // Of a property, a sub-property and a continuation.
	msg     string // What was expected in place of a malformed line.
}

// drop reports whether a property is dropped with all lines that continue it (R11).
func (it *item) drop() bool { return !isIdentifier(it.key) }

// above is the property that a deeper line continues, as rule R13 knows it.
type above uint8

const (
	aboveNothing   above = iota // A header or the start of the file.
	aboveProperty               // A property; the first deeper line finds out of which kind.
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

	brief    bool // Most properties are passed over, and are only checked;
	settings bool // but retry settings are not.

	started bool // A line that begins with [ has been seen.
	above   above
	depth   int // The indentation of the property above.
	start   int // Where the property above begins.
}

// scan goes to the next line that counts and writes it to it. The caller keeps
// one item for the whole pass, since a new one for each line costs a quarter of the
// time of the pass.
func (s *scanner) scan(it *item) bool {
	for s.next < len(s.data) {
		it.start = s.next
		line := s.cutLine()
		if s.brief && s.isUsual(line) {
			s.above, s.depth, s.start = aboveProperty, 0, it.start
			continue
		}
		depth := 0
		for depth < len(line) && isBlank(line[depth]) {
			depth++
		}
		rest := trimRight(line[depth:])
		text := trimLeft(rest)
		if len(text) == 0 {
			continue
		}
		it.number, it.depth, it.text = s.number, depth, text
		it.at = it.start + depth + len(rest) - len(text)
		switch first := text[0]; {
		case first == '#' || first == ';':
			if s.isUTF8(text) {
				continue
			}
			it.kind = lineComment
		case first == '[':
			s.header(it)
		case !s.started:
			it.malformed("expected a section header such as [default] before the first property")
		case depth > s.depth && s.above != aboveNothing:
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

// isUsual reports whether a line is of a form that most lines have: a property that
// begins with a letter, and that is certainly well formed. The pass over a large file
// spends most of its time on those.
func (s *scanner) isUsual(line []byte) bool {
	if len(line) < 3 || !s.valid || !s.started {
		return false
	}
	switch first := line[0] | 0x20; {
	case first < 'a' || first > 'z':
		return false
	case s.settings && (first == keyRetryMode[0] && line[2]|0x20 == keyRetryMode[2] ||
		first == keyMaxAttempts[0] && line[2]|0x20 == keyMaxAttempts[2]):
		return false
	}
	return bytes.IndexByte(line, '=') > 0 && (!s.comments || !bytes.ContainsAny(line, "#;"))
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
	it.nested = s.above != aboveNothing && it.depth > s.depth
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

// property reads a line that is a property of its own (R09, R10). The next lines
// continue it if they are deeper.
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
	if it.split(text) {
		it.kind, s.above, s.start = lineProperty, aboveProperty, it.start
	}
}

// deeper reads a line that is deeper than the property above (R13, R14), and
// reports whether it counts.
func (s *scanner) deeper(it *item) bool {
	if s.above == aboveProperty {
		s.above = s.kindAbove()
	}
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

// kindAbove reads the property above again.
func (s *scanner) kindAbove() above {
	line, it := scanner{data: s.data, next: s.start, valid: true, comments: s.comments, started: true}, item{}
	line.scan(&it)
	switch {
	case it.drop():
		return aboveDropped
	case len(it.value) == 0:
		return aboveGroup
	}
	return aboveValue
}

// split splits a trimmed property at its first equals sign or, without one, at its
// first colon (R09). It reports whether the line is well formed.
func (it *item) split(text []byte) bool {
	i := bytes.IndexByte(text, '=')
	if i < 0 {
		i = bytes.IndexByte(text, ':')
	}
	if i < 0 {
		it.malformed("expected an '=' sign in a property")
		return false
	}
	before, after := i, i+1
	if before > 0 && text[before-1] == ' ' {
		before-- // The usual space is dropped here, without a call.
	}
	if after < len(text) && text[after] == ' ' {
		after++
	}
	it.sign, it.key, it.value = text[i], trimRight(text[:before]), trimLeft(text[after:])
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

// trim drops whitespace (R03) at both ends.
func trim(b []byte) []byte { return trimLeft(trimRight(b)) }

// trimLeft and trimRight run several times a line, so that the usual case, in which
// there is nothing to drop, is inlined.
func trimLeft(b []byte) []byte {
	if len(b) > 0 && maySpace(b[0]) {
		return trimLeftSpaces(b)
	}
	return b
}

func trimRight(b []byte) []byte {
	if len(b) > 0 && maySpace(b[len(b)-1]) {
		return trimRightSpaces(b)
	}
	return b
}

//go:noinline
func trimLeftSpaces(b []byte) []byte { return bytes.TrimLeftFunc(b, unicode.IsSpace) }

//go:noinline
func trimRightSpaces(b []byte) []byte { return bytes.TrimRightFunc(b, unicode.IsSpace) }

// maySpace reports whether a character that begins or ends with c may be whitespace:
// whether c is outside of '!' to 0x7F.
func maySpace(c byte) bool { return c-'!' >= utf8.RuneSelf-'!' }

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
