package config

import "errors"

// InvalidLoser is the finding about a value that is not accepted and lost
// anyway. The error is what a Parse function said about it.
func InvalidLoser(c Candidate, err error) Diagnostic {
	return c.finding(SeverityWarning, CodeInvalidValue, accepted(err)+"; another value wins, so it is ignored")
}

// MappedMode is the finding about a mode of other AWS tools that is read as one
// of the two modes.
func MappedMode(c Candidate, mode Mode) Diagnostic {
	return c.finding(SeverityWarning, CodeMappedMode, "a mode of other tools, read as "+string(mode))
}

// UnknownNewRetries is the finding about an AWS_NEW_RETRIES_2026 that is neither
// true nor false.
func UnknownNewRetries(c Candidate) Diagnostic {
	return c.finding(SeverityWarning, CodeUnknownNewRetries, "neither true nor false, read as false")
}

// NoEffect are the findings about variables that other tools read and that have
// no effect here.
func (s Sources) NoEffect() []Diagnostic {
	var all []Diagnostic
	for _, v := range []struct{ name, why string }{
		{EnvDefaultProfile, "the profile is chosen by " + EnvProfile},
		{EnvSDKLoadConfig, "the config file is always read"},
	} {
		if _, ok := s.Env(v.name); ok {
			all = append(all, Diagnostic{
				Severity: SeverityWarning, Code: CodeNoEffect,
				Message: v.name + " is set and has no effect: " + v.why,
			})
		}
	}
	return all
}

// finding is a diagnostic about a value: its place, the value, and the text.
func (c Candidate) finding(severity Severity, code, text string) Diagnostic {
	subject := c.Origin.String()
	if c.Origin.File != "" {
		subject = c.Origin.section() + " " + c.Origin.Key // File and line are said already.
	}
	return Diagnostic{
		Severity: severity, Code: code,
		Message: subject + ": " + quote(c.Raw) + ": " + text,
		File:    c.Origin.File, Line: c.Origin.Line,
	}
}

// accepted is what an error of a Parse function says would be accepted.
func accepted(err error) string {
	if v, ok := errors.AsType[*ValueError](err); ok {
		err = v.Err
	}
	return err.Error()
}

// parse reads a value of a shared file. Mapped is for modes of other tools.
func parse(key, raw string) (mode Mode, mapped bool, err error) {
	if key == KeyRetryMode {
		return ParseMode(raw)
	}
	_, err = ParseMaxAttempts(raw)
	return "", false, err
}
