package lint

import (
	"os"
	"strings"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// variables adds the findings about variables that other tools read differently. If named is
// true, code has named the profile, and the variables for its name do not count.
func (r *report) variables(named bool) {
	x := file{report: r, File: &sharedfile.File{}}
	var names [7]string
	look := func(name string) (value string, set bool) { // Each variable is a line of its own.
		x.line++
		names[x.line] = name
		return r.pair.Lookup(name)
	}
	mode, set := look(sharedfile.EnvRetryMode)
	blank := sharedfile.IsBlank(mode)
	x.noteIf(set && mode == "", python+", "+toolJS, "an empty mode is refused, or counts as a mode that is not known")
	x.noteIf(blank && mode != "", allTools, "a mode of blanks is refused, or counts as a mode that is not known")
	x.noteIf(true, allTools, modeElsewhere(mode))

	// No tool reads a number of attempts in a variable as octal.
	number, set := look(sharedfile.EnvMaxAttempts)
	blank = sharedfile.IsBlank(number)
	x.noteIf(set && number == "", python, "an empty number is refused")
	x.noteIf(blank && number != "", toolGo+", "+python, "a number of blanks is refused")
	x.noteIf(sharedfile.Trim(number) != number && refused(sharedfile.MaxAttempts, number) == nil, toolGo, "a number with whitespace at an end is refused")

	if !named {
		const empty = "an empty name is that of a profile, which is not found"
		first, firstSet := look(sharedfile.EnvProfile)
		second, _ := r.pair.Lookup(sharedfile.EnvDefaultProfile) // botocore looks at it before the other one.
		x.noteIf(firstSet && first == "" && second == "", python, empty)
		x.noteIf(firstSet && first == "" && second != "", toolCLI, empty)
		second, set = look(sharedfile.EnvDefaultProfile)
		x.noteIf(set && second == "" && firstSet, toolBoto, empty)
		x.noteIf(set && second == "" && !firstSet, python, empty)
		x.noteIf(second != "" && first == "", toolJS, "the variable does not count")
		x.noteIf(second != "" && first != "" && first != second, toolBoto, "the variable comes before "+sharedfile.EnvProfile)
	}
	for i, variable := range [...]string{sharedfile.EnvConfigFile, sharedfile.EnvCredentialsFile} {
		if r.pair.Files[i].ByCode {
			continue
		}
		path, set := look(variable)
		behind, tilde := strings.CutPrefix(path, "~")
		backslash := r.pair.Windows && strings.HasPrefix(behind, `\`)
		x.noteIf(set && path == "", python, "an empty path is that of no file")
		x.noteIf(tilde && strings.HasPrefix(behind, "/"), toolGo, "~ is not the home directory")
		x.noteIf(tilde && backslash, toolGo+", "+toolJS, "~ is not the home directory")
		x.noteIf(tilde && behind != "" && behind[0] != '/' && !backslash, python, "a name behind ~ stands for the home directory of that user")
		os.Expand(path, func(name string) string {
			_, set := r.pair.Lookup(name)
			x.noteIf(set, python, "a variable in the path is replaced by its value")
			return ""
		})
	}
	for _, d := range x.list() {
		name := names[d.Line]
		value, _ := r.pair.Lookup(name)
		d.Line, d.Message = 0, name+": "+sharedfile.Quote(value)+": "+d.Message
		r.first = append(r.first, d)
	}
}
