package tools

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// jsFile reads a file as the loader of the JavaScript SDK does.
type jsFile struct {
	file     int8
	trace    tracer
	step     step // Of the line at hand.
	sections map[string]*profile
	order    []string // The sections in the order in which their first values come.

	section string // The name of the current section, or empty.
	head    Place
	name    string // The profile of the current section.
	group   bool   // Indented lines belong to a property without a value, in the line above.
	above   int32
	dropped *refusal // The file counts as empty.
}

// jsHeader is the name of a section of a kind, which is a word. Exactly one blank stands behind it.
var jsHeader = regexp.MustCompile(`^([\w-]+)[\s\v\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]` +
	`(?:"([\w@+.%:/-]+)"|'([\w@+.%:/-]+)'|([\w@+.%:/-]+))$`)

// jsPrototype is a name that each object of JavaScript has already.
const jsPrototype = "__proto__"

func readJSFile(file int8, text string, trace tracer) *jsFile {
	j := &jsFile{file: file, trace: trace, sections: map[string]*profile{}}
	offset := int32(0)
	for line := range strings.Lines(text) {
		if j.line(strings.TrimSuffix(line, "\n"), offset); j.dropped != nil {
			j.order = nil
			break
		}
		offset += int32(len(line))
	}
	return j
}

func (j *jsFile) line(line string, offset int32) {
	text := trimmed(jsUncommented(line), jsSpace)
	if text == "" {
		return
	}
	j.step = step{offset: offset, kind: skipped}
	s := &j.step
	if last := len(text) - 1; last > 0 && text[0] == '[' && text[last] == ']' {
		name := text[1:last]
		if name == jsPrototype || name == "profile "+jsPrototype {
			j.dropped = &refusal{Place{j.file, offset}, "a section of this name empties it", "give the section another name"}
			return
		}
		s.kind = header
		j.head, j.section, j.group = Place{j.file, offset}, jsSection(name), false
		j.name = jsProfile(j.file, j.section)
	} else if j.section != "" {
		indented := !isPlain(line[0]) && len(strings.TrimLeftFunc(line, jsSpace)) < len(line)
		j.property(text, indented, s)
	}
	s.profile = j.name
	j.trace(j.file, s)
}

func (j *jsFile) property(text string, indented bool, s *step) {
	key, given, ok := strings.Cut(text, "=")
	key, given = strings.TrimRightFunc(key, jsSpace), strings.TrimLeftFunc(given, jsSpace)
	switch {
	case !ok || text[0] == '=':
		return
	case given == "":
		j.group, j.above, s.kind = true, s.offset, property
		return
	case !indented:
		j.group = false
	}
	if !j.group && key == jsPrototype {
		return
	}
	p := j.sections[j.section]
	if p == nil {
		p = &profile{head: j.head}
		j.sections[j.section] = p
		j.order = append(j.order, j.section)
	}
	if j.group {
		s.kind, s.of = part, j.above
		return
	}
	s.kind = property
	if i := settingOf(key); i >= 0 {
		s.setting = int8(i + 1)
		p.values[i] = value{Place: Place{j.file, s.offset}, set: true, text: given}
	}
}

// jsUncommented cuts off a comment, which begins at the start of the line or behind whitespace.
func jsUncommented(line string) string {
	if either(line, '#', ';') < 0 {
		return line
	}
	last := ' '
	for i, c := range line {
		if (c == '#' || c == ';') && jsSpace(last) {
			return line[:i]
		}
		last = c
	}
	return line
}

// jsSection returns the name that a section has in the loader, "profile.x" for [profile x], or "" for one that is
// dropped.
func jsSection(name string) string {
	match := jsHeader.FindStringSubmatch(name)
	if match == nil {
		return name
	}
	switch match[1] {
	case "profile", "sso-session", "services":
		return match[1] + "." + match[2] + match[3] + match[4]
	}
	return ""
}

// jsProfile returns the name of the profile that a section is for.
func jsProfile(file int8, section string) string {
	if file == 1 || section == "default" {
		return section
	}
	name, ok := strings.CutPrefix(section, "profile.")
	if !ok {
		return ""
	}
	return name
}

// readJavaScript reads the files as the JavaScript SDK does. A [profile default] replaces [default] whole if it has a
// value, and the config file wins key by key.
func readJavaScript(texts [2]string, trace tracer) *reading {
	r := &reading{profiles: map[string]*profile{}}
	for i, text := range texts {
		file := readJSFile(int8(i), text, trace)
		r.dropped[i] = file.dropped
		for _, section := range file.order {
			name, p := jsProfile(int8(i), section), file.sections[section]
			to := r.profiles[name]
			switch {
			case name == "", i == 0 && to != nil && section == "default":
			case i == 0 || to == nil:
				r.profiles[name] = p
			default:
				for n, v := range p.values {
					if v.set && !to.values[n].set {
						to.values[n] = v
					}
				}
			}
		}
	}
	return r
}

// jsJudge returns what the JavaScript SDK makes of a profile. No profile and no text is refused.
func jsJudge(r *reading, name string, env *[2]value) (o outcome) {
	p := r.profiles[name]
	if p == nil {
		p = &profile{}
		o.state = missing
	}
	for i, v := range p.values {
		if text := env[i].text; env[i].set && (i == mode || jsInt(text) != "") {
			v = env[i]
		}
		switch o.at[i] = v.Place; {
		case i == attempts:
			o.texts[i] = jsInt(v.text)
		case v.set:
			o.texts[i] = cmp.Or(v.text, jsEmpty)
		}
	}
	return o
}

// jsEmpty stands for the empty mode of a variable, which is no known mode.
const jsEmpty = "(empty)"

// jsNumber is the beginning of a text that parseInt reads.
var jsNumber = regexp.MustCompile(`^[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)`)

// jsInt returns the number that parseInt reads as String shows it, or "" if there is none.
func jsInt(text string) string {
	digits := jsNumber.FindString(strings.TrimLeftFunc(text, jsSpace))
	if digits == "" {
		return ""
	}
	if strings.ContainsAny(digits, "xX") {
		digits += "p0"
	}
	n, _ := strconv.ParseFloat(digits, 64) // The greatest are infinite.
	switch {
	case n == 0:
		return "0"
	case n >= 1e21, n <= -1e21:
		return strconv.FormatFloat(n, 'e', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
