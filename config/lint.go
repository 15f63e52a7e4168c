package config

import "strings"

// Lint returns the findings about all profiles of both files, about the files themselves, and
// about variables that other AWS tools read differently. First come the findings about
// variables and paths, then those about the config file, then those about the credentials
// file, each by line. A bad value has the severity "error" if it would win, and so have a file that a
// variable or code names but that does not exist, a file that cannot be read, and one in UTF-16. If strict is
// true, each malformed line is a finding with the code parse-error and the severity "error".
//
// The error is an [*UnreadableError] for an unreadable file that code named, and for any file
// above 4 MiB.
func (s Sources) Lint(strict bool) ([]Diagnostic, error) {
	found := &findings{first: append(s.checkVariables(), s.variables(false)...)}
	files, err := s.open(found)
	if err != nil {
		return nil, err
	}
	for i := range found.first {
		if d := &found.first[i]; d.Code == codeMissingFile || d.Code == codeUnreadableFile {
			d.Severity = SeverityError
		}
	}
	both := readings(files, "", true, found)
	for _, p := range places(both) {
		credentials := both[1].examine(p, nil, true)
		config := both[0].examine(p, credentials, both[1].sections[p] == nil)
		both[1].check(credentials, nil, s)
		both[0].check(config, credentials, s)
	}
	reportNoProfiles(both)
	all := found.list()
	for i := range all {
		d := &all[i]
		if d.Code == codeMalformedLine && strings.HasPrefix(d.Message, msgUTF16) {
			d.Severity = SeverityError
		}
		if strict && d.Code == codeMalformedLine {
			d.Code, d.Severity, d.Message = codeParseError, SeverityError, strings.TrimSuffix(d.Message, skipped)
		}
	}
	return all, nil
}

// checkVariables reports bad values of the variables for retry settings, and those of other tools, as check does
// for values in files.
func (s Sources) checkVariables() (found []Diagnostic) {
	for _, v := range [...][2]string{{envRetryMode, keyRetryMode}, {envMaxAttempts, keyMaxAttempts}} {
		value, ok := s.env(v[0])
		if !ok || isBlankText(value) {
			continue
		}
		c := Candidate{Raw: value, Origin: Origin{Kind: originEnvironment, Name: v[0]}}
		if err := check(v[1], value); err != nil {
			found = append(found, c.finding(v[1], SeverityError, codeInvalidValue, err.Error()))
		} else if note := mapped(value); v[1] == keyRetryMode && note != "" {
			found = append(found, c.finding(v[1], SeverityWarning, codeMappedMode, note))
		}
	}
	return found
}

// check reports values that one file has for the retry settings of one profile. The first
// one in given wins, unless the stronger file, above, has one as well.
func (x *reading) check(given, above []Candidate, src Sources) {
	won := map[string]bool{}
	for _, c := range above {
		won[c.Origin.Key] = true
	}
	for _, c := range given {
		key := c.Origin.Key
		err, note := check(key, c.Raw), mapped(c.Raw)
		switch {
		case err != nil && won[key]:
			x.add(c.finding(key, SeverityWarning, codeInvalidValue, err.Error()+anotherWins))
		case err != nil:
			x.add(c.finding(key, SeverityError, codeInvalidValue, err.Error()))
			x.overridden(c, src)
		case key == keyRetryMode && note != "" && !won[key]:
			x.add(c.finding(key, SeverityWarning, codeMappedMode, note))
		}
		won[key] = true
	}
}
