package lint

import (
	"os"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// variables adds the findings about variables that other tools read differently. If named is
// true, code has named the profile, and the variables for its name do not count.
func (r *report) variables(named bool) {
	look := func(name string, readers ...func(value string) (names, how string)) {
		value, ok := r.pair.Lookup(name)
		if !ok {
			return
		}
		var all []config.Diagnostic
		for _, read := range readers {
			if names, how := read(value); how != "" {
				all = append(all, differs(names, how))
			}
		}
		for _, d := range merged(all) { // At most one.
			d.Message = name + ": " + sharedfile.Quote(value) + ": " + d.Message
			r.first = append(r.first, d)
		}
	}
	look(sharedfile.EnvRetryMode, modeOfVariable)
	look(sharedfile.EnvMaxAttempts, attemptsOfVariable)
	if !named {
		look(sharedfile.EnvProfile, r.profileElsewhere)
		look(sharedfile.EnvDefaultProfile, r.defaultProfileElsewhere)
	}
	if !r.pair.Files[0].ByCode {
		look(sharedfile.EnvConfigFile, r.tildeElsewhere, r.variablesElsewhere)
	}
	if !r.pair.Files[1].ByCode {
		look(sharedfile.EnvCredentialsFile, r.tildeElsewhere, r.variablesElsewhere)
	}
}

func modeOfVariable(value string) (names, how string) {
	switch {
	case value == "":
		return python + ", " + toolJS, "an empty mode is refused, or counts as a mode that is not known"
	case sharedfile.IsBlank(value):
		return allTools, "a mode of blanks is refused, or counts as a mode that is not known"
	case mapped(value) != "":
		return allTools, "the mode is refused, or followed in another way"
	}
	return allTools, modeElsewhere(value)
}

// attemptsOfVariable looks at a number of attempts. No tool reads it as octal in a variable.
func attemptsOfVariable(value string) (names, how string) {
	switch err := refused(sharedfile.MaxAttempts, value); {
	case value == "":
		return python, "an empty number is refused"
	case sharedfile.IsBlank(value):
		return toolGo + ", " + python, "a number of blanks is refused"
	case err == nil && sharedfile.Trim(value) != value:
		return toolGo, "a number with whitespace at an end is refused"
	}
	return "", ""
}

const emptyProfile = "an empty name is that of a profile, which is not found"

func (r *report) profileElsewhere(value string) (names, how string) {
	if value != "" {
		return "", ""
	}
	if other, _ := r.pair.Lookup(sharedfile.EnvDefaultProfile); other != "" {
		return toolCLI, emptyProfile // botocore looks at the other one first
	}
	return python, emptyProfile
}

func (r *report) defaultProfileElsewhere(value string) (names, how string) {
	switch first, beside := r.pair.Lookup(sharedfile.EnvProfile); {
	case value == "" && beside:
		return toolBoto, emptyProfile
	case value == "":
		return python, emptyProfile
	case first == "":
		return toolJS, "the variable does not count"
	case first != value:
		return toolBoto, "the variable comes before " + sharedfile.EnvProfile
	}
	return "", ""
}

// tildeElsewhere looks at a variable that names a file.
func (r *report) tildeElsewhere(value string) (names, how string) {
	name, ok := strings.CutPrefix(value, "~")
	switch {
	case value == "":
		return python, "an empty path is that of no file"
	case !ok || name == "":
		return "", ""
	case name[0] == '/':
		return toolGo, "~ is not the home directory"
	case name[0] == '\\' && r.pair.Windows:
		return toolGo + ", " + toolJS, "~ is not the home directory"
	}
	return python, "a name behind ~ stands for the home directory of that user"
}

// variablesElsewhere looks for variables in a path.
func (r *report) variablesElsewhere(value string) (names, how string) {
	os.Expand(value, func(name string) string {
		if _, ok := r.pair.Lookup(name); ok {
			names, how = python, "a variable in the path is replaced by its value"
		}
		return ""
	})
	return names, how
}
