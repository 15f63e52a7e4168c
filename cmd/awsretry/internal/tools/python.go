package tools

import (
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// allSections is the section whose keys configparser adds to every other section of its file.
const allSections = "DEFAULT"

// pythonFile reads a file as the configparser of Python does for botocore and the AWS CLI.
type pythonFile struct {
	file     int8
	trace    tracer
	step     step // Of the line at hand.
	sections map[string]*profile
	order    []string
	refuse   *refusal

	keys, shared map[string]bool // The keys of the current section, and those of allSections.
	current      *profile
	name         string // The profile of the current section.
	level        int    // How many characters of whitespace are before the last property or header.

	above struct { // The last property of the section.
		there bool
		place Place
		kept  *value // If it is kept.
		empty bool   // Its first line has no value.
		bad   bool   // It has a line that makes it no map.
	}
	late, group *refusal // Two faults that refuse a file at its end, the first one first.
}

func readPythonFile(file int8, text string, trace tracer) *pythonFile {
	p := &pythonFile{file: file, trace: trace, sections: map[string]*profile{allSections: {}}, shared: map[string]bool{}}
	if !utf8.ValidString(text) {
		p.refuse = &refusal{Place{file, startOfInvalid(text)}, "it is not UTF-8", "save it as UTF-8"}
		return p
	}
	for next := 0; next < len(text) && p.refuse == nil; {
		offset, line := next, text[next:]
		if end := either(line, '\r', '\n'); end >= 0 {
			line = line[:end]
		}
		if next += len(line) + 1; next < len(text) && text[next-1:next+1] == "\r\n" {
			next++
		}
		p.line(line, int32(offset))
	}
	if p.refuse == nil {
		p.refuse = p.late
	}
	if p.refuse == nil && len(p.order) > 0 {
		p.refuse = p.group
	}
	return p
}

// startOfInvalid returns where the line with the first byte that is not UTF-8 starts.
func startOfInvalid(text string) int32 {
	at := 0
	for at < len(text) {
		c, size := utf8.DecodeRuneInString(text[at:])
		if c == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return int32(strings.LastIndexByte(text[:at], '\n') + 1)
}

func (p *pythonFile) line(line string, offset int32) {
	left := line
	if line != "" && !isPlain(line[0]) {
		left = strings.TrimLeftFunc(line, pythonSpace)
	}
	text := trimmed(left, pythonSpace)
	if text == "" || text[0] == '#' || text[0] == ';' {
		return
	}
	p.step = step{offset: offset, kind: skipped}
	s := &p.step
	indent := utf8.RuneCountInString(line[:len(line)-len(left)])
	if p.above.there && indent > p.level {
		s.kind, s.of = part, p.above.place.Offset
		p.further(text, offset)
	} else {
		p.level = indent
		end := -1
		if text[0] == '[' {
			end = strings.LastIndexByte(text, ']')
		}
		if end > 1 {
			s.kind = header
			p.section(text[1:end], offset)
		} else if p.current == nil {
			p.refuse = &refusal{Place{p.file, offset}, "the line stands above the first header", "put a header above it"}
			if offset == 0 && strings.HasPrefix(text, "\uFEFF") {
				p.refuse.why, p.refuse.cure = "it begins with a byte-order mark", "save it without the mark"
			}
		} else {
			p.property(text, s)
		}
	}
	s.profile = p.name
	p.trace(p.file, s)
}

// further adds a line to the value above.
func (p *pythonFile) further(text string, offset int32) {
	v := &p.above
	if v.kept != nil {
		v.kept.more = true
	}
	if !v.empty || v.bad {
		return
	}
	for text != "" { // The value is a map, and further characters end its lines.
		end := strings.IndexFunc(text, func(c rune) bool { return strings.ContainsRune("\v\f\x1c\x1d\x1e\u0085\u2028\u2029", c) })
		item := text
		if text = ""; end >= 0 {
			_, size := utf8.DecodeRuneInString(item[end:])
			item, text = item[:end], item[end+size:]
		}
		if !strings.Contains(item, "=") && strings.TrimFunc(item, pythonSpace) != "" {
			v.bad = true
			p.note(&p.group, offset, "a line below an empty value has no '='", "write key = value in each of the indented lines")
			return
		}
	}
}

func (p *pythonFile) note(fault **refusal, offset int32, why, cure string) {
	if *fault == nil {
		*fault = &refusal{Place{p.file, offset}, why, cure}
	}
}

func (p *pythonFile) section(name string, offset int32) {
	p.name, p.above.there = pythonProfile(p.file, name), false
	if name == allSections {
		p.current, p.keys = p.sections[name], p.shared
		return
	}
	if p.sections[name] != nil {
		p.refuse = &refusal{Place{p.file, offset}, "the section stands twice", "merge the two"}
		return
	}
	p.current, p.keys = &profile{head: Place{p.file, offset}}, map[string]bool{}
	p.sections[name] = p.current
	p.order = append(p.order, name)
}

func (p *pythonFile) property(text string, s *step) {
	sign := either(text, '=', ':')
	if sign < 0 {
		p.note(&p.late, s.offset, "the line has no '=' or ':'", "complete it, or comment it out")
		return
	}
	key := strings.ToLower(strings.TrimRightFunc(text[:sign], pythonSpace))
	if key == "" {
		p.note(&p.late, s.offset, "the line has no key", "complete it, or comment it out")
	}
	if p.keys[key] {
		p.refuse = &refusal{Place{p.file, s.offset}, "the key stands twice in its section", "delete one"}
		return
	}
	p.keys[key] = true
	v := value{Place: Place{p.file, s.offset}, set: true, text: strings.TrimLeftFunc(text[sign+1:], pythonSpace)}
	s.kind = property
	p.above.there, p.above.place, p.above.empty, p.above.bad, p.above.kept = true, v.Place, v.text == "", false, nil
	if i := settingOf(key); i >= 0 {
		s.setting = int8(i + 1)
		p.current.values[i], p.above.kept = v, &p.current.values[i]
	}
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
	for _, c := range text {
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
	if quote != 0 || escaped {
		return nil
	}
	if begun {
		words = append(words, word.String())
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
			p.inherit(file.sections[allSections])
			if to := r.profiles[name]; i == 1 && to != nil {
				to.merge(p)
			} else {
				r.profiles[name] = p
			}
		}
	}
	return r
}

func (p *profile) inherit(from *profile) {
	for i, v := range from.values {
		if v.set && !p.values[i].set {
			p.values[i] = v
			p.values[i].shared = true
		}
	}
}

// pythonJudge returns what botocore, or a tool with other modes, makes of a profile. A variable replaces a value before
// that is judged, also if it is empty.
func pythonJudge(modes ...string) func(r *reading, name string, env *[2]value) outcome {
	return func(r *reading, name string, env *[2]value) (o outcome) {
		if r.refuse != nil {
			return outcome{state: refused, refusal: *r.refuse}
		}
		p := r.profiles[name]
		if p == nil {
			p = &profile{}
			o.state = missing
		}
		for i, v := range p.values {
			if env[i].set {
				v = env[i]
			}
			if !v.set {
				continue
			}
			text, ok := v.text, slices.Contains(modes, v.text)
			if i == attempts {
				text, ok = pythonInt(v.text)
			}
			if !ok || v.more {
				return v.refusing(refusesValue, cureOf(i))
			}
			o.texts[i], o.at[i] = text, v.Place
		}
		return o
	}
}

// pythonInt returns a number above 0 as int() of Python reads it, in decimal. It may have digits of any script.
func pythonInt(text string) (string, bool) {
	text = strings.TrimFunc(text, pythonSpace)
	digits := strings.TrimPrefix(text, "+")
	plain := make([]byte, 0, 20)
	last := '_'
	for _, c := range digits {
		if c == '_' && last == '_' || c != '_' && !unicode.Is(unicode.Nd, c) || len(plain) == 4300 {
			return "", false
		}
		if c != '_' {
			plain = append(plain, '0'+digitOf(c))
		}
		last = c
	}
	n, ok := new(big.Int).SetString(string(plain), 10)
	if !ok || last == '_' || n.Sign() < 1 {
		return "", false
	}
	return n.String(), true
}

// digitOf returns the value of a decimal digit. Each script has its ten digits in a row.
func digitOf(c rune) (n byte) {
	if c <= '9' {
		return byte(c - '0')
	}
	for ; n < 9 && unicode.Is(unicode.Nd, c-1); c-- {
		n++
	}
	return n
}
