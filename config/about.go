package config

import (
	"slices"
	"strings"
)

// mapped says how a mode of other tools is read. It returns "" for any other text.
func mapped(mode string) string {
	switch asciiLower(trim(mode)) {
	case "legacy":
		return "a mode of other tools, read as standard"
	case "adaptive_v2":
		return "a mode of other tools, read as adaptive"
	}
	return ""
}

// note keeps a finding about a value, with the findings about the value's file if it has one.
func (r *resolution) note(c Candidate, d Diagnostic) {
	if c.Origin.File == "" {
		r.found.first = append(r.found.first, d)
		return
	}
	r.found.files[c.Origin.fileIndex()].add(d)
}

// fileIndex returns which of the two files has a value: 0 for the config file, 1 for the credentials file.
func (o Origin) fileIndex() int {
	if o.Kind == originSharedCredentials {
		return 1
	}
	return 0
}

// aboutValues adds the findings about the values of all settings: those that other tools name otherwise, those
// that are not accepted, and those that have no effect. passed has the values that Examine has passed over, with
// how a client goes on.
func (r *resolution) aboutValues(s *Settings, passed map[Origin]string) {
	r.aboutSetting(keyBehavior, s.Behavior.winner(), s.Behavior.Overridden, passed)
	r.aboutSetting(keyRetryMode, s.RetryMode.winner(), s.RetryMode.Overridden, passed)
	if fields := r.Config.Adaptive; len(fields) > 0 && s.RetryMode.Value == modeStandard && !s.RetryMode.Origin.chosenInCode() {
		c := s.RetryMode.winner()
		r.note(c, c.finding(keyRetryMode, SeverityWarning, codeNoEffect, "in this mode these have no effect: "+strings.Join(fields, ", ")))
	}
	r.aboutSetting(keyMaxAttempts, s.MaxAttempts.winner(), s.MaxAttempts.Overridden, passed)
	r.aboutSetting(keyMaxBackoff, s.MaxBackoff.winner(), s.MaxBackoff.Overridden, passed)
	r.aboutSetting(keyMinDelay, s.MinDelay.winner(), s.MinDelay.Overridden, passed)
	r.aboutSetting(keyMaxElapsed, s.MaxElapsed.winner(), s.MaxElapsed.Overridden, passed)
}

func (r *resolution) aboutSetting(key string, winner Candidate, losers []Candidate, passed map[Origin]string) {
	all := append([]Candidate{winner}, losers...)
	if i := slices.IndexFunc(all, func(c Candidate) bool { return c.Origin.File != "" }); i >= 0 {
		r.found.files[all[i].Origin.fileIndex()].overridden(all[i], r.Sources)
	}
	for _, c := range all {
		if how, ok := passed[c.Origin]; ok {
			r.note(c, c.finding(key, SeverityError, codeInvalidValue, c.why(key).Error()+how))
		}
	}
	if note := mapped(winner.Raw); key == keyRetryMode && note != "" {
		r.note(winner, winner.finding(key, SeverityWarning, codeMappedMode, note))
	}
	for _, c := range losers {
		if _, ok := passed[c.Origin]; !ok && !c.Valid {
			r.note(c, c.finding(key, SeverityWarning, codeInvalidValue, c.why(key).Error()+anotherWins))
		}
	}
}
