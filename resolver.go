package awsretry

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/standard"
)

// Resolve decides how a client shall retry. Each setting comes from the first
// of these that has it:
//
//  1. an override in code, such as [WithMode];
//  2. the environment: AWS_RETRY_MODE, AWS_MAX_ATTEMPTS, AWS_NEW_RETRIES_2026;
//  3. the profile: retry_mode and max_attempts in the credentials file, then in
//     the config file;
//  4. a default in code, such as [WithDefaultMode];
//  5. the built-in default: standard, 3 attempts, v2.0; with v2.1, 4 attempts
//     for DynamoDB.
//
// A value is an error only if it wins: a *config.ValueError, which names its
// place. One that loses is a warning. The other errors are
// *config.ProfileNotFoundError for a profile that [WithProfile] or AWS_PROFILE
// named, *config.ParseError for a file with a line that is not well formed,
// *config.UnreadableError for a file that an option named or that is too large,
// [*StrictError], and the error of a ctx that is done at the start. No error
// contains a value other than that of a retry setting.
//
// Resolve may be called by several goroutines at once.
func Resolve(ctx context.Context, opts ...Option) (*Settings, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return resolve(collect(opts).settings)
}

func resolve(o settingOptions) (*Settings, error) {
	files, err := config.Open(o.sources)
	if err != nil {
		return nil, err
	}
	s := &Settings{Service: o.service, Files: files.Status(), Diagnostics: []Diagnostic{}}
	s.Profile = o.chooseProfile()
	profile, err := files.Profile(s.Profile.Value, s.Profile.Origin)
	if err != nil {
		return nil, err
	}
	s.note(o.sources.NoEffect())
	s.note(files.Diagnostics())
	s.note(profile.Diagnostics)
	if err := s.choose(o, profile); err != nil {
		return nil, err
	}
	if o.strict && slices.ContainsFunc(s.Diagnostics, failsStrict) {
		return nil, &StrictError{Diagnostics: s.Diagnostics}
	}
	return s, nil
}

// failsStrict says whether a finding is more than a hint. That other profiles
// have retry settings of their own is what profiles are for.
func failsStrict(d Diagnostic) bool { return d.Code != config.CodeUnusedProfile }

func (s *Settings) note(found []Diagnostic) {
	s.Diagnostics = append(s.Diagnostics, found...)
}

// chooseProfile picks the name of the profile, which is used as it is.
func (o settingOptions) chooseProfile() Setting[string] {
	var given []Candidate
	if o.profile != "" {
		given = append(given, Candidate{Raw: o.profile, Origin: byOption(o.sources.OptionName("WithProfile"))})
	}
	if name, ok := o.sources.Env(config.EnvProfile); ok {
		given = append(given, Candidate{Raw: name, Origin: byVariable(config.EnvProfile)})
	}
	asItIs := func(c Candidate) (string, *Diagnostic, error) { return c.Raw, nil, nil }
	chosen, _, _ := pick(given, asItIs, config.DefaultProfile, config.DefaultProfile)
	return chosen
}

// choose picks the settings that a profile takes part in.
func (s *Settings) choose(o settingOptions, p *config.Profile) error {
	var found []Diagnostic
	var err error
	if s.Behavior, found, err = pick(o.behaviors(), parseBehavior, BehaviorV20, string(BehaviorV20)); err != nil {
		return err
	}
	s.note(found)
	if s.RetryMode, found, err = pick(o.modes(p), parseMode, ModeStandard, string(ModeStandard)); err != nil {
		return err
	}
	s.note(found)
	builtIn := standard.Behavior(s.Behavior.Value).MaxAttempts(o.service)
	if s.MaxAttempts, found, err = pick(o.attempts(p), parseAttempts, builtIn, strconv.Itoa(builtIn)); err != nil {
		return err
	}
	s.note(found)
	return nil
}

// pick takes the first of the given values, or the built-in one if there is
// none. The winner must be valid, the others are only looked at.
func pick[T any](
	given []Candidate, parse func(c Candidate) (T, *Diagnostic, error), builtIn T, raw string,
) (Setting[T], []Diagnostic, error) {
	chosen := Setting[T]{
		Value: builtIn, Raw: raw, Origin: Origin{Kind: config.OriginDefault}, Overridden: []Candidate{},
	}
	var found []Diagnostic
	for i, c := range given {
		value, note, err := parse(c)
		if i > 0 {
			c.Valid = err == nil
			chosen.Overridden = append(chosen.Overridden, c)
			if err != nil {
				found = append(found, config.InvalidLoser(c, err))
			}
			continue
		}
		if err != nil {
			return Setting[T]{}, nil, at(c, err)
		}
		chosen.Value, chosen.Raw, chosen.Origin = value, c.Raw, c.Origin
		if note != nil {
			found = append(found, *note)
		}
	}
	return chosen, found, nil
}

// at says where the value of an error stood.
func at(c Candidate, err error) error {
	if v, ok := errors.AsType[*config.ValueError](err); ok {
		return &config.ValueError{Origin: c.Origin, Key: v.Key, Raw: c.Raw, Err: v.Err}
	}
	return err
}
