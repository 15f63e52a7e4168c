package tools

import (
	"slices"
	"strconv"
	"strings"
)

// goFile reads a file as aws-sdk-go-v2 does.
type goFile struct {
	scan
	current *profile // Nil above the first header and below one without a name.
}

func (g *goFile) line(line string) bool {
	left := strings.TrimLeft(line, " \t")
	text := strings.TrimSpace(left)
	if text == "" || left[0] == '#' || left[0] == ';' {
		return false
	}
	if name, ok := goHeader(text); ok {
		g.step.kind = header
		g.current, g.above, g.name = g.sections[name], above{}, goProfile(g.file, name)
		if name != "" && g.current == nil {
			g.current = &profile{head: g.at()}
			g.sections[name] = g.current
		}
	} else {
		g.further(line, left)
	}
	return true
}

// further reads a line that is no header.
func (g *goFile) further(line, left string) {
	indented := isBlank(line[0])
	if !indented {
		left = strings.TrimRight(goUncommented(line), " \t")
	}
	sign := either(left, '=', ':')
	if sign < 0 {
		if indented && g.above.there && !g.above.empty && !g.above.group {
			g.continued()
		}
		return
	}
	key, text := strings.ToLower(strings.TrimSpace(left[:sign])), strings.TrimSpace(left[sign+1:])
	if text == "'" || text == `"` {
		g.note(&g.refuse, "it crashes at a value of one quote", "delete the quote")
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
		g.step.kind, g.step.of = part, g.above.offset
		return
	case indented:
		text = strings.TrimSpace(goUncommented(text))
	}
	g.property(g.current, key, text)
	g.above.there = key != ""
	switch key {
	case "role_arn", keyID, secretKey, sourceProfile, credentialSource, credentialProcess, tokenFile, ssoSession,
		"sso_start_url", "sso_region", "sso_account_id", "sso_role_name":
		if g.current.credentials == nil {
			g.current.credentials = map[string]value{}
		}
		g.current.credentials[key] = value{Place: g.at(), set: true, text: text}
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
	for i, text := range texts {
		g := goFile{scan: scan{file: int8(i), trace: trace, sections: map[string]*profile{}}}
		if g.lines(text, '\n', g.line); r.refuse == nil {
			r.refuse = g.refuse
		}
		for name, p := range g.sections {
			to := goProfile(g.file, name)
			switch replaced := i == 0 && g.sections["profile "+name] != nil; {
			case i == 0 && (strings.HasPrefix(name, "sso-session ") || strings.HasPrefix(name, "services ")):
				to = name
			case to == "", to == name && replaced:
				continue
			}
			p.refuse = p.halfAPair()
			if weaker := r.profiles[to]; i == 1 && weaker != nil {
				p.head = weaker.head
				p.fill(weaker, false)
			}
			r.profiles[to] = p
		}
	}
	return r
}

// The keys that name where credentials come from, and two that count together only.
const (
	sourceProfile     = "source_profile"
	credentialSource  = "credential_source"
	credentialProcess = "credential_process"
	tokenFile         = "web_identity_token_file"
	ssoSession        = "sso_session"
	keyID, secretKey  = "aws_access_key_id", "aws_secret_access_key"
)

// legacySSO returns the keys of single sign-on without a session, which count together only.
func legacySSO() []string {
	return []string{"sso_start_url", "sso_region", "sso_account_id", "sso_role_name"}
}

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

// given returns how many of some keys have a text.
func (p *profile) given(keys ...string) (n int) {
	for _, key := range keys {
		if p.credentials[key].text != "" {
			n++
		}
	}
	return n
}

func (p *profile) hasKeys() bool { return p.given(keyID, secretKey) == 2 }

// goText returns what a value sets. In a file, the prefix of a number says which base it has, so the base is 0 there.
func goText(i int, v value) (text string, ok bool) {
	base := 0
	if v.File == nowhere {
		if base = 10; v.text == "" {
			return "", true
		}
	}
	if i == mode {
		return v.text, !v.more && (v.text == "standard" || v.text == "adaptive")
	}
	n, err := strconv.ParseInt(v.text, base, 64)
	if n != 0 {
		text = strconv.FormatInt(n, 10)
	}
	return text, err == nil && !v.more
}

// maxChain is how many profiles a chain of source_profile may have that is looked at.
const maxChain = 10

// goChain says why a profile, or one that its source_profile leads to, is refused. A bad value in a file is refused even
// if a variable overrides it.
func (r *reading) goChain(name string, seen []string) *refusal {
	p, again := r.profiles[name], slices.Contains(seen, name)
	if p.refuse != nil {
		return p.refuse
	}
	for i, v := range p.values {
		if _, ok := goText(i, v); v.set && !ok {
			return v.refused(i)
		}
	}
	refuse := func(why string, keys ...string) *refusal {
		at := p.head
		for _, key := range keys {
			if v := p.credentials[key]; v.text != "" {
				at = v.Place
			}
		}
		return &refusal{at, why, "complete the credentials of the profile"}
	}
	source := p.credentials[sourceProfile].text
	if again {
		source = ""
	} else if p.given(sourceProfile, credentialSource, tokenFile) > 0 && p.given("role_arn") == 0 {
		return refuse("credentials of a role without role_arn", tokenFile, credentialSource, sourceProfile)
	}
	if len(seen) > maxChain || len(seen) > 0 && p.hasKeys() {
		return nil
	}
	seen = append(seen, name)
	if n := p.given(credentialSource, credentialProcess, tokenFile); n > 1 || n > 0 && source != "" {
		return refuse("several kinds of credentials", tokenFile, credentialProcess, credentialSource, sourceProfile)
	}
	if source != "" {
		to := r.profiles[source]
		if to == nil {
			return refuse("source_profile is a profile that is missing", sourceProfile)
		}
		if bad := r.goChain(source, seen); bad != nil {
			return bad
		}
		if !to.hasCredentials(slices.Contains(seen, source)) {
			return refuse("source_profile is a profile without credentials", sourceProfile)
		}
	}
	sso, others := p.given(legacySSO()...), p.given(ssoSession, credentialSource, tokenFile)
	if sso > 0 && sso < len(legacySSO()) && others == 0 && source == "" && !p.hasKeys() {
		return refuse("some of "+strings.Join(legacySSO(), ", ")+" are missing", legacySSO()...)
	}
	if session := p.credentials[ssoSession].text; session != "" && r.profiles["sso-session "+strings.TrimSpace(session)] == nil {
		return refuse("sso_session has no section", ssoSession)
	}
	return nil
}

// hasCredentials reports whether a profile can be a source of credentials. Used again, its own source does not count.
func (p *profile) hasCredentials(again bool) bool {
	return p.hasKeys() || p.given(legacySSO()...) > 0 || !again && p.given(sourceProfile) > 0 ||
		p.given(credentialSource, credentialProcess, tokenFile, ssoSession) > 0
}
