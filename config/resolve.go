package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/awsretry/awsretry/retry"
)

// Variables of the environment, and keys of the shared files.
const (
	envRetryMode       = "AWS_RETRY_MODE"
	envMaxAttempts     = "AWS_MAX_ATTEMPTS"
	envProfile         = "AWS_PROFILE"
	envDefaultProfile  = "AWS_DEFAULT_PROFILE"
	envConfigFile      = "AWS_CONFIG_FILE"
	envCredentialsFile = "AWS_SHARED_CREDENTIALS_FILE"
	envNewRetries      = "AWS_NEW_RETRIES_2026"
	envSDKLoadConfig   = "AWS_SDK_LOAD_CONFIG"

	keyRetryMode   = "retry_mode"
	keyMaxAttempts = "max_attempts"

	defaultProfile = "default"
)

// Query is what [Resolve] is asked: where to read, and what code says.
type Query struct {
	Sources

	// Profile names the profile, in place of the environment. It is used as it is.
	Profile string
	// Service names the service that the client talks to, or is empty.
	Service string
	// Override is the layer of code that wins over everything, Default the one that
	// wins over the built-in defaults only.
	Override, Default Layer
	// Strict makes the first malformed line of either file a *[ParseError].
	Strict bool
	// BuiltInAttempts returns the built-in number of attempts; nil means 3.
	BuiltInAttempts func(b retry.Behavior) int
}

// Layer is what code says about the settings. A nil member says nothing.
type Layer struct {
	Mode        *Mode
	MaxAttempts *int
	Behavior    *retry.Behavior
}

// setting is a row of the table of settings.
type setting struct {
	name      string    // In errors.
	variables [2]string // The strongest first.
	key       string    // In the shared files, or empty.
	parse     parse
	builtIn   string
	option    string  // The option of code, without its With or WithDefault.
	over, def *string // What the two layers of code say.
}

// table is the settings with everything that decides them.
type table struct{ profile, behavior, retryMode, maxAttempts setting }

func (q Query) table() table {
	over, def := q.Override, q.Default
	return table{
		profile: setting{
			name: "profile", variables: [2]string{envProfile, envDefaultProfile}, parse: parseName,
			builtIn: defaultProfile, option: "Profile", over: unlessEmpty(q.Profile),
		},
		behavior: setting{
			name: "behavior", parse: parseBehavior,
			builtIn: string(retry.V21), option: "Behavior", over: (*string)(over.Behavior), def: (*string)(def.Behavior),
		},
		retryMode: setting{
			name: keyRetryMode, variables: [2]string{envRetryMode}, key: keyRetryMode, parse: parseMode,
			builtIn: string(ModeStandard), option: "Mode", over: (*string)(over.Mode), def: (*string)(def.Mode),
		},
		maxAttempts: setting{
			name: keyMaxAttempts, variables: [2]string{envMaxAttempts}, key: keyMaxAttempts, parse: parseMaxAttempts,
			builtIn: "3", option: "MaxAttempts", over: decimal(over.MaxAttempts), def: decimal(def.MaxAttempts),
		},
	}
}

func unlessEmpty(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

func decimal(n *int) *string {
	if n == nil {
		return nil
	}
	return new(strconv.Itoa(*n))
}

// Resolve decides the settings. Each comes from the first of these that has it:
// Override, the environment, the credentials file, the config file, Default, the
// built-in default.
//
// The errors are a *[ValueError] for a value that is not accepted and would win, a
// *[ProfileNotFoundError] for a profile that code or a variable named, a
// *[UnreadableError] for a file that code named and that cannot be read, and for
// any file above 16 MiB, and with Strict a *[ParseError].
func Resolve(q Query) (*Settings, error) {
	files, found, err := q.open()
	if err != nil {
		return nil, err
	}
	r, table := resolution{sources: q.Sources, found: q.noEffect()}, q.table()
	s := &Settings{Service: q.Service, Files: []FileStatus{files[0].FileStatus, files[1].FileStatus}}
	if s.Profile, err = r.choose(table.profile); err != nil {
		return nil, err
	}
	both := indexes(files, s.Profile.Value, false)
	if err := refuse(both, q.Strict); err != nil {
		return nil, err
	}
	if len(both[0].sections)+len(both[1].sections) == 0 && s.Profile.Origin.Kind != OriginDefault {
		return nil, notFound(s.Profile, files)
	}
	if r.inFiles, err = inFiles(both); err != nil {
		return nil, err
	}
	r.files, r.found = both, append(r.found, found...)
	behavior, err := r.choose(table.behavior)
	if err != nil {
		return nil, err
	}
	s.Behavior = typed(behavior, retry.Behavior(behavior.Value))
	mode, err := r.choose(table.retryMode)
	if err != nil {
		return nil, err
	}
	s.RetryMode = typed(mode, Mode(mode.Value))
	if q.BuiltInAttempts != nil {
		table.maxAttempts.builtIn = strconv.Itoa(q.BuiltInAttempts(s.Behavior.Value))
	}
	attempts, err := r.choose(table.maxAttempts)
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(attempts.Value) // parseMaxAttempts and Itoa write decimal numbers.
	s.MaxAttempts = typed(attempts, n)
	for _, x := range both {
		r.found = append(r.found, x.findings.list()...)
	}
	s.Diagnostics = r.found
	return s, nil
}

// typed is a setting with the value that its text stands for.
func typed[T any](s Setting[string], value T) Setting[T] {
	return Setting[T]{Value: value, Raw: s.Raw, Origin: s.Origin, Overridden: s.Overridden}
}

// inFiles gives the values that both files have for the wanted profile, the
// strongest first. Of each setting ini.v1 decides the first.
func inFiles(files [2]*index) ([]Candidate, error) {
	credentials := files[1].examine(files[1].wanted, files[1].sections, nil)
	config := files[0].examine(files[0].wanted, files[0].sections, credentials)
	for _, x := range files {
		x.tell(CodeUnusedProfile, &x.unused, "retry settings of other profiles have no effect on profile "+quote(x.wanted))
		x.tell(CodeIgnoredSection, &x.ignored, ignoredText)
	}
	given := append(credentials, config...)
	if len(given) == 0 {
		return nil, nil
	}
	value, err := merge(canonical(config), canonical(credentials))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i := range given {
		c := &given[i]
		if text, ok := value(c.Origin.Key); ok && !seen[c.Origin.Key] {
			c.Raw, seen[c.Origin.Key] = text, true
		}
	}
	return given, nil
}

// canonical writes the values of one file, of which the last one stands first.
func canonical(given []Candidate) []byte {
	var text []byte
	for _, c := range slices.Backward(given) {
		text = appendCanonical(text, c.Origin.Key, c.Raw)
	}
	return text
}

// resolution is where settings are chosen.
type resolution struct {
	sources Sources
	files   [2]*index
	inFiles []Candidate
	found   []Diagnostic
}

// note keeps the finding about a value, with those about its file if it has one.
func (r *resolution) note(c Candidate, d Diagnostic) {
	switch c.Origin.Kind {
	case OriginSharedConfig:
		r.files[0].findings.add(d)
	case OriginSharedCredentials:
		r.files[1].findings.add(d)
	default:
		r.found = append(r.found, d)
	}
}

// candidates lists the values of a setting, the strongest first.
func (r *resolution) candidates(s setting) []Candidate {
	var given []Candidate
	if s.over != nil {
		given = append(given, Candidate{Raw: *s.over, Origin: Origin{Kind: OriginOption, Name: "With" + s.option}})
	}
	for _, name := range s.variables {
		if name == "" {
			continue
		}
		// A retry setting of whitespace alone is unset; the name of a profile is used as it is.
		value, ok := r.sources.env(name)
		if ok && (s.key == "" || strings.TrimFunc(value, unicode.IsSpace) != "") {
			given = append(given, Candidate{Raw: value, Origin: Origin{Kind: OriginEnvironment, Name: name}})
		}
	}
	for _, c := range r.inFiles {
		if c.Origin.Key == s.key {
			given = append(given, c)
		}
	}
	if s.def != nil {
		given = append(given, Candidate{Raw: *s.def, Origin: Origin{Kind: OriginDefault, Name: "WithDefault" + s.option}})
	}
	return given
}

// choose takes the strongest value of a setting, which must be valid. The others
// are only looked at.
func (r *resolution) choose(s setting) (Setting[string], error) {
	chosen := Setting[string]{Value: s.builtIn, Raw: s.builtIn, Origin: Origin{Kind: OriginDefault}, Overridden: []Candidate{}}
	for i, c := range r.candidates(s) {
		plain, note, err := s.parse(c.Raw)
		switch {
		case i > 0:
			c.Valid = err == nil
			chosen.Overridden = append(chosen.Overridden, c)
			if err != nil {
				r.note(c, c.invalidLoser(err))
			}
		case err != nil:
			return chosen, &ValueError{Origin: c.Origin, Key: s.name, Raw: c.Raw, Err: err}
		default:
			chosen.Value, chosen.Raw, chosen.Origin = plain, c.Raw, c.Origin
			if note != "" {
				r.note(c, c.finding(SeverityWarning, CodeMappedMode, note))
			}
		}
	}
	return chosen, nil
}

// noEffect are the findings about variables that are set and change nothing.
func (q Query) noEffect() []Diagnostic {
	found := []Diagnostic{}
	add := func(name, why string) {
		if value, ok := q.env(name); ok && strings.TrimFunc(value, unicode.IsSpace) != "" {
			found = append(found, Diagnostic{
				Severity: SeverityWarning, Code: CodeNoEffect, Message: name + " is set and has no effect: " + why,
			})
		}
	}
	if _, ok := q.env(envProfile); ok {
		add(envDefaultProfile, envProfile+" comes before it; botocore alone reads "+envDefaultProfile+" first")
	}
	add(envNewRetries, "AWS removed it on 2026-11-10, when behavior v2.1 became the default; unset it, and ask for v2.0 in code where that is wanted")
	add(envSDKLoadConfig, "the config file is always read")
	return found
}

// notFound makes the error for a profile that neither file has. Only here are the
// names of all profiles looked at.
func notFound(profile Setting[string], files [2]*file) error {
	e := &ProfileNotFoundError{
		Profile: profile.Value, Origin: profile.Origin,
		Files: []FileStatus{files[0].FileStatus, files[1].FileStatus},
	}
	names := nearTo(profile.Value)
	both := indexes(files, "", true)
	for g := range groups(both) {
		if g.profile {
			names.add(g.name)
		}
	}
	for i, meant := range [2]string{"[profile " + profile.Value + "]", "[" + profile.Value + "]"} {
		if e.Hint == "" {
			e.Hint = both[i].hint(profile.Value, shorten(meant))
		}
	}
	e.Near = names.names()
	return e
}

// hint looks for a section that would be the profile if its header were written as
// the file wants it.
func (x *index) hint(name, meant string) string {
	other := KindConfig
	if x.Kind == KindConfig {
		other = KindCredentials
	}
	for _, s := range x.sections {
		header := x.nameOf(s)
		if s.profile {
			continue
		}
		if there, _ := profileName(other, header); there != nil && string(there) == name {
			return x.Path + ":" + strconv.Itoa(int(s.line)) + " has " + shorten("["+string(header)+"]") +
				", which would have to be " + meant
		}
	}
	return ""
}
