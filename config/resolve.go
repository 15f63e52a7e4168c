package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

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

	// The options that set Query.Config.
	withConfig   = "WithConfig"
	withStandard = "WithStandard"

	defaultProfile = "default"
)

// Query says where [Query.Resolve] reads, which profile it uses, and what code has set. The
// zero Query resolves the settings of the process: its environment, its files, and the
// profile that the environment names, or else the profile default.
//
// A nil field of Override, Default and Config sets nothing. The [Origin] of such a value
// names the option of package awsretry that sets the field.
type Query struct {
	Sources

	// Profile names the profile and overrides the environment. The name is used as is. Empty
	// means the profile that the environment names.
	Profile string
	// Service is the name of the service that the client talks to, or empty. The built-in number
	// of attempts depends on it.
	Service string

	// Override is stronger than the environment and the files.
	Override struct {
		Mode        *Mode           // WithMode
		MaxAttempts *int            // WithMaxAttempts
		Behavior    *retry.Behavior // WithBehavior
	}
	// Given has the values of the program's own flags and files, the strongest first. They are
	// weaker than Override and stronger than the environment. The Origin of each has the kind
	// "option", a Name that is the full place, such as "flag --max-attempts", and a Key that
	// is the setting: retry_mode, max_attempts, max_backoff, min_delay or max_elapsed.
	// awsretry.WithValues sets them.
	Given []Candidate
	// Default is weaker than the environment and the files.
	Default struct {
		Mode *Mode // WithDefaultMode
	}
	// Config has the settings in the configuration of the strategy, from WithConfig or WithStandard. It is
	// weaker than Default, and stronger than the built-in defaults.
	Config struct {
		Option                           string // WithStandard or WithConfig; empty means the latter
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
}

// Resolve decides the settings of one profile. The first of these that sets a value wins:
// Override, Given, the environment, the credentials file, the config file, Default, Config,
// the built-in default. The built-in defaults are standard mode, behavior v2.1, and for the
// numbers those of [retry.Behavior.Defaults].
//
// The errors are
//   - a [*ValueError] for a bad value that wins, and for a MinDelay above MaxBackoff;
//   - a [*ProfileNotFoundError] for a profile that Profile or a variable names but neither
//     file has;
//   - an [*UnreadableError] for an unreadable file that ConfigFile or CredentialsFile
//     names, and for any file above 4 MiB;
//   - a [*ParseError] if Strict is true.
func (q Query) Resolve() (*Settings, error) {
	s, err := q.resolve(&resolution{Query: &q})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Examine is Resolve for a person who wants to know what happens: a bad value that wins does not end it.
// The settings are then those of a client of package awssdk, which goes on where the SDK has read a number
// of attempts: with 0 as if the value were not there, and without a limit for a negative number or one above
// 2^31-1. The value is among those that were overridden, and a finding of severity "error" says that Resolve
// refuses it. If the SDK refuses it too, Examine returns both the settings, as if it were not there, and the
// [*ValueError].
//
// The findings include each line of the two files, wherever it stands, for which another tool refuses the
// whole file. All other errors are those of Resolve, without settings.
func (q Query) Examine() (*Settings, error) {
	return q.resolve(&resolution{Query: &q, goesOn: true})
}

func (q Query) resolve(r *resolution) (*Settings, error) {
	for _, c := range q.Given {
		if parserOf(c.Origin.Key) == nil {
			return nil, c.Check()
		}
	}
	found := &findings{first: append(q.noEffect(), q.variables(q.Profile != "")...)}
	files, err := q.open(found)
	if err != nil {
		return nil, err
	}
	r.findings = found
	s := &Settings{Service: q.Service, Files: []FileStatus{files[0].FileStatus, files[1].FileStatus}}
	s.Profile = decide(r, setting{
		name: "profile", variables: [2]string{envProfile, envDefaultProfile}, parse: parseName,
		builtIn: defaultProfile, option: "Profile", over: unlessEmpty(q.Profile),
	}, func(name string) string { return name })
	if r.inFiles, err = r.read(files, s.Profile); err != nil {
		return nil, err
	}
	s.Behavior = decide(r, setting{
		name: "behavior", parse: parseBehavior, builtIn: string(retry.V21), option: "Behavior",
		over: (*string)(q.Override.Behavior), conf: (*string)(q.Config.Behavior),
	}, func(name string) retry.Behavior { return retry.Behavior(name) })
	builtIn := s.Behavior.Value.Defaults(q.Service)
	s.RetryMode = decide(r, setting{
		name: keyRetryMode, variables: [2]string{envRetryMode}, inFiles: true, parse: parseMode,
		builtIn: string(modeStandard), option: "Mode",
		over: (*string)(q.Override.Mode), def: (*string)(q.Default.Mode),
	}, func(name string) Mode { return Mode(name) })
	r.unused(s.RetryMode)
	s.MaxAttempts = decide(r, setting{
		name: keyMaxAttempts, variables: [2]string{envMaxAttempts}, inFiles: true, parse: parseMaxAttempts,
		builtIn: strconv.Itoa(builtIn.MaxAttempts), option: "MaxAttempts",
		over: decimal(q.Override.MaxAttempts), conf: decimal(q.Config.MaxAttempts),
	}, func(digits string) int {
		n, _ := strconv.Atoi(digits) // parseMaxAttempts writes decimal numbers.
		return n
	})
	s.MaxBackoff = r.duration(keyMaxBackoff, builtIn.MaxBackoff, q.Config.MaxBackoff)
	s.MinDelay = r.duration(keyMinDelay, builtIn.MinDelay, q.Config.MinDelay)
	s.MaxElapsed = r.duration(keyMaxElapsed, builtIn.MaxElapsed, q.Config.MaxElapsed)
	if longest := s.MaxBackoff; s.MinDelay.Value > longest.Value {
		r.refuse(&ValueError{
			Origin: s.MinDelay.Origin, Key: keyMinDelay, Raw: s.MinDelay.Raw,
			Err: fmt.Errorf("must be at most %s, which is %v (%v)", keyMaxBackoff, longest.Value, longest.Origin),
		})
	}
	if r.goesOn {
		r.refusals(files)
	}
	s.Diagnostics = found.list()
	if r.err != nil {
		return s, r.err
	}
	return s, nil
}

// resolution is the state of one Resolve.
type resolution struct {
	*Query
	*findings
	inFiles []Candidate // The values that both files have for the profile, the strongest first.
	err     error       // The first error of a setting.
	goesOn  bool        // A value that is not accepted does not end the call.
}

// refusals adds the findings about lines for which another tool refuses a whole file.
func (r *resolution) refusals(files [2]*file) {
	all := &findings{}
	for i := range all.files {
		all.files[i].refusals = true
	}
	both := readings(files, "", true, all)
	for _, p := range places(both) {
		both[0].examine(p, nil, false)
		both[1].examine(p, nil, false)
	}
	for i := range all.files {
		for _, d := range all.files[i].list() {
			r.files[i].add(d)
		}
	}
}

// read reads the values that both files have for the profile, the strongest first. The first one of
// each setting comes from ini.v1.
func (r *resolution) read(files [2]*file, profile Setting[string]) ([]Candidate, error) {
	both := readings(files, profile.Value, false, r.findings)
	if err := refuse(both, r.Strict); err != nil {
		return nil, err
	}
	config, credentials := both[0], both[1]
	at := place{true, profile.Value}
	if config.sections[at] == nil && credentials.sections[at] == nil && profile.Origin.Kind != originDefault {
		return nil, notFound(profile, files)
	}
	given := credentials.examine(at, nil, true)
	given = append(given, config.examine(at, given, credentials.sections[at] == nil)...)
	for _, x := range both {
		x.reportUnused()
	}
	if len(given) == 0 {
		return nil, nil
	}
	// If a key has several values, ini.v1 merges them. Otherwise it is not used: loading it takes
	// longer than reading a file.
	several := len(given) > 2 || len(given) == 2 && given[0].Origin.Key == given[1].Origin.Key
	settings := loaded{}
	if several {
		settings = load()
		for _, c := range slices.Backward(given) {
			settings.set(c.Origin.Key, c.Raw)
		}
	}
	for _, key := range [...]string{keyRetryMode, keyMaxAttempts} {
		if i := slices.IndexFunc(given, func(c Candidate) bool { return c.Origin.Key == key }); i >= 0 {
			if several {
				given[i].Raw = settings.value(key)
			}
			r.about(given[i].Origin).overridden(given[i], r.Sources)
		}
	}
	return given, nil
}

// about returns where the findings about a value in a file belong, or nil for any other value.
func (r *resolution) about(o Origin) *aboutFile {
	switch o.Kind {
	case originSharedConfig:
		return &r.files[0]
	case originSharedCredentials:
		return &r.files[1]
	default:
		return nil
	}
}

// note keeps a finding about a value, with the findings about the value's file if it has one.
func (r *resolution) note(c Candidate, d Diagnostic) {
	if f := r.about(c.Origin); f != nil {
		f.add(d)
	} else {
		r.first = append(r.first, d)
	}
}

// setting says how one setting is decided.
type setting struct {
	name      string    // In errors, and as the key in the shared files and in Query.Given.
	variables [2]string // The strongest first.
	inFiles   bool      // The shared files may have it.
	parse     parse
	builtIn   string
	option    string // The option of Query.Override, without With, and of Query.Default, without WithDefault.

	over, def, conf *string // Of Query.Override, Query.Default and Query.Config.
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

// candidates returns the values that were given for a setting, the strongest first.
func (r *resolution) candidates(s setting) (given []Candidate) {
	if s.over != nil {
		given = append(given, Candidate{Raw: *s.over, Origin: Origin{Kind: originOption, Name: "With" + s.option}})
	}
	for _, c := range r.Given {
		if c.Origin.Key == s.name {
			given = append(given, c)
		}
	}
	for _, name := range s.variables {
		// A retry setting of whitespace alone is unset; the name of a profile is used as is.
		if value, ok := r.env(name); ok && (!s.inFiles || !isBlankText(value)) {
			given = append(given, Candidate{Raw: value, Origin: Origin{Kind: originEnvironment, Name: name}})
		}
	}
	for _, c := range r.inFiles {
		if c.Origin.Key == s.name {
			given = append(given, c)
		}
	}
	if s.def != nil {
		given = append(given, Candidate{Raw: *s.def, Origin: Origin{Kind: originDefault, Name: "WithDefault" + s.option}})
	}
	if s.conf != nil {
		given = append(given, Candidate{Raw: *s.conf, Origin: Origin{Kind: originDefault, Name: cmp.Or(r.Config.Option, withConfig)}})
	}
	return given
}

// decide takes the strongest value of a setting, which must be valid. A weaker one that is
// not valid is a finding. typed converts the plain text to the value.
func decide[T any](r *resolution, s setting, typed func(plain string) T) Setting[T] {
	chosen := Setting[T]{Value: typed(s.builtIn), Raw: s.builtIn, Origin: Origin{Kind: originDefault}, Overridden: []Candidate{}}
	won, inFiles := false, s.inFiles
	for _, c := range r.candidates(s) {
		plain, note, err := s.parse(c.Raw)
		switch {
		case won || c.Origin.File != "" && !inFiles:
			c.Valid = err == nil
			chosen.Overridden = append(chosen.Overridden, c)
			if err != nil {
				r.note(c, c.invalidLoser(s.name, err))
			}
		case err != nil && !r.goesOn:
			r.refuse(&ValueError{Origin: c.Origin, Key: s.name, Raw: c.Raw, Err: err})
			return chosen
		case err != nil:
			how := ""
			if plain, how = r.goOn(s, c, err); plain != "" {
				won, chosen.Value, chosen.Raw, chosen.Origin = true, typed(plain), c.Raw, c.Origin
			} else {
				chosen.Overridden = append(chosen.Overridden, c)
				inFiles = inFiles && c.Origin.File == "" // For the SDK the first value in a file hides the others.
			}
			r.note(c, c.finding(s.name, SeverityError, codeInvalidValue, err.Error()+how))
		default:
			won = true
			chosen.Value, chosen.Raw, chosen.Origin = typed(plain), c.Raw, c.Origin
			if note != "" {
				r.note(c, c.finding(s.name, SeverityWarning, codeMappedMode, note))
			}
		}
	}
	return chosen
}

// goOn says how a client of package awssdk goes on after a value that is not accepted: with the plain value, or
// if that is empty as if the value were not there. If the SDK refuses the value, goOn keeps the error.
func (r *resolution) goOn(s setting, c Candidate, err error) (plain, how string) {
	number, refused := int64(0), error(nil)
	switch {
	case s.name != keyMaxAttempts || c.Origin.Kind == originOption || c.Origin.Kind == originDefault:
		refused = err
	case c.Origin.Kind == originEnvironment:
		number, refused = strconv.ParseInt(c.Raw, 10, 64)
	default:
		number, refused = c.inGo()
	}
	switch {
	case refused != nil:
		r.refuse(&ValueError{Origin: c.Origin, Key: s.name, Raw: c.Raw, Err: err})
		return "", "; Resolve and Load refuse it, and so does " + toolGo
	case number == 0:
		return "", "; Resolve and Load refuse it, and a client of awssdk goes on as if it were not there"
	}
	return strconv.Itoa(math.MaxInt32), "; Resolve and Load refuse it, and a client of awssdk goes on without a limit"
}

// duration decides a setting that neither the environment nor the shared files have.
func (r *resolution) duration(name string, builtIn time.Duration, conf *time.Duration) Setting[time.Duration] {
	s := setting{name: name, parse: parserOf(name), builtIn: builtIn.String()}
	if conf != nil {
		s.conf = new(conf.String())
	}
	return decide(r, s, func(text string) time.Duration {
		d, _ := time.ParseDuration(text) // parseDuration writes what it reads.
		return d
	})
}

// refuse keeps the first error.
func (r *resolution) refuse(err *ValueError) {
	if r.err == nil {
		r.err = err
	}
}

// unused adds the finding about fields that have no effect because the environment, a file or a flag
// has chosen standard mode. If code has chosen it, the fields are an error of awsretry.New.
func (r *resolution) unused(mode Setting[Mode]) {
	if fields := r.Config.Adaptive; len(fields) > 0 && mode.Value == modeStandard && !mode.Origin.chosenInCode() {
		c := Candidate{Raw: mode.Raw, Origin: mode.Origin}
		r.note(c, c.finding(keyRetryMode, SeverityWarning, codeNoEffect, "in this mode these have no effect: "+strings.Join(fields, ", ")))
	}
}

// noEffect returns the findings about variables that are set but change nothing.
func (q Query) noEffect() []Diagnostic {
	found := []Diagnostic{}
	add := func(name, why string) {
		if value, ok := q.env(name); ok && !isBlankText(value) {
			found = append(found, Diagnostic{
				Code: codeNoEffect, Message: name + " is set and has no effect: " + why,
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
	both := readings(files, "", true, &findings{})
	hints := [2]string{}
	meant := [2]string{shorten("[profile " + profile.Value + "]"), shorten("[" + profile.Value + "]")}
	for _, p := range places(both) {
		if p.profile {
			names.Add(p.name)
		}
		for i, other := range [2]string{kindCredentials, kindConfig} {
			if hints[i] == "" && both[i].isMeant(p, profile.Value, other) {
				hints[i] = both[i].Path + ":" + strconv.Itoa(int(both[i].sections[p].lines[0].number)) +
					" has " + shorten("["+p.name+"]") + ", which would have to be " + meant[i]
			}
		}
	}
	e.Near, e.hint = names.Best(), cmp.Or(hints[0], hints[1])
	return e
}

// isMeant reports whether there is a section at p that would be the profile in a file of the other
// kind, or without its quotes.
func (x *reading) isMeant(p place, name, other string) bool {
	there := p.name
	if !p.profile {
		there = profileName(other, p.name)
	}
	return x.sections[p] != nil && (!p.profile || x.Kind != kindConfig) && unquoted(there) == name
}
