package config

import (
	"os"
	"strconv"
	"strings"
)

// variables returns the findings about variables that other tools read differently. If named is
// true, code has named the profile, and the variables for its name do not count.
func (s Sources) variables(named bool) (found []Diagnostic) {
	look := func(name string, readers ...func(value string) (names, how string)) {
		value, ok := s.lookup(name)
		if !ok {
			return
		}
		var all []Diagnostic
		for _, read := range readers {
			if names, how := read(value); how != "" {
				all = append(all, differs(names, how))
			}
		}
		for _, d := range merged(all) { // At most one.
			d.Message = name + ": " + quote(value) + ": " + d.Message
			found = append(found, d)
		}
	}
	look(envRetryMode, modeOfVariable)
	look(envMaxAttempts, attemptsOfVariable)
	if !named {
		look(envProfile, s.profileElsewhere)
		look(envDefaultProfile, s.defaultProfileElsewhere)
	}
	if s.ConfigFile == "" {
		look(envConfigFile, s.tildeElsewhere, s.variablesElsewhere)
	}
	if s.CredentialsFile == "" {
		look(envCredentialsFile, s.tildeElsewhere, s.variablesElsewhere)
	}
	return found
}

func modeOfVariable(value string) (names, how string) {
	switch {
	case value == "":
		return python + ", " + toolJS, "an empty mode is refused, or counts as a mode that is not known"
	case isBlankText(value):
		return allTools, "a mode of blanks is refused, or counts as a mode that is not known"
	case mapped(value) != "":
		return allTools, "the mode is refused, or followed in another way"
	}
	return allTools, modeElsewhere(value)
}

// attemptsOfVariable looks at a number of attempts. No tool reads it as octal in a variable.
func attemptsOfVariable(value string) (names, how string) {
	switch err := check(keyMaxAttempts, value); {
	case value == "":
		return python, "an empty number is refused"
	case isBlankText(value):
		return toolGo + ", " + python, "a number of blanks is refused"
	case err == nil && trim(value) != value:
		return toolGo, "a number with whitespace at an end is refused"
	}
	return "", ""
}

const emptyProfile = "an empty name is that of a profile, which is not found"

func (s Sources) profileElsewhere(value string) (names, how string) {
	if value != "" {
		return "", ""
	}
	if other, _ := s.lookup(envDefaultProfile); other != "" {
		return toolCLI, emptyProfile // botocore looks at the other one first
	}
	return python, emptyProfile
}

func (s Sources) defaultProfileElsewhere(value string) (names, how string) {
	switch first, beside := s.lookup(envProfile); {
	case value == "" && beside:
		return toolBoto, emptyProfile
	case value == "":
		return python, emptyProfile
	case first == "":
		return toolJS, "the variable does not count"
	case first != value:
		return toolBoto, "the variable comes before " + envProfile
	}
	return "", ""
}

// tildeElsewhere looks at a variable that names a file.
func (s Sources) tildeElsewhere(value string) (names, how string) {
	name, ok := strings.CutPrefix(value, "~")
	switch {
	case value == "":
		return python, "an empty path is that of no file"
	case !ok || name == "":
		return "", ""
	case name[0] == '/':
		return toolGo, "~ is not the home directory"
	case name[0] == '\\' && s.windows():
		return toolGo + ", " + toolJS, "~ is not the home directory"
	}
	return python, "a name behind ~ stands for the home directory of that user"
}

// variablesElsewhere looks for variables in a path.
func (s Sources) variablesElsewhere(value string) (names, how string) {
	os.Expand(value, func(name string) string {
		if _, ok := s.lookup(name); ok {
			names, how = python, "a variable in the path is replaced by its value"
		}
		return ""
	})
	return names, how
}

func isBlankText(text string) bool { return trim(text) == "" }

// overridden looks at a value of a file that would win without a variable.
func (f *aboutFile) overridden(c Candidate, src Sources) {
	key, name := c.Origin.Key, envRetryMode
	if key == keyMaxAttempts {
		name = envMaxAttempts
	}
	value, ok := src.env(name)
	if check(key, c.Raw) == nil || !ok || isBlankText(value) {
		return
	}
	accepted := plainInGo(c.Raw) == string(modeStandard) || plainInGo(c.Raw) == string(modeAdaptive)
	if key == keyMaxAttempts {
		_, err := c.inGo()
		accepted = err == nil
	}
	if !accepted {
		f.differ(int32(c.Origin.Line), toolGo, "the value is refused, although "+name+" overrides it")
	}
}

// plainInGo returns a value in a file without the quotes that aws-sdk-go-v2 removes.
func plainInGo(text string) string {
	if last := len(text) - 1; last > 0 && (text[0] == '"' || text[0] == '\'') && text[last] == text[0] {
		return text[1:last]
	}
	return text
}

// inGo returns the number that aws-sdk-go-v2 reads in a file.
func (c Candidate) inGo() (int64, error) { return strconv.ParseInt(plainInGo(c.Raw), 0, 64) }
