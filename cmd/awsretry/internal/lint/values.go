package lint

import (
	"cmp"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// noEffect adds the findings about variables that are set but change nothing.
func (r *report) noEffect() {
	add := func(name, why string) {
		if value, _ := r.pair.Lookup(name); !sharedfile.IsBlank(value) {
			r.first = append(r.first, Diagnostic{Code: "no-effect", Message: name + " is set and has no effect: " + why})
		}
	}
	if name, _ := r.pair.Lookup(sharedfile.EnvProfile); name != "" {
		add(sharedfile.EnvDefaultProfile, sharedfile.EnvProfile+" comes before it")
	}
	add("AWS_NEW_RETRIES_2026", "AWS removed it on 2026-11-10, when behavior v2.1 became the default; unset it, and ask for v2.0 in code where that is wanted")
	add("AWS_SDK_LOAD_CONFIG", "the config file is always read")
}

// variables adds the findings about variables that other tools read differently. If named is
// true, code has named the profile, and the variables for its name do not count. If missing is
// true, no file has the profile that a variable names.
func (r *report) variables(named, missing bool) {
	x := file{report: r, File: &sharedfile.File{}, found: map[string]kept{}}
	look := func(name string) (value string, set bool) { // Each variable is a line of its own, with its name in place of a path.
		x.line++
		x.Path = name
		return r.pair.Lookup(name)
	}
	mode, set := look(sharedfile.EnvRetryMode)
	names, how := elsewhere(sharedfile.Setting{Key: sharedfile.RetryMode, Text: mode})
	x.noteIf(set && mode == "", python+", "+toolJS, "an empty mode is refused, or counts as a mode that is not known")
	x.noteIf(sharedfile.IsBlank(mode) && mode != "", allTools, "a mode of blanks is refused, or counts as a mode that is not known")
	x.noteIf(how != "", names, how)

	// No tool reads a number of attempts in a variable as octal.
	number, set := look(sharedfile.EnvMaxAttempts)
	x.noteIf(set && number == "", python, "an empty number is refused")
	x.noteIf(sharedfile.IsBlank(number) && number != "", toolGo+", "+python, "a number of blanks is refused")
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
		x.noteIf(second != "" && first == "" && missing, python, "a profile that no file has is refused")
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
		value, _ := r.pair.Lookup(d.File)
		d.Message = d.File + ": " + sharedfile.Quote(value) + ": " + d.Message
		r.first = append(r.first, Diagnostic{Code: d.Code, Message: d.Message, Tools: d.Tools})
	}
}

// variableOf returns the variable of a setting.
func variableOf(key string) string {
	if key == sharedfile.RetryMode {
		return sharedfile.EnvRetryMode
	}
	return sharedfile.EnvMaxAttempts
}

// judge returns what is odd about a value, without its place. wins says whether it counts, or would if it were
// accepted.
func (r *report) judge(v config.ValueError, wins bool) (d Diagnostic) {
	switch {
	case v.Err != nil && wins:
		d = Diagnostic{Severity: SeverityError, Code: codeInvalidValue, Message: v.Err.Error() + r.passed[v.Key].Message}
	case v.Err != nil:
		d = Diagnostic{Code: codeInvalidValue, Message: v.Err.Error() + "; another value wins, so it is ignored"}
	case wins && v.Key == sharedfile.RetryMode && mapped(v.Raw) != "":
		d = Diagnostic{Code: "mapped-mode", Message: "a mode of other tools, read as " + mapped(v.Raw)}
	}
	return d
}

// elsewhere says which other tools read a value that is accepted here differently, and how.
func elsewhere(v sharedfile.Setting) (names, how string) {
	text, err := inSDK(v)
	switch {
	case v.Text == "", err == nil && text == strings.TrimLeft(v.Text, "+0"), refused(v.Key, v.Text) != nil:
		return "", ""
	case v.Key == sharedfile.MaxAttempts && err != nil:
		return toolGo, "the number is refused, as a leading 0 makes it octal"
	case v.Key == sharedfile.MaxAttempts:
		return toolGo, "the number is " + text + ", as a leading 0 makes it octal"
	case mapped(v.Text) != "":
		return allTools, "the mode is refused, or followed in another way"
	case sharedfile.Trim(v.Text) != v.Text:
		return allTools, "a mode with whitespace at an end is refused, or not known"
	}
	return allTools, "a mode counts in lower case only"
}

// mapped returns the mode that a mode of other tools is read as, or "".
func mapped(mode string) string {
	switch sharedfile.ASCIILower(sharedfile.Trim(mode)) {
	case "legacy":
		return "standard"
	case "adaptive_v2":
		return "adaptive"
	}
	return ""
}

// modeOf and numberOf return what accepted texts are read as.
func modeOf(text string) config.Mode {
	return config.Mode(cmp.Or(mapped(text), sharedfile.ASCIILower(sharedfile.Trim(text))))
}

func numberOf(text string) int {
	n, _ := strconv.Atoi(sharedfile.Trim(text))
	return n
}

// refused returns why a setting does not accept a text, or nil.
func refused(key, text string) error {
	return errors.Unwrap(config.Candidate{Raw: text, Origin: config.Origin{Key: key}}.Check())
}

// inSDK returns the value that aws-sdk-go-v2 reads for a setting in a file, or for a variable, which has no line. The
// error says that it refuses the value.
func inSDK(v sharedfile.Setting) (text string, err error) {
	base := 10
	if v.Sign { // There an indented line with a sign is a property of its own.
		v.Text = v.First()
	}
	if v.Line > 0 {
		base = 0
	}
	if v.Line > 0 && !v.Commented { // There the comment of an indented line is cut off last.
		v.Text = sharedfile.Unquoted(v.Text)
	}
	if v.Key == sharedfile.MaxAttempts {
		n, err := strconv.ParseInt(v.Text, base, 64)
		return strconv.FormatInt(n, 10), err
	}
	if v.Text != "standard" && v.Text != "adaptive" {
		err = strconv.ErrSyntax
	}
	return v.Text, err
}
