// Package sharedfile reads the two files that AWS tools share, by the rules R01 to R18 of testdata/rules.md. It finds
// the lines that count and the sections that they are in. What the values mean, and what is odd about the lines, it
// does not know.
package sharedfile

import (
	"strings"
	"unicode/utf8"
)

// LineKind is the kind of a line.
type LineKind uint8

// The kinds. Blank lines and comments are left out.
const (
	Header       LineKind = iota // A section header.
	PropertyLine                 // A property.
	Continuation                 // More of the value above (R13).
	SubProperty                  // A property of the property above (R14).
	Skipped                      // A line that is skipped because it is deeper than one that is.
	Malformed                    // A line that is skipped (R08).
)

// Fault is what makes a line malformed.
type Fault uint8

// The faults.
const (
	NoFault Fault = iota
	NotUTF8
	UTF16 // Of the whole file.
	OpenHeader
	LoneCR
	BeforeHeader
	NoSign
	NoKey
)

// String says what was expected.
func (f Fault) String() string {
	return [...]string{
		NotUTF8:      "the line is not valid UTF-8",
		UTF16:        "the file is UTF-16, not UTF-8: convert it, such as with iconv -f UTF-16 -t UTF-8",
		OpenHeader:   "a section header must end with ']'",
		LoneCR:       "a section header must end with ']', and a CR alone does not end a line: write LF, or CR and LF",
		BeforeHeader: "expected a section header such as [default] before the first property",
		NoSign:       "expected an '=' sign in a property",
		NoKey:        "the property does not have a name: expected a key before the '=' or ':'",
	}[f]
}

// Line is one line of a file.
type Line struct {
	Text   string // Without the whitespace at both ends.
	Number int32  // From 1.
	Kind   LineKind
	Fault  Fault // Of a malformed line.

	depth  int32 // Spaces and tabs at the start.
	indent int32 // Characters of any whitespace before the text.
}

// Shown returns the beginning of a malformed line that cannot be a secret. For a header it ends at the closing bracket,
// at an equals sign or at a colon. For any other line it is the first word if that is a retry setting or looks like
// one, else nothing.
func (l *Line) Shown() string {
	text := l.Text
	if strings.HasPrefix(text, "[") {
		text = BeforeAny(text)
		if i := strings.IndexAny(text, "]=:"); i >= 0 {
			text = text[:i+1]
		}
	} else {
		if i := strings.IndexAny(text, " \t:="); i >= 0 {
			text = text[:i]
		}
		if RetryKey(text) == "" && Lookalike(text) == "" {
			return ""
		}
	}
	return Shorten(strings.ToValidUTF8(text, "\uFFFD"))
}

// Property is a line that is split into key and value.
type Property struct {
	Key, Value string
	Sign       byte // '=' or ':'
	Fault      Fault
}

// Dropped reports whether the key is no identifier, so that the property counts for nothing (R11).
func (p Property) Dropped() bool { return !IsIdentifier(p.Key) }

// Split splits a line at the first equals sign, or, if it has none, at the first colon (R09). Only a property has a
// comment (R10), and a header is not split.
func (l *Line) Split() (p Property) {
	if l.Kind == Header {
		return p
	}
	text := l.Text
	if l.Kind == PropertyLine {
		text = withoutComment(text)
	}
	at := strings.IndexByte(text, '=')
	if at < 0 {
		at = strings.IndexByte(text, ':')
	}
	if at < 0 {
		return Property{Fault: NoSign}
	}
	p.Sign, p.Key, p.Value = text[at], Trim(text[:at]), Trim(text[at+1:])
	if p.Key == "" {
		p.Fault = NoKey
	}
	return p
}

// above is the kind of the property that a deeper line continues by rule R13.
type above uint8

const (
	aboveNothing   above = iota // A header or the start of the file.
	aboveProperty               // A property. The first deeper line decides which of the kinds below it is.
	aboveValue                  // A property with a value.
	aboveGroup                  // A property with an empty value: deeper lines are its sub-properties.
	aboveSkipped                // A dropped property: deeper lines are skipped.
	aboveMalformed              // A malformed line: deeper lines are skipped, also those that are not UTF-8.
)

// scanner goes over the lines of one file and finds the kind of each by rules R01 to R14.
type scanner struct {
	data     string
	next     int      // Where the next line starts.
	number   int32    // The number of the current line.
	valid    bool     // All of the file is UTF-8.
	brief    bool     // Properties of the usual form are not returned,
	settings bool     // but retry settings are.
	current  Property // The current line, if it is a property.

	started bool // A line that begins with [ has been seen.
	above   above
	depth   int32  // The indentation of the property above, in characters of any whitespace.
	last    string // The line of the property above.
}

// scan writes the next line that counts to l. It returns false if there is none.
func (s *scanner) scan(l *Line) bool {
	for s.next < len(s.data) {
		text := s.cutLine()
		if s.brief && s.isUsual(text) {
			s.above, s.depth, s.last = aboveProperty, 0, text
			continue
		}
		depth := 0
		for depth < len(text) && isBlank(text[depth]) {
			depth++
		}
		after := text[depth:]
		*l = Line{Text: Trim(after), Number: s.number, depth: int32(depth), indent: int32(depth)}
		if l.Text == "" {
			continue
		}
		if after[0] >= utf8.RuneSelf || after[0] != l.Text[0] {
			l.indent += int32(utf8.RuneCountInString(after[:strings.Index(after, l.Text)]))
		}
		if s.classify(l) {
			return true
		}
	}
	return false
}

// isUsual reports whether a line has the form that most lines have: a well-formed property that is not indented, begins
// with a letter and has an equals sign. The pass over a large file spends most of its time on such lines.
func (s *scanner) isUsual(text string) bool {
	if len(text) < 3 || !s.valid || !s.started {
		return false
	}
	first := text[0] | 0x20
	if first < 'a' || first > 'z' || s.settings && (first == RetryMode[0] && text[2]|0x20 == RetryMode[2] ||
		first == MaxAttempts[0] && text[2]|0x20 == MaxAttempts[2]) {
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

// cutLine returns the next line without its end. The end is LF, or CR and LF; at the end of the file it may be CR alone
// (R02).
func (s *scanner) cutLine() string {
	s.number++
	text := s.data[s.next:]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	s.next += len(text) + 1
	return strings.TrimSuffix(text, "\r")
}

// classify finds the kind of a line. It reports whether the line counts.
func (s *scanner) classify(l *Line) bool {
	valid := s.valid || utf8.ValidString(l.Text)
	switch first := l.Text[0]; {
	case first == '#' || first == ';':
		return false
	case first == '[': // A malformed header ends the section above it too.
		s.started, s.above = true, aboveNothing
		if text := BeforeAny(l.Text); !valid && !utf8.ValidString(text) {
			s.malformed(l, NotUTF8)
		} else if text[len(text)-1] != ']' {
			fault := OpenHeader
			if strings.IndexByte(l.Text, '\r') >= 0 {
				fault = LoneCR
			}
			s.malformed(l, fault)
		}
		return true
	case !s.started:
		s.malformed(l, BeforeHeader)
		return true
	case l.depth > s.depth && s.above != aboveNothing:
		return s.deeper(l, valid)
	}
	s.depth, s.above, s.last = l.indent, aboveMalformed, l.Text
	l.Kind = PropertyLine
	if s.current = l.Split(); !valid && !utf8.ValidString(withoutComment(l.Text)) {
		s.malformed(l, NotUTF8)
	} else if s.current.Fault != NoFault {
		s.malformed(l, s.current.Fault)
	} else {
		s.above = aboveProperty
	}
	return true
}

// deeper reads a line that is indented deeper than the property above (R13, R14). It reports whether the line counts.
func (s *scanner) deeper(l *Line, valid bool) bool {
	if s.above == aboveProperty {
		last := Line{Text: Trim(s.last), Kind: PropertyLine}
		switch p := last.Split(); {
		case p.Dropped():
			s.above = aboveSkipped
		case p.Value == "":
			s.above = aboveGroup
		default:
			s.above = aboveValue
		}
	}
	switch {
	case s.above == aboveMalformed && !valid:
		return false
	case !valid:
		s.malformed(l, NotUTF8)
	case s.above == aboveMalformed, s.above == aboveSkipped:
		l.Kind = Skipped
	case s.above == aboveValue:
		l.Kind = Continuation
	default:
		l.Kind = SubProperty
		if p := l.Split(); p.Fault != NoFault {
			s.malformed(l, p.Fault)
		}
	}
	return true
}

func (s *scanner) malformed(l *Line, fault Fault) {
	l.Kind, l.Fault = Malformed, fault
}

// HeaderName returns the name in the brackets of a header (R05).
func HeaderName(header string) string {
	text := BeforeAny(header)
	return Trim(text[1 : len(text)-1])
}

// BeforeAny returns a header up to the first # or ;.
func BeforeAny(header string) string {
	for i := range len(header) { // strings.IndexAny builds a set for each header.
		if header[i] == '#' || header[i] == ';' {
			return Trim(header[:i])
		}
	}
	return header
}

// withoutComment drops a comment: the text from the first # or ; that follows a space or tab (R10).
func withoutComment(text string) string {
	if strings.IndexByte(text, '#') < 0 && strings.IndexByte(text, ';') < 0 { // This is fast, and most lines have none.
		return text
	}
	for i := 1; i < len(text); i++ {
		if (text[i] == '#' || text[i] == ';') && isBlank(text[i-1]) {
			return Trim(text[:i])
		}
	}
	return text
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// IsIdentifier reports whether a text consists of one or more of the characters [A-Za-z0-9_/.%@:+-], as a key must
// (R11).
func IsIdentifier(text string) bool {
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
