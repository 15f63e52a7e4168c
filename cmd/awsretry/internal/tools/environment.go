package tools

import (
	"os"
	"regexp"
	"strings"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// tool is one of the tools, or awsretry.
type tool struct {
	name   string
	read   reader
	accept func(i int, v value) (text string, ok bool) // An accepted text that is empty is as if it were not there.

	profile [2]string // The variables that name the profile, the stronger one first.
	empty   bool      // A variable that is set counts, also if it is empty, and its profile must exist.
	lenient bool      // A profile may be missing.
	path    func(text string, lookup func(string) (string, bool)) string
}

// all returns the tools in the order in which findings name them.
func all() []tool {
	names := [2]string{sharedfile.EnvProfile, sharedfile.EnvDefaultProfile}
	botocore := [2]string{names[1], names[0]}
	return []tool{
		{name: Go, read: readGo, accept: goText, profile: names, path: goPath},
		{name: Botocore, read: readPython, accept: pythonText("legacy", "standard", "adaptive"), profile: botocore, empty: true, path: pythonPath},
		{name: CLI, read: readPython, accept: pythonText("standard", "adaptive"), profile: names, empty: true, path: pythonPath},
		{name: JavaScript, read: readJavaScript, accept: jsText, profile: [2]string{names[0], names[0]}, lenient: true, path: jsPath},
	}
}

// own is awsretry.
func own() tool {
	return tool{accept: ownText, profile: [2]string{sharedfile.EnvProfile, sharedfile.EnvDefaultProfile}}
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
			return selected{name, variable, t.empty || variable == sharedfile.EnvProfile}
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
	s := t.selects(env)
	if r.refuse == nil && r.profiles[s.name] == nil && s.asked && !t.lenient {
		return outcome{state: missing}
	}
	o := t.judge(r, s.name, env.settings())
	if o.state == missing {
		o.state = found
	}
	return o
}

// judge returns what a tool makes of a profile and of what variables set.
func (t tool) judge(r *reading, name string, env [2]value) (o outcome) {
	p, bad := r.profiles[name], r.refuse
	if p == nil {
		p, o.state = &profile{}, missing
	} else if bad == nil && t.name == Go {
		bad = r.goChain(name, nil)
	}
	if bad != nil {
		return outcome{state: refused, refusal: bad}
	}
	for i := range env {
		for _, v := range [...]value{env[i], p.values[i]} {
			if !v.set {
				continue
			}
			text, ok := t.accept(i, v)
			if !ok {
				return outcome{state: refused, refusal: v.refused(i)}
			}
			if o.texts[i], o.at[i] = text, v.Place; text != "" {
				break
			}
		}
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

var pythonVariable = regexp.MustCompile(`\$(\w+|\{[^}]*\})`)

// pythonPath replaces variables that are set.
func pythonPath(text string, lookup func(string) (string, bool)) string {
	return pythonVariable.ReplaceAllStringFunc(text, func(used string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(used[1:], "{"), "}")
		if value, set := lookup(name); set {
			return value
		}
		return used
	})
}

// opens returns the texts that the tool reads, and notes which of the files it finds elsewhere than awsretry.
func (b *beside) opens() (texts [2]string) {
	for i := range b.pair.Files {
		f := &b.pair.Files[i]
		texts[i] = f.Raw
		text, set := b.env.lookup(pathVariableOf(i))
		if f.ByCode || !set || text == "" && !b.empty {
			continue
		}
		path := b.path(text, b.env.lookup)
		ofUser := b.empty && len(path) > 1 && path[0] == '~' && !os.IsPathSeparator(path[1])
		if b.elsewhere[i] = path != text || text == "" || ofUser; !b.elsewhere[i] {
			continue
		}
		if texts[i] = ""; path != "" {
			src := sharedfile.Sources(b.src)
			src.ConfigFile, src.CredentialsFile = path, path
			texts[i] = sharedfile.Open(src).Files[0].Raw
		}
	}
	return texts
}

// pathVariableOf returns the variable for the path of a file.
func pathVariableOf(file int) string {
	return [...]string{sharedfile.EnvConfigFile, sharedfile.EnvCredentialsFile}[file]
}
