package tools

import (
	"os"
	"strings"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// tool is one of the tools, or awsretry.
type tool struct {
	name  string
	read  reader
	judge func(r *reading, name string, env *[2]value) outcome

	profile [2]string // The variables that name the profile, the stronger one first.
	empty   bool      // A variable that is set counts, also if it is empty.
	asks    bool      // The profile of each variable must exist.
	lenient bool      // A profile may be missing.
	path    func(text string, lookup func(string) (string, bool)) string
}

// all returns the tools in the order in which findings name them.
func all() []tool {
	names := [2]string{sharedfile.EnvProfile, sharedfile.EnvDefaultProfile}
	botocore := [2]string{names[1], names[0]}
	return []tool{
		{name: Go, read: readGo, judge: goJudge, profile: names, path: goPath},
		{name: Botocore, read: readPython, judge: pythonJudge("legacy", "standard", "adaptive"), profile: botocore, empty: true, asks: true, path: pythonPath},
		{name: CLI, read: readPython, judge: pythonJudge("standard", "adaptive"), profile: names, empty: true, asks: true, path: pythonPath},
		{name: JavaScript, read: readJavaScript, judge: jsJudge, profile: [2]string{names[0], names[0]}, lenient: true, path: jsPath},
	}
}

// Names returns the names of the tools in that order.
func Names() (names []string) {
	for _, t := range all() {
		names = append(names, t.name)
	}
	return names
}

// own is awsretry.
func own() tool {
	return tool{judge: ownJudge, profile: [2]string{sharedfile.EnvProfile, sharedfile.EnvDefaultProfile}}
}

// environment is what the tools find around them.
type environment struct {
	lookup  func(string) (string, bool)
	profile string // The profile that code has named, or empty.
}

// selected is the profile that a tool uses.
type selected struct {
	name     string
	variable string // That names it, or empty.
	asked    bool   // It must exist.
}

func (t tool) selects(env environment) selected {
	if env.profile != "" {
		return selected{name: env.profile, asked: true}
	}
	for _, variable := range t.profile {
		if name, set := env.lookup(variable); name != "" || set && t.empty {
			return selected{name, variable, t.asks || variable == sharedfile.EnvProfile}
		}
	}
	return selected{name: sharedfile.DefaultProfile}
}

// settings returns what the variables set.
func (e environment) settings() (values [2]value) {
	for i := range values {
		text, set := e.lookup(variableOf(i))
		values[i] = value{Place: Place{File: nowhere}, set: set, text: text}
	}
	return values
}

// of returns what a tool makes of the profile that it selects.
func (t tool) of(r *reading, env environment) outcome {
	s, values := t.selects(env), env.settings()
	if r.refuse == nil && r.profiles[s.name] == nil && s.asked && !t.lenient {
		return outcome{state: missing}
	}
	o := t.judge(r, s.name, &values)
	if o.state == missing && (!s.asked || t.lenient) {
		o.state = found
	}
	return o
}

// The paths that the tools open for the text of a variable, in the form in which awsretry opens them.

// goPath takes a path as it is.
func goPath(text string, _ func(string) (string, bool)) string {
	if strings.HasPrefix(text, "~") {
		return "./" + text
	}
	return text
}

// jsPath knows the home directory before a slash only.
func jsPath(text string, lookup func(string) (string, bool)) string {
	if strings.HasPrefix(text, "~/") {
		return text
	}
	return goPath(text, lookup)
}

// pythonPath replaces variables that are set.
func pythonPath(text string, lookup func(string) (string, bool)) string {
	var path strings.Builder
	for {
		before, after, ok := strings.Cut(text, "$")
		path.WriteString(before)
		if !ok {
			return path.String()
		}
		name, rest := after, ""
		if strings.HasPrefix(after, "{") {
			name, rest, ok = strings.Cut(after[1:], "}")
		} else {
			end := strings.IndexFunc(after, func(c rune) bool { return !isWord(c) })
			if end >= 0 {
				name, rest = after[:end], after[end:]
			}
		}
		if value, set := lookup(name); ok && set && name != "" {
			path.WriteString(value)
		} else {
			path.WriteString("$" + strings.TrimSuffix(after, rest))
		}
		text = rest
		if !ok {
			return path.String()
		}
	}
}

func isWord(c rune) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// opens returns the texts that a tool reads, and which of the files it finds elsewhere than awsretry.
func (t tool) opens(env environment, pair *sharedfile.Pair, open func(path string) string) (texts [2]string, elsewhere [2]bool) {
	for i := range pair.Files {
		f := &pair.Files[i]
		texts[i] = f.Raw
		text, set := env.lookup(pathVariableOf(i))
		if f.ByCode || !set || text == "" && !t.empty {
			continue
		}
		path := t.path(text, env.lookup)
		if elsewhere[i] = path != text || text == "" || isHomeOf(t, path); !elsewhere[i] {
			continue
		}
		if texts[i] = ""; path != "" {
			texts[i] = open(path)
		}
	}
	return texts, elsewhere
}

// pathVariableOf returns the variable for the path of a file.
func pathVariableOf(file int) string {
	return [...]string{sharedfile.EnvConfigFile, sharedfile.EnvCredentialsFile}[file]
}

// isHomeOf reports whether a tool takes the name behind ~ for that of a user.
func isHomeOf(t tool, path string) bool {
	return t.empty && len(path) > 1 && path[0] == '~' && !os.IsPathSeparator(path[1])
}
