package lint

import (
	"cmp"
	"strconv"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/tools"
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

// variables returns the variables that tools may read differently, in the order of the findings about them.
func variables() []string {
	return []string{
		sharedfile.EnvRetryMode, sharedfile.EnvMaxAttempts, sharedfile.EnvProfile, sharedfile.EnvDefaultProfile,
		sharedfile.EnvConfigFile, sharedfile.EnvCredentialsFile,
	}
}

// judge returns what is odd about a value, without its place. wins says whether it counts, or would if it were
// accepted.
func (r *report) judge(v config.ValueError, wins bool) (d Diagnostic) {
	switch {
	case v.Err != nil && wins:
		d = Diagnostic{Severity: SeverityError, Code: codeInvalidValue, Message: v.Err.Error() + r.passed[v.Key].Message}
	case v.Err != nil:
		d = Diagnostic{Code: codeInvalidValue, Message: v.Err.Error() + "; another value wins, so it is ignored"}
	case wins && v.Key == sharedfile.RetryMode && string(modeOf(v.Raw)) != sharedfile.ASCIILower(sharedfile.Trim(v.Raw)):
		d = Diagnostic{Code: codeMappedMode, Message: "a mode of other tools, read as " + string(modeOf(v.Raw))}
	}
	return d
}

// modeOf and numberOf return what accepted texts are read as.
func modeOf(text string) config.Mode {
	mode, _ := tools.Accept(sharedfile.RetryMode, text)
	return config.Mode(cmp.Or(mode, text))
}

func numberOf(text string) int {
	n, _ := strconv.Atoi(sharedfile.Trim(text))
	return n
}

// refused returns why a setting does not accept a text, or nil.
func refused(key, text string) error {
	_, err := tools.Accept(key, text)
	return err
}
