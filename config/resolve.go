package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/awsretry/awsretry/internal/near"
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

	// These are no keys of the shared files.
	keyMaxBackoff = "max_backoff"
	keyMinDelay   = "min_delay"
	keyMaxElapsed = "max_elapsed"

	// withConfig is the option that sets Query.Config.
	withConfig = "WithConfig"

	defaultProfile = "default"
)

// Query says where [Query.Resolve] reads, which profile it uses, and what code has set. The
// zero Query resolves the settings of the process: its environment, its files, and the
// profile that the environment names, or else the profile default.
//
// A nil field of Override, Default and Config sets nothing. In an [Origin] such a value has
// the name of the option of package awsretry that sets the field.
type Query struct {
	Sources

	// Profile names the profile, whatever the environment says. The name is used as it is.
	// Empty means the profile that the environment names.
	Profile string
	// Service is the name of the service that the client talks to, or empty.
	Service string

	// Override is stronger than the environment and the files.
	Override struct {
		Mode        *Mode           // WithMode
		MaxAttempts *int            // WithMaxAttempts
		Behavior    *retry.Behavior // WithBehavior
	}
	// Given is what the program's own flags and files say, the strongest first. These values
	// are weaker than Override and stronger than the environment. The Origin of each has the
	// kind [OriginOption], as Name the place in full, such as "flag --max-attempts", and as
	// Key the setting: retry_mode, max_attempts, max_backoff, min_delay or max_elapsed.
	// awsretry.WithValues sets them.
	Given []Candidate
	// Default is weaker than the environment and the files.
	Default struct {
		Mode        *Mode // WithDefaultMode
		MaxAttempts *int  // WithDefaultMaxAttempts
	}
	// Config is what the configuration of the strategy says, as WithConfig gives it. It is
	// weaker than Default, and stronger than the built-in defaults.
	Config struct {
		MaxAttempts                      *int
		MaxBackoff, MinDelay, MaxElapsed *time.Duration
		Behavior                         *retry.Behavior
		// Adaptive names the fields that are set and that only adaptive mode uses. If the
		// environment, a file or a flag chooses standard mode, a diagnostic with the code no-effect
		// lists them.
		Adaptive []string
	}

	// Strict makes the first malformed line of either file a [*ParseError].
	Strict bool
	// BuiltInAttempts returns the built-in default for the number of attempts. Nil means 3.
	BuiltInAttempts func(b retry.Behavior) int
}

// setting is a row of the table of settings.
type setting struct {
	name      string    // In errors.
	variables [2]string // The strongest first.
	key       string    // In the shared files, or empty.
	parse     parse
	builtIn   string
	option    string // The option of Query.Override, without With, and of Query.Default, without WithDefault.

	over, def, conf *string // Of Query.Override, Query.Default and Query.Config.
}

// table holds everything that decides the settings.
type table struct {
	profile, behavior, retryMode, maxAttempts setting
	maxBackoff, minDelay, maxElapsed          setting
}

func (q Query) table() table {
	return table{
		profile: setting{
			name: "profile", variables: [2]string{envProfile, envDefaultProfile}, parse: parseName,
			builtIn: defaultProfile, option: "Profile", over: unlessEmpty(q.Profile),
		},
		behavior: setting{
			name: "behavior", parse: parseBehavior, builtIn: string(retry.V21), option: "Behavior",
			over: (*string)(q.Override.Behavior), conf: (*string)(q.Config.Behavior),
		},
		retryMode: setting{
			name: keyRetryMode, variables: [2]string{envRetryMode}, key: keyRetryMode, parse: parseMode,
			builtIn: string(ModeStandard), option: "Mode",
			over: (*string)(q.Override.Mode), def: (*string)(q.Default.Mode),
		},
		maxAttempts: setting{
			name: keyMaxAttempts, variables: [2]string{envMaxAttempts}, key: keyMaxAttempts, parse: parseMaxAttempts,
			builtIn: "3", option: "MaxAttempts",
			over: decimal(q.Override.MaxAttempts), def: decimal(q.Default.MaxAttempts), conf: decimal(q.Config.MaxAttempts),
		},
		maxBackoff: ofDuration(keyMaxBackoff, "20s", q.Config.MaxBackoff), // DefaultMaxBackoff of aws-sdk-go-v2
		minDelay:   ofDuration(keyMinDelay, "0s", q.Config.MinDelay),
		maxElapsed: ofDuration(keyMaxElapsed, "0s", q.Config.MaxElapsed),
	}
}

// ofDuration returns the row of a setting that neither the environment nor the shared files have.
func ofDuration(name, builtIn string, conf *time.Duration) setting {
	s := setting{name: name, parse: parserOf(name), builtIn: builtIn}
	if conf != nil {
		s.conf = new(conf.String())
	}
	return s
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

// Resolve decides the settings of one profile. Each setting has the value of the first of
// these that gives one: Override, Given, the environment, the credentials file, the config
// file, Default, Config, and the built-in default: standard mode, 3 attempts or what
// BuiltInAttempts returns, a backoff of up to 20 s, and behavior v2.1.
//
// The errors are
//   - a [*ValueError] for a value that is not accepted, although it would be the one that
//     counts, and for a MinDelay above MaxBackoff;
//   - a [*ProfileNotFoundError] for a profile that Profile or a variable names;
//   - an [*UnreadableError] for a file that ConfigFile or CredentialsFile names and that
//     cannot be read, and for any file above 16 MiB;
//   - a [*ParseError] if Strict is true.
func (q Query) Resolve() (*Settings, error) {
	for _, c := range q.Given {
		if parserOf(c.Origin.Key) == nil {
			return nil, c.Check()
		}
	}
	files, found, err := q.open()
	if err != nil {
		return nil, err
	}
	r, table := resolution{sources: q.Sources, own: q.Given, found: append(q.noEffect(), q.variables(q.Profile != "")...)}, q.table()
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
	if r.inFiles, err = inFiles(both, q.Sources); err != nil {
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
	if len(q.Config.Adaptive) > 0 {
		r.unused(s.RetryMode, q.Config.Adaptive)
	}
	if q.BuiltInAttempts != nil {
		table.maxAttempts.builtIn = strconv.Itoa(q.BuiltInAttempts(s.Behavior.Value))
	}
	attempts, err := r.choose(table.maxAttempts)
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(attempts.Value) // parseMaxAttempts and Itoa write decimal numbers.
	s.MaxAttempts = typed(attempts, n)
	if err := r.durations(s, table); err != nil {
		return nil, err
	}
	for _, x := range both {
		r.found = append(r.found, x.findings.list()...)
	}
	s.Diagnostics = r.found
	return s, nil
}

// durations decides the settings that are durations.
func (r *resolution) durations(s *Settings, t table) error {
	for _, row := range []struct {
		from setting
		to   *Setting[time.Duration]
	}{{t.maxBackoff, &s.MaxBackoff}, {t.minDelay, &s.MinDelay}, {t.maxElapsed, &s.MaxElapsed}} {
		chosen, err := r.choose(row.from)
		if err != nil {
			return err
		}
		d, _ := time.ParseDuration(chosen.Value) // parseDuration writes what it reads.
		*row.to = typed(chosen, d)
	}
	if longest := s.MaxBackoff; s.MinDelay.Value > longest.Value {
		return &ValueError{
			Origin: s.MinDelay.Origin, Key: keyMinDelay, Raw: s.MinDelay.Raw,
			Err: fmt.Errorf("must be at most %s, which is %v (%v)", keyMaxBackoff, longest.Value, longest.Origin),
		}
	}
	return nil
}

// typed returns the setting with the value that its text stands for.
func typed[T any](s Setting[string], value T) Setting[T] {
	return Setting[T]{Value: value, Raw: s.Raw, Origin: s.Origin, Overridden: s.Overridden}
}

// inFiles returns the values that both files have for the wanted profile, the strongest
// first. The first one of each setting comes from ini.v1.
func inFiles(files [2]*index, src Sources) ([]Candidate, error) {
	credentials := files[1].examine(files[1].wanted, files[1].sections, nil, true)
	config := files[0].examine(files[0].wanted, files[0].sections, credentials, len(files[1].sections) == 0)
	for _, x := range files {
		x.tell(codeUnusedProfile, &x.unused, "retry settings of other profiles have no effect on profile "+quote(x.wanted))
		x.tell(codeIgnoredSection, &x.ignored, ignoredText)
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
			x := files[0]
			if c.Origin.Kind == OriginSharedCredentials {
				x = files[1]
			}
			x.overridden(*c, src)
		}
	}
	return given, nil
}

// canonical returns the values of one file as canonical text. In the file their order is the
// reverse.
func canonical(given []Candidate) []byte {
	var text []byte
	for _, c := range slices.Backward(given) {
		text = appendCanonical(text, c.Origin.Key, c.Raw)
	}
	return text
}

// resolution is what one Resolve knows and has found.
type resolution struct {
	sources Sources
	own     []Candidate // Query.Given
	files   [2]*index
	inFiles []Candidate
	found   []Diagnostic
}

// note keeps a finding about a value, with the findings about the value's file if it has one.
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

// candidates returns the values that were given for a setting, the strongest first.
func (r *resolution) candidates(s setting) []Candidate {
	var given []Candidate
	if s.over != nil {
		given = append(given, Candidate{Raw: *s.over, Origin: Origin{Kind: OriginOption, Name: "With" + s.option}})
	}
	for _, c := range r.own {
		if c.Origin.Key == s.name {
			given = append(given, c)
		}
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
	if s.conf != nil {
		given = append(given, Candidate{Raw: *s.conf, Origin: Origin{Kind: OriginDefault, Name: withConfig}})
	}
	return given
}

// choose takes the strongest value of a setting, which must be valid. A weaker one that is
// not valid is a finding.
func (r *resolution) choose(s setting) (Setting[string], error) {
	chosen := Setting[string]{Value: s.builtIn, Raw: s.builtIn, Origin: Origin{Kind: OriginDefault}, Overridden: []Candidate{}}
	for i, c := range r.candidates(s) {
		plain, note, err := s.parse(c.Raw)
		switch {
		case i > 0:
			c.Valid = err == nil
			chosen.Overridden = append(chosen.Overridden, c)
			if err != nil {
				r.note(c, c.invalidLoser(s.name, err))
			}
		case err != nil:
			return chosen, &ValueError{Origin: c.Origin, Key: s.name, Raw: c.Raw, Err: err}
		default:
			chosen.Value, chosen.Raw, chosen.Origin = plain, c.Raw, c.Origin
			if note != "" {
				r.note(c, c.finding(s.name, severityWarning, codeMappedMode, note))
			}
		}
	}
	return chosen, nil
}

// unused keeps the finding about fields that have no effect because the environment, a file
// or a flag has chosen standard mode. If code has chosen it, the fields are an error of awsretry.New.
func (r *resolution) unused(mode Setting[Mode], fields []string) {
	if mode.Value != ModeStandard || mode.Origin.chosenInCode() {
		return
	}
	c := Candidate{Raw: mode.Raw, Origin: mode.Origin}
	r.note(c, c.finding(keyRetryMode, severityWarning, codeNoEffect, "in this mode these have no effect: "+strings.Join(fields, ", ")))
}

// noEffect returns the findings about variables that are set and change nothing.
func (q Query) noEffect() []Diagnostic {
	found := []Diagnostic{}
	add := func(name, why string) {
		if value, ok := q.env(name); ok && strings.TrimFunc(value, unicode.IsSpace) != "" {
			found = append(found, Diagnostic{
				Severity: severityWarning, Code: codeNoEffect, Message: name + " is set and has no effect: " + why,
			})
		}
	}
	if _, ok := q.env(envProfile); ok {
		add(envDefaultProfile, envProfile+" comes before it")
	}
	add(envNewRetries, "AWS removed it on 2026-11-10, when behavior v2.1 became the default; unset it, and ask for v2.0 in code where that is wanted")
	add(envSDKLoadConfig, "the config file is always read")
	return found
}

// notFound returns the error for a profile that neither file has. To find similar names it
// goes over both files again.
func notFound(profile Setting[string], files [2]*file) error {
	e := &ProfileNotFoundError{
		Profile: profile.Value, Origin: profile.Origin,
		Files: []FileStatus{files[0].FileStatus, files[1].FileStatus},
	}
	names := near.To(profile.Value)
	both := indexes(files, "", true)
	for g := range groups(both) {
		if g.profile {
			names.Add(g.name)
		}
	}
	for i, meant := range [2]string{"[profile " + profile.Value + "]", "[" + profile.Value + "]"} {
		if e.Hint == "" {
			e.Hint = both[i].hint(profile.Value, shorten(meant))
		}
	}
	e.Near = names.Best()
	return e
}

// hint names a section that would be the profile if it had the header meant.
func (x *index) hint(name, meant string) string {
	other := kindConfig
	if x.Kind == kindConfig {
		other = kindCredentials
	}
	for _, s := range x.sections {
		header := x.nameOf(s)
		there := header
		switch {
		case !s.profile:
			there, _ = profileName(other, header)
		case x.Kind == kindConfig:
			continue
		}
		if there != nil && string(unquoted(there)) == name {
			return x.Path + ":" + strconv.Itoa(int(s.line)) + " has " + shorten("["+string(header)+"]") +
				", which would have to be " + meant
		}
	}
	return ""
}
