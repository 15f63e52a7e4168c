package tools

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// allSections is the section whose keys configparser adds to every other section of its file.
const allSections = "DEFAULT"

// pythonFile reads a file as the configparser of Python does for botocore and the AWS CLI.
type pythonFile struct {
	scan
	keys, shared map[string]bool // The keys of the current section, and those of allSections.
	current      *profile
	level        int      // How many characters of whitespace are before the last property or header.
	bad          bool     // The property above has a line that makes it no map.
	late, group  *refusal // Two faults that refuse a file at its end, the first one first.
}

func readPythonFile(file int8, text string, trace tracer) *pythonFile {
	p := &pythonFile{scan: scan{file: file, trace: trace, sections: map[string]*profile{allSections: {}}}, shared: map[string]bool{}}
	offset := int32(0)
	for line := range strings.Lines(text) {
		if !utf8.ValidString(line) {
			p.refuse = &refusal{Place{file, offset}, "it is not UTF-8", "save it as UTF-8"}
			return p
		}
		offset += int32(len(line))
	}
	p.lines(text, '\r', p.line)
	if p.refuse == nil {
		p.refuse = p.late
	}
	if p.refuse == nil && len(p.order) > 0 {
		p.refuse = p.group
	}
	return p
}

func (p *pythonFile) line(line string) bool {
	left := line
	if line != "" && !isPlain(line[0]) {
		left = strings.TrimLeftFunc(line, pythonSpace)
	}
	text := trimmed(left, pythonSpace)
	if text == "" || text[0] == '#' || text[0] == ';' {
		return false
	}
	indent := utf8.RuneCountInString(line[:len(line)-len(left)])
	if p.above.there && indent > p.level {
		p.further(text)
		return true
	}
	p.level = indent
	end := -1
	if text[0] == '[' {
		end = strings.LastIndexByte(text, ']')
	}
	switch {
	case end > 1:
		p.header(text[1:end])
	case p.current != nil:
		p.pair(text)
	case p.step.offset == 0 && strings.HasPrefix(text, "\uFEFF"):
		p.note(&p.refuse, "it begins with a byte-order mark", "save it without the mark")
	default:
		p.note(&p.refuse, "the line stands above the first header", "put a header above it")
	}
	return true
}

// further adds a line to the value above.
func (p *pythonFile) further(text string) {
	p.continued()
	if !p.above.empty || p.bad {
		return
	}
	// The value is a map, and further characters end its lines.
	ends := func(c rune) bool { return strings.ContainsRune("\v\f\x1c\x1d\x1e\u0085\u2028\u2029", c) }
	for item := range strings.FieldsFuncSeq(text, ends) {
		if !strings.Contains(item, "=") && strings.TrimFunc(item, pythonSpace) != "" {
			p.bad = true
			p.note(&p.group, "a line below an empty value has no '='", "write key = value in each of the indented lines")
			return
		}
	}
}

func (p *pythonFile) header(name string) {
	p.step.kind = header
	p.name, p.above.there = pythonProfile(p.file, name), false
	switch {
	case name == allSections:
		p.current, p.keys = p.sections[name], p.shared
	case p.sections[name] != nil:
		p.note(&p.refuse, "the section stands twice", "merge the two")
	default:
		p.current, p.keys = p.section(name, p.at()), map[string]bool{}
	}
}

// pair reads a line with a key and a value.
func (p *pythonFile) pair(text string) {
	sign := either(text, '=', ':')
	if sign < 0 {
		p.note(&p.late, "the line has no '=' or ':'", "complete it, or comment it out")
		return
	}
	key := strings.ToLower(strings.TrimRightFunc(text[:sign], pythonSpace))
	if key == "" {
		p.note(&p.late, "the line has no key", "complete it, or comment it out")
	}
	if p.keys[key] {
		p.note(&p.refuse, "the key stands twice in its section", "delete one")
		return
	}
	p.keys[key], p.bad = true, false
	p.property(p.current, key, strings.TrimLeftFunc(text[sign+1:], pythonSpace))
}

// pythonProfile returns the name of the profile that a section is for.
func pythonProfile(file int8, name string) string {
	switch {
	case name == allSections:
		return ""
	case file == 1, name == "default":
		return name
	case !strings.HasPrefix(name, "profile"):
		return ""
	}
	if words := shellWords(name); len(words) == 2 {
		return words[1]
	}
	return ""
}

// shellWords splits a text as a POSIX shell does, and returns nil if it ends within quotes.
func shellWords(text string) (words []string) {
	var word strings.Builder
	begun := false
	quote := rune(0)
	escaped := false
	for _, c := range text + " " {
		switch {
		case escaped:
			if quote == '"' && c != '"' && c != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(c)
			escaped = false
		case quote == 0 && strings.ContainsRune(" \t\r\n", c):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'':
			escaped, begun = true, true
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		return nil
	}
	return words
}

// readPython reads the files as botocore and the AWS CLI do. Of the sections for one profile in the config file the last
// one counts, and the credentials file wins key by key. A file that is refused refuses both.
func readPython(texts [2]string, trace tracer) *reading {
	r := &reading{profiles: map[string]*profile{}}
	for i, text := range texts {
		file := readPythonFile(int8(i), text, trace)
		if r.refuse = file.refuse; r.refuse != nil {
			return r
		}
		for _, section := range file.order {
			name, p := pythonProfile(int8(i), section), file.sections[section]
			if name == "" {
				continue
			}
			p.fill(file.sections[allSections], true)
			if weaker := r.profiles[name]; i == 1 && weaker != nil {
				p.head = weaker.head
				p.fill(weaker, false)
			}
			r.profiles[name] = p
		}
	}
	return r
}

// pythonText returns what botocore, or a tool with other modes, makes of a value. A variable replaces a value before that
// is judged, also if it is empty.
func pythonText(modes ...string) func(i int, v value) (string, bool) {
	return func(i int, v value) (text string, ok bool) {
		if text, ok = v.text, slices.Contains(modes, v.text); i == attempts {
			text, ok = pythonInt(v.text)
		}
		return text, ok && !v.more
	}
}

var pythonNumber = regexp.MustCompile(`^\+?\p{Nd}+(?:_\p{Nd}+)*$`)

// pythonInt returns a number above 0 as int() of Python reads it, in decimal. It may have digits of any script.
func pythonInt(text string) (string, bool) {
	text = strings.TrimFunc(text, pythonSpace)
	if !pythonNumber.MatchString(text) {
		return "", false
	}
	digits := strings.Map(digitOf, text)
	if len(digits) > 4300 {
		return "", false
	}
	n, _ := new(big.Int).SetString(digits, 10)
	return n.String(), n.Sign() > 0
}

// digitOf returns a decimal digit as that of ASCII, and drops signs. Each script has its ten digits in a row.
func digitOf(c rune) rune {
	if c == '+' || c == '_' {
		return -1
	}
	n := rune(0)
	for ; unicode.Is(unicode.Nd, c-1); c-- {
		n++
	}
	return '0' + n%10
}
