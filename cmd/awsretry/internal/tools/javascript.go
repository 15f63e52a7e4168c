package tools

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// jsFile reads a file as the loader of the JavaScript SDK does.
type jsFile struct {
	scan
	current string // The name of the current section, or empty.
	head    Place
}

// jsHeader is the name of a section of a kind, which is a word. Exactly one blank stands behind it.
var jsHeader = regexp.MustCompile(`^([\w-]+)[\s\v\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]` +
	`(?:"([\w@+.%:/-]+)"|'([\w@+.%:/-]+)'|([\w@+.%:/-]+))$`)

// jsPrototype is a name that each object of JavaScript has already.
const jsPrototype = "__proto__"

func (j *jsFile) line(line string) bool {
	text := trimmed(jsUncommented(line), jsSpace)
	if text == "" {
		return false
	}
	if last := len(text) - 1; last > 0 && text[0] == '[' && text[last] == ']' {
		name := text[1:last]
		if name == jsPrototype || name == "profile "+jsPrototype {
			j.note(&j.refuse, "a section of this name empties it", "give the section another name")
			return false
		}
		j.step.kind = header
		j.head, j.current, j.above.group = j.at(), jsSection(name), false
		j.name = jsProfile(j.file, j.current)
	} else if j.current != "" {
		j.pair(text, !isPlain(line[0]) && len(strings.TrimLeftFunc(line, jsSpace)) < len(line))
	}
	return true
}

// pair reads a line with a key and a value.
func (j *jsFile) pair(text string, indented bool) {
	key, given, ok := strings.Cut(text, "=")
	key, given = strings.TrimRightFunc(key, jsSpace), strings.TrimLeftFunc(given, jsSpace)
	switch {
	case !ok || text[0] == '=':
		return
	case given == "":
		j.step.kind, j.above = property, above{group: true, offset: j.step.offset}
		return
	case !indented:
		j.above.group = false
	}
	if !j.above.group && key == jsPrototype {
		return
	}
	p := j.sections[j.current]
	if p == nil {
		p = j.section(j.current, j.head)
	}
	if j.above.group {
		j.continued()
		return
	}
	j.property(p, key, given)
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
// value, and the config file wins key by key. A file that is refused counts as empty.
func readJavaScript(texts [2]string, trace tracer) *reading {
	r := &reading{profiles: map[string]*profile{}}
	for i, text := range texts {
		j := jsFile{scan: scan{file: int8(i), trace: trace, sections: map[string]*profile{}}}
		j.lines(text, '\n', j.line)
		if r.dropped[i] = j.refuse; j.refuse != nil {
			continue
		}
		for _, section := range j.order {
			name := jsProfile(j.file, section)
			to := r.profiles[name]
			switch {
			case name == "", i == 0 && to != nil && section == "default":
			case i == 0 || to == nil:
				r.profiles[name] = j.sections[section]
			default:
				to.fill(j.sections[section], false)
			}
		}
	}
	return r
}

// jsText returns what the JavaScript SDK makes of a value. No text is refused.
func jsText(i int, v value) (string, bool) {
	if i == attempts {
		return jsInt(v.text), true
	}
	return cmp.Or(v.text, jsEmpty), true
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
