package config

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// lineKind is the kind of a line. The scanner does not return blank lines.
type lineKind uint8

const (
	lineEnd          lineKind = iota // There are no more lines.
	lineHeader                       // A section header; item.key is the name of the section.
	lineProperty                     // A property; item.drop reports whether its key is no identifier (R11).
	lineContinuation                 // More of the value above (R13); item.value is the line.
	lineSubProperty                  // A property of the property above (R14).
	lineMalformed                    // A line that is skipped (R08); item.msg says what was expected.
	lineComment                      // A comment that is not UTF-8; no other comment is returned.
)

// item is one line. Its slices are parts of the file. Fields that the kind of the line does
// not mention may have the values of an earlier line.
type item struct {
	kind    lineKind
	comment bool // A comment behind the property was cut off (R10).
	nested  bool // The header is indented deeper than the property above it, whatever whitespace that is.
	sign    byte // '=' or ':' of a property or sub-property.
	depth   int  // Spaces and tabs before the text.
	start   int  // Where the line begins in the data.
	odd     int  // Characters of other whitespace between these and the text.
	at      int  // Where its text begins.
	number  int  // The number of the line, from 1.
	text    []byte
	key     []byte // Of a header, a property and a sub-property.
	value   []byte // Of a property, a sub-property and a continuation.
	msg     string // What was expected in place of a malformed line.
}

// indent returns how many characters of whitespace stand before the text.
func (it *item) indent() int {
	return it.depth + it.odd
}

// drop reports whether the property is dropped, with all lines that continue it (R11).
func (it *item) drop() bool { return !isIdentifier(it.key) }

// above is the kind of the property that a deeper line continues by rule R13.
type above uint8

const (
	aboveNothing   above = iota // A header or the start of the file.
	aboveProperty               // A property. The first deeper line finds out of which kind below it is.
	aboveValue                  // A property with a value.
	aboveGroup                  // A property with an empty value: deeper lines are its sub-properties.
	aboveDropped                // A dropped property.
	aboveMalformed              // A malformed line: deeper lines are skipped without a finding.
)

// scanner goes over the lines of one file and finds the kind of each by rules R01 to R14.
type scanner struct {
	data   []byte
	next   int // Where the next line starts.
	number int // The number of the current line.

	valid    bool // All of the data is UTF-8.
	comments bool // There may be a # or ; somewhere in the data.

	brief    bool // Properties of the usual form are not returned,
	settings bool // but retry settings are.

	started bool // A line that begins with [ has been seen.
	above   above
	depth   int // The indentation of the property above.
	start   int // Where the line of the property above begins in the data.
}

// scan writes the next line that counts to it. It returns false if there is none. The caller
// keeps one item for the whole pass, because a new item for each line costs a quarter of the
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
		it.at, it.odd = it.start+depth+len(rest)-len(text), 0
		if len(text) < len(rest) {
			it.odd = utf8.RuneCount(rest[:len(rest)-len(text)])
		}
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

// isUsual reports whether a line has the form that most lines have: a well-formed property
// that is not indented, begins with a letter and has an equals sign. The pass over a large
// file spends most of its time on such lines.
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

// cutLine returns the next line without its end. The end is LF, or CR and LF; at the end of
// the file it may be CR alone (R02).
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

// header reads a section header (R05). A malformed header ends the section above it too.
func (s *scanner) header(it *item) {
	it.nested = s.above != aboveNothing && it.indent() > s.depth
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

// property reads a line that does not continue another one (R09, R10).
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

// deeper reads a line that is indented deeper than the property above (R13, R14). It reports
// whether the line counts.
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

// kindAbove reads the property above again and returns its kind.
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

// split splits a trimmed property at the first equals sign, or, if it has none, at the first
// colon (R09). It reports whether the line is well formed.
func (it *item) split(text []byte) bool {
	i := bytes.IndexByte(text, '=')
	if i < 0 {
		i = bytes.IndexByte(text, ':')
	}
	if i < 0 {
		it.malformed(msgNoSign)
		return false
	}
	before, after := i, i+1
	if before > 0 && text[before-1] == ' ' {
		before-- // One space, the usual case, is dropped without a call.
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

// What was expected in place of some malformed lines.
const (
	msgUTF8   = "the line is not valid UTF-8"
	msgNoSign = "expected an '=' sign in a property"
)

func (it *item) malformed(msg string) { it.kind, it.msg = lineMalformed, msg }

func (s *scanner) isUTF8(text []byte) bool { return s.valid || utf8.Valid(text) }

// withoutComment drops a comment: the text from the first # or ; behind a space or tab on
// (R10).
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

// trimLeft and trimRight run several times for each line. They are small enough to be inlined,
// and call a function only if there may be whitespace.
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

// maySpace reports whether a character that begins or ends with the byte c may be whitespace.
// It is false for '!' to 0x7F.
func maySpace(c byte) bool { return c-'!' >= utf8.RuneSelf-'!' }

// isIdentifier reports whether b consists of one or more of the characters
// [A-Za-z0-9_/.%@:+-], as a key must (R11).
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
