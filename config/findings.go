package config

import (
	"slices"
	"strconv"
)

// findings are the diagnostics about one file, in the order of its lines.
func (x *index) findings(credentials *index) []Diagnostic {
	x.repeats()
	x.tallies()
	if x.kind == KindConfig {
		x.shadowedBy(credentials)
	}
	slices.SortStableFunc(x.diags, func(a, b Diagnostic) int { return a.Line - b.Line })
	return x.diags
}

// place is a key of a profile, or with no key the profile itself.
type place struct{ profile, key string }

// repeats tells of keys and sections that are there twice.
func (x *index) repeats() {
	seen := make(map[place]int, len(x.props)+len(x.sections))
	for _, s := range x.sections {
		at := place{profile: s.profile}
		if first := seen[at]; first > 0 {
			x.warn(CodeDuplicateSection, s.line, "profile "+quote(s.profile)+" has a section on line "+
				strconv.Itoa(first)+" already; the two count as one")
			continue
		}
		seen[at] = s.line
	}
	for _, p := range x.props {
		at := place{p.profile, p.key}
		if before := seen[at]; before > 0 {
			x.warn(CodeDuplicateKey, p.line, nameOf(p.key)+" of profile "+quote(p.profile)+
				" is set on line "+strconv.Itoa(before)+" already; the later one counts")
		}
		seen[at] = p.line
	}
}

// nameOf is how a finding may call a key. A key may be a secret that was pasted
// in its place, so only retry settings are named.
func nameOf(key string) string {
	if retryKey([]byte(key)) != "" {
		return key
	}
	return "a key"
}

// tallies tells of retry settings in sections that are not in use.
func (x *index) tallies() {
	if t := x.unused; t.sections > 0 {
		x.warn(CodeUnusedProfile, t.line, "retry settings of other profiles have no effect on profile "+
			quote(x.scope.name)+": "+t.String())
	}
	if t := x.ignored; t.sections > 0 {
		x.warn(CodeIgnoredSection, t.line, "retry settings in sections that are no profiles have no effect: "+t.String())
	}
}

// String names the first section and counts the others.
func (t tally) String() string {
	text := shorten("[" + t.name + "]")
	if t.sections > 1 {
		text += " and " + strconv.Itoa(t.sections-1) + " more"
	}
	return text
}

// shadowedBy tells of retry settings that the credentials file has as well.
func (x *index) shadowedBy(credentials *index) {
	lines := map[place]int{}
	for _, p := range credentials.props {
		if retryKey([]byte(p.key)) != "" {
			lines[place{p.profile, p.key}] = p.line
		}
	}
	for _, p := range x.props {
		if line := lines[place{p.profile, p.key}]; line > 0 {
			x.warn(CodeShadowedKey, p.line, p.key+" of profile "+quote(p.profile)+
				" has no effect: "+credentials.file+":"+strconv.Itoa(line)+" overrides it")
		}
	}
}
