package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	keyBehavior   = "behavior"

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
		MaxBackoff  *time.Duration  // WithMaxBackoff
		MinDelay    *time.Duration  // WithMinDelay
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
	r := &resolution{Query: &q}
	s, err := r.resolve()
	if err != nil {
		return nil, err
	}
	r.aboutValues(s, nil)
	s.Diagnostics = r.found.list()
	return s, nil
}

// resolution is the state of one Resolve.
type resolution struct {
	*Query
	found   *findings
	files   [2]*file
	inFiles []Candidate // The values that both files have for the profile, the strongest first.
	err     error       // The first error of a setting.
}

// resolve decides all settings.
func (r *resolution) resolve() (*Settings, error) {
	for _, c := range r.Given {
		if err := c.Check(); errors.Is(err, errNoSetting) {
			return nil, err
		}
	}
	r.found = &findings{first: append(r.noEffect(), r.variables(r.Profile != "")...)}
	var err error
	if r.files, err = r.open(r.found); err != nil {
		return nil, err
	}
	s := &Settings{Service: r.Service, Files: []FileStatus{r.files[0].FileStatus, r.files[1].FileStatus}}
	s.Profile = decide(r, setting[string]{
		key: "profile", variables: []string{envProfile, envDefaultProfile}, read: anyName, accept: anyName,
		builtIn: defaultProfile, by: Origin{Kind: originOption, Name: "WithProfile"}, over: unlessEmpty(r.Profile),
	})
	if r.inFiles, err = r.readFiles(s.Profile); err != nil {
		return nil, err
	}
	s.Behavior = decide(r, setting[retry.Behavior]{
		key: keyBehavior, accept: acceptBehavior, builtIn: retry.V21, by: Origin{Kind: originOption, Name: "WithBehavior"},
		over: r.Override.Behavior, conf: r.Config.Behavior,
	})
	builtIn := s.Behavior.Value.Defaults(r.Service)
	s.RetryMode = decide(r, setting[Mode]{
		key: keyRetryMode, variables: []string{envRetryMode}, inFiles: true, read: readMode, accept: acceptMode,
		builtIn: modeStandard, by: Origin{Kind: originOption, Name: "WithMode"}, over: r.Override.Mode, def: r.Default.Mode,
	})
	s.MaxAttempts = decide(r, setting[int]{
		key: keyMaxAttempts, variables: []string{envMaxAttempts}, inFiles: true, read: readMaxAttempts, accept: acceptMaxAttempts,
		builtIn: builtIn.MaxAttempts, by: Origin{Kind: originOption, Name: "WithMaxAttempts"}, over: r.Override.MaxAttempts, conf: r.Config.MaxAttempts,
	})
	s.MaxBackoff = decide(r, setting[time.Duration]{
		key: keyMaxBackoff, read: readMaxBackoff, accept: acceptMaxBackoff,
		builtIn: builtIn.MaxBackoff, by: Origin{Kind: originOption, Name: "option WithMaxBackoff", Key: keyMaxBackoff}, over: r.Override.MaxBackoff, conf: r.Config.MaxBackoff,
	})
	s.MinDelay = decide(r, setting[time.Duration]{
		key: keyMinDelay, read: readDuration, accept: acceptDuration,
		builtIn: builtIn.MinDelay, by: Origin{Kind: originOption, Name: "option WithMinDelay", Key: keyMinDelay}, over: r.Override.MinDelay, conf: r.Config.MinDelay,
	})
	s.MaxElapsed = decide(r, setting[time.Duration]{
		key: keyMaxElapsed, read: readDuration, accept: acceptDuration, builtIn: builtIn.MaxElapsed, conf: r.Config.MaxElapsed,
	})
	if longest := s.MaxBackoff; s.MinDelay.Value > longest.Value {
		r.refuse(s.MinDelay.winner(), keyMinDelay, fmt.Errorf("must be at most %s, which is %v (%v)", keyMaxBackoff, longest.Value, longest.Origin))
	}
	return s, r.err
}

// readFiles reads the values that both files have for the profile, the strongest first. The first one of
// each setting comes from ini.v1.
func (r *resolution) readFiles(profile Setting[string]) ([]Candidate, error) {
	both := readings(r.files, profile.Value, false, r.found)
	if err := refuse(both, r.Strict); err != nil {
		return nil, err
	}
	config, credentials := both[0], both[1]
	at := place{true, profile.Value}
	if config.sections[at] == nil && credentials.sections[at] == nil && profile.Origin.Kind != originDefault {
		return nil, notFound(profile, r.files)
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
	if len(given) > 2 || len(given) == 2 && given[0].Origin.Key == given[1].Origin.Key {
		settings := load()
		for _, c := range slices.Backward(given) {
			settings.set(c.Origin.Key, c.Raw)
		}
		for _, key := range [...]string{keyRetryMode, keyMaxAttempts} {
			if i := slices.IndexFunc(given, func(c Candidate) bool { return c.Origin.Key == key }); i >= 0 {
				given[i].Raw = settings.value(key)
			}
		}
	}
	return given, nil
}

// setting says how one setting is decided. A text is read, and a value that code has typed is accepted, or not.
type setting[T any] struct {
	key       string   // In errors, and as the key in the shared files and in Query.Given.
	variables []string // The strongest first.
	inFiles   bool     // The shared files may have it.
	read      func(text string) (T, error)
	accept    func(value T) (T, error)
	builtIn   T
	by        Origin // Of over.

	over, def, conf *T // Of Query.Override, Query.Default (WithDefaultMode) and Query.Config.
}

func unlessEmpty(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

// decide takes the strongest value of a setting, which must be valid.
func decide[T any](r *resolution, s setting[T]) Setting[T] {
	chosen := Setting[T]{Value: s.builtIn, Raw: textOf(s.builtIn), Origin: Origin{Kind: originDefault}, Overridden: []Candidate{}}
	won := false
	add := func(c Candidate, value T, err error) {
		switch {
		case won:
			c.Valid = err == nil
			chosen.Overridden = append(chosen.Overridden, c)
			return
		case err != nil:
			r.refuse(c, s.key, err)
		default:
			chosen.Value, chosen.Raw, chosen.Origin = value, c.Raw, c.Origin
		}
		won = true
	}
	text := func(c Candidate) {
		value, err := s.read(c.Raw)
		add(c, value, err)
	}
	typed := func(value *T, origin Origin) {
		if value != nil {
			accepted, err := s.accept(*value)
			add(Candidate{Raw: textOf(*value), Origin: origin}, accepted, err)
		}
	}
	typed(s.over, s.by)
	for _, c := range r.Given {
		if c.Origin.Key == s.key {
			text(c)
		}
	}
	for _, name := range s.variables {
		// A retry setting of whitespace alone is unset; the name of a profile is used as is.
		if value, ok := r.env(name); ok && (!s.inFiles || !isBlankText(value)) {
			text(Candidate{Raw: value, Origin: Origin{Kind: originEnvironment, Name: name}})
		}
	}
	for _, c := range r.inFiles {
		if c.Origin.Key == s.key {
			text(c)
		}
	}
	typed(s.def, Origin{Kind: originDefault, Name: "WithDefaultMode"})
	typed(s.conf, Origin{Kind: originDefault, Name: cmp.Or(r.Config.Option, withConfig)})
	return chosen
}

// refuse keeps the first error.
func (r *resolution) refuse(c Candidate, key string, err error) {
	if r.err == nil {
		r.err = &ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: err}
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
