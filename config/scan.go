package config

import (
	"strings"
	"unicode/utf8"
)

// lineKind is the kind of a line. The scanner does not return blank lines.
type lineKind uint8

const (
	lineHeader       lineKind = iota // A section header.
	lineProperty                     // A property.
	lineContinuation                 // More of the value above (R13).
	lineSubProperty                  // A property of the property above (R14).
	lineMalformed                    // A line that is skipped (R08).
	lineComment                      // A comment that is not UTF-8; no other comment is returned.
)

// line is one line of a file.
type line struct {
	text   string // Without the whitespace at both ends.
	number int32  // From 1.
	depth  int32  // Spaces and tabs before the text.
	indent int32  // Characters of any whitespace before the text.
	kind   lineKind
	nested bool // The header is indented deeper than the property above it, by any whitespace.
}

// property is a line that is split into key and value.
type property struct {
	key, value string
	sign       byte // '=' or ':'
	comment    bool // A comment after the property was cut off (R10).
	dropped    bool // The key is no identifier, so the property counts for nothing (R11).
	malformed  string
}

// split splits a line at the first equals sign, or, if it has none, at the first colon (R09). Only
// a property has a comment (R10), and a header is not split. If the line is no property, malformed says
// what was expected.
func (l *line) split() (p property) {
	if l.kind == lineHeader {
		return p
	}
	text := l.text
	if l.kind == lineProperty {
		text = withoutComment(text)
		p.comment = len(text) < len(l.text)
	}
	at := strings.IndexByte(text, '=')
	if at < 0 {
		at = strings.IndexByte(text, ':')
	}
	if at < 0 {
		return property{malformed: msgNoSign}
	}
	p.sign, p.key, p.value = text[at], trim(text[:at]), trim(text[at+1:])
	if p.key == "" {
		p.malformed = "the property did not have a name: expected a key before the '" + string(p.sign) + "' sign"
	}
	p.dropped = !isIdentifier(p.key)
	return p
}

// What was expected instead of some malformed lines.
const (
	msgUTF8   = "the line is not valid UTF-8"
	msgUTF16  = "the file is UTF-16, not UTF-8: convert it, such as with iconv -f UTF-16 -t UTF-8"
	msgNoSign = "expected an '=' sign in a property"
)

// above is the kind of the property that a deeper line continues by rule R13.
type above uint8

const (
	aboveNothing   above = iota // A header or the start of the file.
	aboveProperty               // A property. The first deeper line decides which of the kinds below it is.
	aboveValue                  // A property with a value.
	aboveGroup                  // A property with an empty value: deeper lines are its sub-properties.
	aboveSkipped                // A dropped property: deeper lines are skipped.
	aboveMalformed              // A malformed line: deeper lines are skipped without a finding.
)

// scanner goes over the lines of one file and finds the kind of each by rules R01 to R14.
type scanner struct {
	data     string
	next     int      // Where the next line starts.
	number   int32    // The number of the current line.
	valid    bool     // All of the file is UTF-8.
	brief    bool     // Properties of the usual form are not returned,
	settings bool     // but retry settings are.
	expected string   // What was expected instead of a malformed line.
	current  property // The current line, if it is a property.

	started bool // A line that begins with [ has been seen.
	above   above
	depth   int32 // The indentation of the property above.
	last    int   // Where the line of the property above starts.
}

// scan writes the next line that counts to l. It returns false if there is none.
func (s *scanner) scan(l *line) bool {
	for s.next < len(s.data) {
		start := s.next
		text := s.cutLine()
		if s.brief && s.isUsual(text) {
			s.above, s.depth, s.last = aboveProperty, 0, start
			continue
		}
		depth := 0
		for depth < len(text) && isBlank(text[depth]) {
			depth++
		}
		after := text[depth:]
		*l = line{text: trim(after), number: s.number, depth: int32(depth), indent: int32(depth)}
		if l.text == "" {
			continue
		}
		if other := strings.Index(after, l.text); other > 0 {
			l.indent += int32(utf8.RuneCountInString(after[:other]))
		}
		if s.classify(l, start) {
			return true
		}
	}
	return false
}

// isUsual reports whether a line has the form that most lines have: a well-formed property
// that is not indented, begins with a letter and has an equals sign. The pass over a large
// file spends most of its time on such lines.
func (s *scanner) isUsual(text string) bool {
	if len(text) < 3 || !s.valid || !s.started {
		return false
	}
	first := text[0] | 0x20
	if first < 'a' || first > 'z' || s.settings && (first == keyRetryMode[0] && text[2]|0x20 == keyRetryMode[2] ||
		first == keyMaxAttempts[0] && text[2]|0x20 == keyMaxAttempts[2]) {
		return false
	}
	for i := range len(text) {
		switch text[i] {
		case '=':
			return true
		case '#', ';':
			return false
		}
	}
	return false
}

// cutLine returns the next line without its end. The end is LF, or CR and LF; at the end of
// the file it may be CR alone (R02).
func (s *scanner) cutLine() string {
	s.number++
	text := s.data[s.next:]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	s.next += len(text) + 1
	return strings.TrimSuffix(text, "\r")
}

// classify finds the kind of a line that starts at start. It reports whether the line counts.
func (s *scanner) classify(l *line, start int) bool {
	valid := s.valid || utf8.ValidString(l.text)
	switch first := l.text[0]; {
	case first == '#' || first == ';':
		l.kind = lineComment
		return !valid
	case first == '[': // A malformed header ends the section above it too.
		l.nested = s.above != aboveNothing && l.indent > s.depth
		s.started, s.above = true, aboveNothing
		if !valid {
			s.malformed(l, msgUTF8)
		} else if text := beforeAny(l.text); text[len(text)-1] != ']' {
			s.malformed(l, "a section header must end with ']'")
		}
		return true
	case !s.started:
		s.malformed(l, "expected a section header such as [default] before the first property")
		return true
	case l.depth > s.depth && s.above != aboveNothing:
		return s.deeper(l, valid)
	}
	s.depth, s.above, s.last = l.depth, aboveMalformed, start
	l.kind = lineProperty
	if !valid {
		s.malformed(l, msgUTF8)
	} else if s.current = l.split(); s.current.malformed != "" {
		s.malformed(l, s.current.malformed)
	} else {
		s.above = aboveProperty
	}
	return true
}

// deeper reads a line that is indented deeper than the property above (R13, R14). It reports
// whether the line counts.
func (s *scanner) deeper(l *line, valid bool) bool {
	if s.above == aboveProperty {
		above := scanner{data: s.data, next: s.last}
		last := line{text: trim(above.cutLine()), kind: lineProperty}
		switch p := last.split(); {
		case p.dropped:
			s.above = aboveSkipped
		case p.value == "":
			s.above = aboveGroup
		default:
			s.above = aboveValue
		}
	}
	switch {
	case s.above == aboveMalformed:
		return false
	case !valid:
		s.malformed(l, msgUTF8)
	case s.above == aboveSkipped:
		return false
	case s.above == aboveValue:
		l.kind = lineContinuation
	default:
		l.kind = lineSubProperty
		if p := l.split(); p.malformed != "" {
			s.malformed(l, p.malformed)
		}
	}
	return true
}

func (s *scanner) malformed(l *line, expected string) { l.kind, s.expected = lineMalformed, expected }

// headerName returns the name in the brackets of a header (R05).
func headerName(header string) string {
	text := beforeAny(header)
	return trim(text[1 : len(text)-1])
}

// beforeAny returns a header up to the first # or ;.
func beforeAny(header string) string {
	for i := range len(header) {
		if header[i] == '#' || header[i] == ';' {
			return trim(header[:i])
		}
	}
	return header
}

// withoutComment drops a comment: the text from the first # or ; that follows a space or
// tab (R10).
func withoutComment(text string) string {
	for i := 1; i < len(text); i++ {
		if (text[i] == '#' || text[i] == ';') && isBlank(text[i-1]) {
			return trim(text[:i])
		}
	}
	return text
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// trim drops whitespace (R03) at both ends.
func trim(text string) string { return strings.TrimSpace(text) }

// isIdentifier reports whether a text consists of one or more of the characters
// [A-Za-z0-9_/.%@:+-], as a key must (R11).
func isIdentifier(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '/', c == '.', c == '%', c == '@', c == ':', c == '+', c == '-':
		default:
			return false
		}
	}
	return text != ""
}
