package config

import "strings"

// Lint gives the findings about all profiles of both files and about the files
// themselves: first those without a line, then the config file's, then the
// credentials file's, by line. A value that would win is an error if it is not
// accepted. Strict makes each malformed line an error, [CodeParseError]. The error
// is a *[UnreadableError], as [Resolve] has it.
func Lint(src Sources, strict bool) ([]Diagnostic, error) {
	files, all, err := src.open()
	if err != nil {
		return nil, err
	}
	both := indexes(files, "", true)
	for g := range groups(both) {
		credentials := both[1].examine(string(g.name), g.parts[1], nil)
		config := both[0].examine(string(g.name), g.parts[0], credentials)
		both[1].check(credentials, nil)
		both[0].check(config, credentials)
	}
	for _, x := range both {
		x.tell(CodeIgnoredSection, &x.ignored, ignoredText)
		for _, d := range x.findings.list() {
			if strict && d.Code == CodeMalformedLine {
				d.Code, d.Severity, d.Message = CodeParseError, SeverityError, strings.TrimSuffix(d.Message, skipped)
			}
			all = append(all, d)
		}
	}
	return all, nil
}

// check looks at the values that one file has for the retry settings of one
// profile. The last one wins, unless the file above has one as well.
func (x *index) check(given, above []Candidate) {
	won := map[string]bool{}
	for _, c := range above {
		won[c.Origin.Key] = true
	}
	for _, c := range given {
		_, note, err := parserOf(c.Origin.Key)(c.Raw)
		switch wins := !won[c.Origin.Key]; {
		case err != nil && wins:
			x.findings.add(c.finding(SeverityError, CodeInvalidValue, err.Error()))
		case err != nil:
			x.findings.add(c.invalidLoser(err))
		case note != "" && wins:
			x.findings.add(c.finding(SeverityWarning, CodeMappedMode, note))
		}
		won[c.Origin.Key] = true
	}
}

const ignoredText = "retry settings in sections that are no profiles have no effect"
