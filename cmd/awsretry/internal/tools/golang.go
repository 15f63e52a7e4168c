package tools

import (
	"slices"
	"strconv"
	"strings"
)

// goFile reads a file as aws-sdk-go-v2 does.
type goFile struct {
	file     int8
	trace    tracer
	step     step // Of the line at hand.
	sections map[string]*profile
	refuse   *refusal

	current *profile // Nil above the first header and below one without a name.
	name    string   // The profile of the current section.
	above   goValue  // The last property of the section.
}

// goValue is the value of the property above.
type goValue struct {
	there, empty, group bool
	offset              int32
	kept                *value // If it is kept.
}

// isSource reports whether a key names where credentials come from.
func isSource(key string) bool {
	switch key {
	case "source_profile", "credential_source", "credential_process", "web_identity_token_file", "sso_session":
		return true
	}
	return slices.Contains(legacySSO(), key)
}

func readGoFile(file int8, text string, trace tracer) *goFile {
	g := &goFile{file: file, trace: trace, sections: map[string]*profile{}}
	offset := int32(0)
	for line := range strings.Lines(text) {
		if g.line(strings.TrimSuffix(line, "\n"), offset); g.refuse != nil {
			break
		}
		offset += int32(len(line))
	}
	return g
}

func (g *goFile) line(line string, offset int32) {
	left := line
	for left != "" && isBlank(left[0]) {
		left = left[1:]
	}
	text := strings.TrimSpace(left)
	if text == "" || left[0] == '#' || left[0] == ';' {
		return
	}
	g.step = step{offset: offset, kind: skipped}
	s := &g.step
	if name, ok := goHeader(text); ok {
		s.kind = header
		g.section(name, offset)
	} else {
		g.property(line, left, s)
	}
	s.profile = g.name
	g.trace(g.file, s)
}

func (g *goFile) section(name string, offset int32) {
	g.current, g.above, g.name = nil, goValue{}, goProfile(g.file, name)
	if name == "" {
		return
	}
	if g.current = g.sections[name]; g.current == nil {
		g.current = &profile{head: Place{g.file, offset}}
		g.sections[name] = g.current
	}
}

func (g *goFile) property(line, left string, s *step) {
	indented := isBlank(line[0])
	if !indented {
		left = strings.TrimRight(goUncommented(line), " \t")
	}
	sign := either(left, '=', ':')
	if sign < 0 {
		if v := g.above; indented && v.there && !v.empty && !v.group {
			if s.kind, s.of = part, v.offset; v.kept != nil {
				v.kept.more = true
			}
		}
		return
	}
	key, text := strings.ToLower(strings.TrimSpace(left[:sign])), strings.TrimSpace(left[sign+1:])
	if text == "'" || text == `"` {
		g.refuse = &refusal{Place{g.file, s.offset}, "it crashes at a value of one quote", "delete the quote"}
		return
	}
	if last := len(text) - 1; last > 0 && (text[0] == '"' || text[0] == '\'') && text[last] == text[0] {
		text = text[1:last]
	}
	switch {
	case g.current == nil:
		return
	case indented && g.above.there && g.above.empty:
		g.above.group = true
		s.kind, s.of = part, g.above.offset
		return
	case indented:
		text = strings.TrimSpace(goUncommented(text))
	}
	s.kind = property
	g.above = goValue{there: key != "", empty: text == "", offset: s.offset}
	v := value{Place: Place{g.file, s.offset}, set: true, text: text}
	if i := settingOf(key); i >= 0 {
		s.setting = int8(i + 1)
		g.current.values[i], g.above.kept = v, &g.current.values[i]
	} else if key == "role_arn" || key == keyID || key == secretKey || isSource(key) {
		if g.current.credentials == nil {
			g.current.credentials = map[string]value{}
		}
		g.current.credentials[key] = v
	}
}

// goHeader returns the name of a header. Blanks behind its first word count as one space.
func goHeader(text string) (name string, ok bool) {
	if text[0] != '[' {
		return "", false
	}
	if i := either(text, '#', ';'); i >= 0 {
		text = strings.TrimSpace(text[:i])
	}
	if len(text) < 2 || text[len(text)-1] != ']' {
		return "", false
	}
	name = strings.TrimSpace(text[1 : len(text)-1])
	if i := strings.IndexAny(name, " \t"); i > 0 {
		name = name[:i] + " " + strings.TrimLeft(name[i:], " \t")
	}
	return name, true
}

// goUncommented cuts off a comment, which begins behind a blank.
func goUncommented(text string) string {
	for i := 1; i < len(text); i++ {
		if (text[i] == '#' || text[i] == ';') && isBlank(text[i-1]) {
			return text[:i-1]
		}
	}
	return text
}

// goProfile returns the name of the profile that a section is for.
func goProfile(file int8, name string) string {
	rest, prefixed := strings.CutPrefix(name, "profile ")
	switch {
	case file == 0 && prefixed:
		return rest
	case file == 0 && !strings.EqualFold(name, "default"), prefixed:
		return ""
	}
	return name
}

// readGo reads the files as aws-sdk-go-v2 does. A [profile default] replaces [default] whole, and the credentials file
// wins key by key.
func readGo(texts [2]string, trace tracer) *reading {
	r := &reading{profiles: map[string]*profile{}}
	files := [2]*goFile{}
	for i, text := range texts {
		if files[i] = readGoFile(int8(i), text, trace); files[i].refuse != nil && r.refuse == nil {
			r.refuse = files[i].refuse
		}
	}
	for name, p := range files[0].sections {
		to := goProfile(0, name)
		switch _, replaced := files[0].sections["profile "+name]; {
		case to == "" && (strings.HasPrefix(name, "sso-session ") || strings.HasPrefix(name, "services ")):
			to = name
		case to == "", to == name && replaced:
			continue
		}
		p.refuse = p.halfAPair()
		r.profiles[to] = p
	}
	for name, p := range files[1].sections {
		if strings.HasPrefix(name, "profile ") {
			continue
		}
		p.refuse = p.halfAPair()
		if to := r.profiles[name]; to != nil {
			to.refuse = p.refuse
			to.merge(p)
		} else {
			r.profiles[name] = p
		}
	}
	return r
}

func (p *profile) merge(stronger *profile) {
	for i, v := range stronger.values {
		if v.set {
			p.values[i] = v
		}
	}
	pair := stronger.credentials[keyID].set && stronger.credentials[secretKey].set
	for key, v := range stronger.credentials {
		if (key == keyID || key == secretKey) && !pair {
			continue
		}
		if p.credentials == nil {
			p.credentials = map[string]value{}
		}
		p.credentials[key] = v
	}
}

// The keys that count together only.
const keyID, secretKey = "aws_access_key_id", "aws_secret_access_key"

func (p *profile) halfAPair() *refusal {
	id, secret := p.credentials[keyID], p.credentials[secretKey]
	if id.set == secret.set {
		return nil
	}
	if secret.set {
		id = secret
	}
	return &refusal{id.Place, "half a pair of aws_access_key_id and aws_secret_access_key", "add the other half"}
}

// goJudge says what aws-sdk-go-v2 makes of a profile. A bad value in a file is refused even if a variable overrides it.
func goJudge(r *reading, name string, env *[2]value) (o outcome) {
	if r.refuse != nil {
		return outcome{state: refused, refusal: *r.refuse}
	}
	if r.profiles[name] == nil {
		o.state = missing
	} else if bad := r.goChain(name, nil); bad != nil {
		return outcome{state: refused, refusal: *bad}
	} else {
		o = r.profiles[name].goValues()
	}
	for i, v := range env {
		switch text, ok := goText(i, v, 10); {
		case v.text != "" && !ok:
			return v.refusing(refusesValue, cureOf(i))
		case v.text != "" && text != "":
			o.texts[i], o.at[i] = text, v.Place
		}
	}
	return o
}

// goText returns what a value sets. In a file, the prefix of a number says which base it has, so the base is 0 there.
func goText(i int, v value, base int) (text string, ok bool) {
	if i == mode {
		return v.text, !v.more && (v.text == "standard" || v.text == "adaptive")
	}
	n, err := strconv.ParseInt(v.text, base, 64)
	if n != 0 {
		text = strconv.FormatInt(n, 10)
	}
	return text, err == nil && !v.more
}

const refusesValue = "the value is refused"

// goValues returns the values of the file.
func (p *profile) goValues() (o outcome) {
	for i, v := range p.values {
		text, ok := goText(i, v, 0)
		switch {
		case !v.set:
		case !ok:
			return v.refusing(refusesValue, cureOf(i))
		default:
			o.texts[i], o.at[i] = text, v.Place
		}
	}
	return o
}

// maxChain is how many profiles a chain of source_profile may have that is looked at.
const maxChain = 10

// goChain says why a profile, or one that its source_profile leads to, is refused.
func (r *reading) goChain(name string, seen []string) *refusal {
	p, first := r.profiles[name], !slices.Contains(seen, name)
	if name == "" {
		return &refusal{p.head, "the profile has no name", "give it one"}
	}
	if p.refuse != nil {
		return p.refuse
	}
	if bad := p.goValues(); bad.state == refused {
		return &bad.refusal
	}
	text := func(key string) string { return p.credentials[key].text }
	refuse := func(why string, keys ...string) *refusal {
		at := p.head
		for _, key := range keys {
			if v := p.credentials[key]; v.text != "" {
				at = v.Place
			}
		}
		return &refusal{at, why, "complete the credentials of the profile"}
	}
	source := text("source_profile")
	if !first {
		source = ""
	} else if source+text("credential_source")+text("web_identity_token_file") != "" && text("role_arn") == "" {
		return refuse("credentials of a role without role_arn", "web_identity_token_file", "credential_source", "source_profile")
	}
	if len(seen) > maxChain || len(seen) > 0 && p.hasKeys() {
		return nil
	}
	seen = append(seen, name)
	kinds := 0
	for _, given := range [...]string{source, text("credential_source"), text("credential_process"), text("web_identity_token_file")} {
		if given != "" {
			kinds++
		}
	}
	if kinds > 1 {
		return refuse("several kinds of credentials", "web_identity_token_file", "credential_process", "credential_source", "source_profile")
	}
	if source != "" {
		to := r.profiles[source]
		if to == nil {
			return refuse("source_profile is a profile that is missing", "source_profile")
		}
		again := slices.Contains(seen, source)
		if bad := r.goChain(source, seen); bad != nil {
			return bad
		}
		if !to.hasCredentials(again) {
			return refuse("source_profile is a profile without credentials", "source_profile")
		}
	}
	session, given := text("sso_session"), 0
	for _, key := range legacySSO() {
		if text(key) != "" {
			given++
		}
	}
	if given > 0 && given < len(legacySSO()) && session+source+text("credential_source")+text("web_identity_token_file") == "" && !p.hasKeys() {
		return refuse("some of "+strings.Join(legacySSO(), ", ")+" are missing", legacySSO()...)
	}
	if session != "" && r.profiles["sso-session "+strings.TrimSpace(session)] == nil {
		return refuse("sso_session has no section", "sso_session")
	}
	return nil
}

// legacySSO returns the keys of single sign-on without a session, which count together only.
func legacySSO() []string {
	return []string{"sso_start_url", "sso_region", "sso_account_id", "sso_role_name"}
}

func (p *profile) hasKeys() bool {
	return p.credentials[keyID].text != "" && p.credentials[secretKey].text != ""
}

// hasCredentials reports whether a profile can be a source of credentials. Used again, its own source does not count.
func (p *profile) hasCredentials(again bool) bool {
	for key, v := range p.credentials {
		if isSource(key) && v.text != "" && (key != "source_profile" || !again) {
			return true
		}
	}
	return p.hasKeys()
}
