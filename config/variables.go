package config

import (
	"os"
	"strconv"
	"strings"
	"unicode"
)

// variables returns the findings about variables that other tools read differently. named says that
// code has named the profile, so that those for its name do not count.
func (s Sources) variables(named bool) (found []Diagnostic) {
	look := func(name string, at func(f *findings, value string)) {
		value, ok := s.lookup(name)
		if !ok {
			return
		}
		var f findings
		at(&f, value)
		for _, d := range f.list() { // It is one at most.
			d.Message = name + ": " + quote(value) + ": " + d.Message
			found = append(found, d)
		}
	}
	look(envRetryMode, func(f *findings, value string) { f.mode(0, value) })
	look(envMaxAttempts, (*findings).attempts)
	look(envProfile, func(f *findings, value string) {
		if named || value != "" {
			return
		}
		names := python()
		if other, ok := s.lookup(envDefaultProfile); ok && other != "" {
			names = []string{toolCLI} // botocore looks at the other one first
		}
		f.differ(0, names, emptyProfile)
	})
	look(envDefaultProfile, func(f *findings, value string) {
		first, beside := s.lookup(envProfile)
		switch {
		case named:
		case value == "" && beside:
			f.differ(0, []string{toolBoto}, emptyProfile)
		case value == "":
			f.differ(0, python(), emptyProfile)
		case first == "":
			f.differ(0, []string{toolJS}, "the variable does not count")
		case first != value:
			f.differ(0, []string{toolBoto}, "the variable comes before "+envProfile)
		}
	})
	if s.ConfigFile == "" {
		look(envConfigFile, s.path)
	}
	if s.CredentialsFile == "" {
		look(envCredentialsFile, s.path)
	}
	return found
}

const emptyProfile = "an empty name is that of a profile, which is not found"

// path looks at a variable that names a file.
func (s Sources) path(f *findings, value string) {
	name, ok := strings.CutPrefix(value, "~")
	switch {
	case value == "":
		f.differ(0, python(), "an empty path is that of no file")
	case ok && strings.HasPrefix(name, "/"):
		f.differ(0, []string{toolGo}, "~ is not the home directory")
	case ok && s.windows() && strings.HasPrefix(name, `\`):
		f.differ(0, []string{toolGo, toolJS}, "~ is not the home directory")
	case ok && name != "":
		f.differ(0, python(), "a name behind ~ stands for the home directory of that user")
	}
	known := false
	os.Expand(value, func(name string) string {
		_, ok := s.lookup(name)
		known = known || ok
		return ""
	})
	if known {
		f.differ(0, python(), "a variable in the path is replaced by its value")
	}
}

// attempts looks at a number of attempts of a variable. No tool reads it as octal.
func (f *findings) attempts(value string) {
	switch _, _, err := parseMaxAttempts(value); {
	case value == "":
		f.differ(0, python(), "an empty number is refused")
	case isBlankText(value):
		f.differ(0, []string{toolGo, toolBoto, toolCLI}, "a number of blanks is refused")
	case err == nil && strings.TrimFunc(value, unicode.IsSpace) != value:
		f.differ(0, []string{toolGo}, "a number with whitespace at an end is refused")
	}
}

func isBlankText(text string) bool { return strings.TrimFunc(text, unicode.IsSpace) == "" }

// overridden looks at a value of a file that would win if there were no variable.
func (x *index) overridden(c Candidate, src Sources) {
	key, name := c.Origin.Key, envRetryMode
	if key == keyMaxAttempts {
		name = envMaxAttempts
	}
	value, ok := src.env(name)
	if _, _, err := parserOf(key)(c.Raw); err == nil || !ok || isBlankText(value) {
		return
	}
	text := c.Raw
	if last := len(text) - 1; last > 0 && (text[0] == '"' || text[0] == '\'') && text[last] == text[0] {
		text = text[1:last] // aws-sdk-go-v2 removes quotes.
	}
	accepted := text == string(ModeStandard) || text == string(ModeAdaptive)
	if key == keyMaxAttempts {
		_, err := strconv.ParseInt(text, 0, 64)
		accepted = err == nil
	}
	if !accepted {
		x.findings.differ(c.Origin.Line, []string{toolGo}, "the value is refused, although "+name+" overrides it")
	}
}
