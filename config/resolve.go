package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/near"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/retry"
)

// The settings.
const (
	keyRetryMode   = sharedfile.RetryMode
	keyMaxAttempts = sharedfile.MaxAttempts

	// These are no keys of the shared files.
	keyMaxBackoff = "max_backoff"
	keyMinDelay   = "min_delay"
	keyMaxElapsed = "max_elapsed"
	keyBehavior   = "behavior"

	// The options that set Query.Config.
	withConfig   = "WithConfig"
	withStandard = "WithStandard"

	defaultProfile = sharedfile.DefaultProfile
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
	pair, err := q.Open()
	if err != nil {
		return nil, err
	}
	return q.Decide(pair)
}

// Decide is Resolve of files that are open, for package lint. It reads the files unless that has read all sections.
func (q Query) Decide(pair *sharedfile.Pair) (*Settings, error) {
	for _, c := range q.Given {
		if err := c.Check(); errors.Is(err, errNoSetting) {
			return nil, err
		}
	}
	r := &resolution{Query: q}
	s := &Settings{Service: q.Service, Files: statuses(pair), Diagnostics: []Diagnostic{}}
	s.Profile = decide(r, setting[string]{
		key: "profile", variables: [2]string{sharedfile.EnvProfile, sharedfile.EnvDefaultProfile}, read: anyName, accept: anyName, text: text[string],
		builtIn: defaultProfile, by: option("WithProfile"), over: unlessEmpty(q.Profile),
	})
	if err := r.readFiles(pair, s.Profile); err != nil {
		return nil, err
	}
	s.Behavior = decide(r, setting[retry.Behavior]{
		key: keyBehavior, accept: acceptBehavior, text: text[retry.Behavior], builtIn: retry.V21, by: option("WithBehavior"),
		over: q.Override.Behavior, conf: q.Config.Behavior,
	})
	builtIn := s.Behavior.Value.Defaults(q.Service)
	s.RetryMode = decide(r, setting[Mode]{
		key: keyRetryMode, variables: [2]string{sharedfile.EnvRetryMode}, inFiles: true, read: readMode, accept: acceptMode, text: text[Mode],
		builtIn: modeStandard, by: option("WithMode"), over: q.Override.Mode, def: q.Default.Mode,
	})
	s.MaxAttempts = decide(r, setting[int]{
		key: keyMaxAttempts, variables: [2]string{sharedfile.EnvMaxAttempts}, inFiles: true, read: readMaxAttempts, accept: acceptMaxAttempts, text: strconv.Itoa,
		builtIn: builtIn.MaxAttempts, by: option("WithMaxAttempts"), over: q.Override.MaxAttempts, conf: q.Config.MaxAttempts,
	})
	s.MaxBackoff = decide(r, setting[time.Duration]{
		key: keyMaxBackoff, read: readMaxBackoff, accept: acceptMaxBackoff, text: time.Duration.String, builtIn: builtIn.MaxBackoff,
		by: keyed("option WithMaxBackoff", keyMaxBackoff), over: q.Override.MaxBackoff, conf: q.Config.MaxBackoff,
	})
	s.MinDelay = decide(r, setting[time.Duration]{
		key: keyMinDelay, read: readDuration, accept: acceptDuration, text: time.Duration.String, builtIn: builtIn.MinDelay,
		by: keyed("option WithMinDelay", keyMinDelay), over: q.Override.MinDelay, conf: q.Config.MinDelay,
	})
	s.MaxElapsed = decide(r, setting[time.Duration]{
		key: keyMaxElapsed, read: readDuration, accept: acceptDuration, text: time.Duration.String, builtIn: builtIn.MaxElapsed, conf: q.Config.MaxElapsed,
	})
	if longest := s.MaxBackoff; s.MinDelay.Value > longest.Value {
		r.refuse(Candidate{Raw: s.MinDelay.Raw, Origin: s.MinDelay.Origin}, keyMinDelay,
			fmt.Errorf("must be at most %s, which is %v (%v)", keyMaxBackoff, longest.Value, longest.Origin))
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

// readFiles reads the values that both files have for the profile.
func (r *resolution) readFiles(pair *sharedfile.Pair, profile Setting[string]) error {
	if pair.Readings[0] == nil {
		pair.Read(profile.Value, false)
	}
	if r.Strict {
		if err := firstRefused(pair); err != nil {
			return err
		}
	}
	at := sharedfile.Place{Profile: true, Name: profile.Value}
	found := false
	for _, x := range [...]*sharedfile.Reading{pair.Readings[1], pair.Readings[0]} { // The credentials file is the stronger one.
		if s := x.Sections[at]; s != nil {
			found = true
			r.inFiles = append(r.inFiles, given(x, s, at.Name)...)
		}
	}
	if !found && profile.Origin.Kind != originDefault {
		return notFound(profile, pair)
	}
	// If a key has several values, ini.v1 merges them. Otherwise it is not used: loading it takes
	// longer than reading a file.
	if n := len(r.inFiles); n > 2 || n == 2 && r.inFiles[0].Origin.Key == r.inFiles[1].Origin.Key {
		merged := sharedfile.Merge()
		for _, c := range slices.Backward(r.inFiles) {
			merged.Set(c.Origin.Key, c.Raw)
		}
		for _, key := range [...]string{keyRetryMode, keyMaxAttempts} {
			if i := slices.IndexFunc(r.inFiles, func(c Candidate) bool { return c.Origin.Key == key }); i >= 0 {
				r.inFiles[i].Raw = merged.Value(key)
			}
		}
	}
	return nil
}

// given returns the values of one section, the last one first, at most maxGiven of each setting.
func given(x *sharedfile.Reading, s *sharedfile.Section, profile string) (all []Candidate) {
	origin := Origin{Kind: originSharedConfig, File: x.Path, Profile: profile}
	if x.Kind == sharedfile.Credentials {
		origin.Kind = originSharedCredentials
	} else {
		origin.prefixed = profile == defaultProfile && sharedfile.HeaderName(s.Lines[0].Text) != defaultProfile
	}
	for v := range s.Settings() {
		same := func(c Candidate) bool { return c.Origin.Key == v.Key }
		if len(all) >= maxGiven && count(all, same) == maxGiven {
			i := slices.IndexFunc(all, same)
			all = slices.Delete(all, i, i+1)
		}
		origin.Key, origin.Line = v.Key, v.Line
		all = append(all, Candidate{Raw: strings.Clone(v.Text), Origin: origin})
	}
	slices.Reverse(all)
	return all
}

func count(all []Candidate, same func(Candidate) bool) (n int) {
	for _, c := range all {
		if same(c) {
			n++
		}
	}
	return n
}

// firstRefused returns the error of strict reading: the first malformed line of the config file,
// or else of the credentials file.
func firstRefused(pair *sharedfile.Pair) error {
	for _, x := range pair.Readings {
		if l := x.Refused; l.Fault != sharedfile.NoFault {
			return &ParseError{Kind: x.Kind, File: x.Path, Line: int(l.Number), Msg: l.Fault.String(), text: strings.Clone(l.Shown())}
		}
	}
	return nil
}

// notFound returns the error for a profile that neither file has. To find similar names it
// goes over both files again.
func notFound(profile Setting[string], pair *sharedfile.Pair) error {
	names, hints := near.To(profile.Value), [2]string{}
	meant := [2]string{sharedfile.Shorten("[profile " + profile.Value + "]"), sharedfile.Shorten("[" + profile.Value + "]")}
	all := &sharedfile.Pair{Files: pair.Files}
	all.Read("", true)
	for _, p := range all.Places() {
		if p.Profile {
			names.Add(p.Name)
		}
		for i, other := range [2]string{sharedfile.Credentials, sharedfile.Config} {
			if x := all.Readings[i]; hints[i] == "" && isMeant(x, p, profile.Value, other) {
				hints[i] = x.Path + ":" + strconv.Itoa(int(x.Sections[p].Lines[0].Number)) +
					" has " + sharedfile.Shorten("["+p.Name+"]") + ", which would have to be " + meant[i]
			}
		}
	}
	return &ProfileNotFoundError{
		Profile: profile.Value, Origin: profile.Origin, Files: statuses(pair), Near: names.Best(), hint: cmp.Or(hints[0], hints[1]),
	}
}

// isMeant reports whether there is a section at p that would be the profile in a file of the other
// kind, or without its quotes.
func isMeant(x *sharedfile.Reading, p sharedfile.Place, name, other string) bool {
	there := p.Name
	if !p.Profile {
		there = sharedfile.ProfileName(other, p.Name)
	}
	return x.Sections[p] != nil && (!p.Profile || x.Kind != sharedfile.Config) && sharedfile.Unquoted(there) == name
}
