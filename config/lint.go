package config

import "strings"

// Lint returns the findings about all profiles of both files, about the files themselves, and
// about variables that other AWS tools read differently. First come the findings about
// variables and paths, then those about the config file, then those about the credentials
// file, each by line. A value that is not accepted has the
// severity "error" if it would win. With strict each malformed line is a finding with the
// code parse-error and the severity "error".
//
// The error is an [*UnreadableError] for a file that code named and that cannot be read,
// and for any file above 16 MiB.
func (s Sources) Lint(strict bool) ([]Diagnostic, error) {
	files, all, err := s.open()
	if err != nil {
		return nil, err
	}
	all = append(s.variables(false), all...)
	both := indexes(files, "", true)
	for g := range groups(both) {
		credentials := both[1].examine(string(g.name), g.parts[1], nil, true)
		config := both[0].examine(string(g.name), g.parts[0], credentials, len(g.parts[1]) == 0)
		both[1].check(credentials, nil, s)
		both[0].check(config, credentials, s)
	}
	for _, x := range both {
		x.tell(codeIgnoredSection, &x.ignored, ignoredText)
		for _, d := range x.findings.list() {
			if strict && d.Code == codeMalformedLine {
				d.Code, d.Severity, d.Message = codeParseError, severityError, strings.TrimSuffix(d.Message, skipped)
			}
			all = append(all, d)
		}
	}
	return all, nil
}

// check reports values that one file has for the retry settings of one profile. The first
// one in given wins, unless the stronger file, above, has one as well.
func (x *index) check(given, above []Candidate, src Sources) {
	won := map[string]bool{}
	for _, c := range above {
		won[c.Origin.Key] = true
	}
	for _, c := range given {
		_, note, err := parserOf(c.Origin.Key)(c.Raw)
		switch wins := !won[c.Origin.Key]; {
		case err != nil && wins:
			x.findings.add(c.finding(c.Origin.Key, severityError, codeInvalidValue, err.Error()))
			x.overridden(c, src)
		case err != nil:
			x.findings.add(c.invalidLoser(c.Origin.Key, err))
		case note != "" && wins:
			x.findings.add(c.finding(c.Origin.Key, severityWarning, codeMappedMode, note))
		}
		won[c.Origin.Key] = true
	}
}

const ignoredText = "retry settings in sections that are no profiles have no effect"
