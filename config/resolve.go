package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/ini.v1"

	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/words"
	"github.com/awsretry/awsretry/retry"
)

// The settings.
const (
	keyRetryMode   = sharedfile.RetryMode
	keyMaxAttempts = sharedfile.MaxAttempts
	// These are no keys of the shared files.
	keyProfile    = "profile"
	keyMaxBackoff = "max_backoff"
	keyMinDelay   = "min_delay"
	keyMaxElapsed = "max_elapsed"
	keyBehavior   = "behavior"
)

// Query says what [Query.Resolve] reads, and what the program has set. The zero Query resolves the settings of the
// process.
type Query struct {
	Sources

	// Service is the name of the service that the client talks to, or empty. The built-in number of attempts depends on
	// it.
	Service string

	// Given has the values that the program sets, the strongest first. They override the environment and the files,
	// unless the Origin has the kind "default": then they are weaker than both.
	//
	// [Typed] returns those of options. Those of the program's own flags and files are texts: the Origin of each has
	// the kind "option", a Name that is the full place, such as "flag --max-attempts", and a Key that is the setting:
	// retry_mode, max_attempts, max_backoff, min_delay or max_elapsed. awsretry.WithValues sets them.
	Given []Candidate

	// Strict makes the first malformed line of either file a [*ParseError].
	Strict bool
}

// Resolve decides the settings of one profile. The first of these that sets a value wins: an option, flag or file of
// the program, the environment, the credentials file, the config file, a default of the program, the built-in default.
// The built-in defaults are standard mode, behavior v2.1, and for the numbers those of [retry.Behavior.Defaults].
//
// The errors are
//   - a [*ValueError] for a bad value that wins, and for a MinDelay above MaxBackoff;
//   - a [*ProfileNotFoundError] for a profile that Profile or AWS_PROFILE names but neither
//     file has;
//   - an [*UnreadableError] for an unreadable file that ConfigFile or CredentialsFile
//     names, and for any file above 4 MiB;
//   - a [*ParseError] if Strict is true.
func (q Query) Resolve() (*Settings, error) {
	for _, c := range q.Given {
		if err := c.Check(); errors.Is(err, errNoSetting) {
			return nil, err
		}
	}
	pair, err := q.open()
	if err != nil {
		return nil, err
	}
	r := &resolution{Query: q, pair: pair}
	s := &Settings{Service: q.Service, Files: statuses(pair)}
	s.Profile = decide(r, profileRule(), sharedfile.DefaultProfile, sharedfile.EnvProfile, sharedfile.EnvDefaultProfile)
	r.err = r.readFiles(s.Profile)
	s.Behavior = decide(r, behaviorRule(), retry.V21)
	s.RetryMode = decide(r, modeRule(), modeStandard, sharedfile.EnvRetryMode)
	builtIn := s.Behavior.Value.Defaults(q.Service)
	s.MaxAttempts = decide(r, attemptsRule(), builtIn.MaxAttempts, sharedfile.EnvMaxAttempts)
	s.MaxBackoff = decide(r, longestRule(), builtIn.MaxBackoff)
	s.MinDelay = decide(r, durationRule(keyMinDelay), builtIn.MinDelay)
	s.MaxElapsed = decide(r, durationRule(keyMaxElapsed), builtIn.MaxElapsed)
	if longest := s.MaxBackoff; s.MinDelay.Value > longest.Value {
		why := fmt.Errorf("must be at most %s, which is %v (%v)", keyMaxBackoff, longest.Value, longest.Origin)
		r.err = cmp.Or(r.err, error(&ValueError{s.MinDelay.Origin, keyMinDelay, s.MinDelay.Raw, why}))
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

// resolution is the state of one Resolve.
type resolution struct {
	Query
	pair    *sharedfile.Pair
	inFiles []Candidate // The values that both files have for the profile, the strongest first.
	err     error       // The first error of a setting.
}

// decide takes the strongest value of a setting, which must be valid. Of the variables the first is the strongest.
func decide[T any](r *resolution, s rule[T], builtIn T, variables ...string) Setting[T] {
	chosen := Setting[T]{Value: builtIn, Raw: s.text(builtIn), Origin: Origin{Kind: originDefault}, Overridden: []Candidate{}}
	won := false
	add := func(c Candidate) {
		value, err := s.of(c)
		switch {
		case won:
			chosen.Overridden = append(chosen.Overridden, Candidate{Raw: c.Raw, Valid: err == nil, Origin: c.Origin})
			return
		case err != nil:
			r.err = cmp.Or(r.err, error(&ValueError{c.Origin, s.key, c.Raw, err}))
		default:
			chosen.Value, chosen.Raw, chosen.Origin = value, c.Raw, c.Origin
		}
		won = true
	}
	code := func(builtIn bool) {
		for _, c := range r.Given {
			if (c.Origin.Kind == originDefault) == builtIn && cmp.Or(c.setting, c.Origin.Key) == s.key {
				add(c)
			}
		}
	}
	code(false)
	if s.key == keyProfile && r.Profile != "" {
		add(Candidate{Raw: r.Profile, Origin: Origin{Kind: originOption, Name: "WithSources"}})
	}
	for _, name := range variables {
		// A retry setting of whitespace alone is unset; the name of a profile is used as is.
		if text, _ := r.pair.Lookup(name); text != "" && (s.key == keyProfile || !sharedfile.IsBlank(text)) {
			add(Candidate{Raw: text, Origin: Origin{Kind: originEnvironment, Name: name}})
		}
	}
	for _, c := range r.inFiles {
		if c.Origin.Key == s.key {
			add(c)
		}
	}
	code(true)
	return chosen
}

// open finds and reads the two shared files. The error is an [*UnreadableError] for an unreadable file that code named,
// and for any file above the limit.
func (s Sources) open() (*sharedfile.Pair, error) {
	pair := sharedfile.Open(sharedfile.Sources(s))
	for i := range pair.Files {
		if f := &pair.Files[i]; f.Fatal() {
			return nil, &UnreadableError{Kind: f.Kind, File: f.Path, Err: f.Err}
		}
	}
	return pair, nil
}

// statuses returns what became of the files.
func statuses(pair *sharedfile.Pair) []FileStatus {
	all := make([]FileStatus, 0, len(pair.Files))
	for _, f := range pair.Files {
		status := statusUnreadable
		switch {
		case f.Err == nil:
			status = statusLoaded
		case errors.Is(f.Err, fs.ErrNotExist):
			status = statusMissing
		}
		all = append(all, FileStatus{f.Kind, f.Path, status})
	}
	return all
}

// readFiles reads the values that both files have for the profile.
func (r *resolution) readFiles(profile Setting[string]) error {
	pair := r.pair
	pair.Read(profile.Value, false)
	for _, x := range pair.Files {
		if l := x.Refused; r.Strict && l.Fault != sharedfile.NoFault {
			return &ParseError{Kind: x.Kind, File: x.Path, Line: int(l.Number), Msg: l.Fault.String(), text: strings.Clone(l.Shown())}
		}
	}
	at := sharedfile.Place{Profile: true, Name: profile.Value}
	found := false
	for _, x := range [...]*sharedfile.File{&pair.Files[1], &pair.Files[0]} { // The credentials file is the stronger one.
		if s := x.Sections[at]; s != nil {
			found = true
			r.take(x, s, at.Name)
		}
	}
	// As in the SDK, AWS_DEFAULT_PROFILE may name a profile that no file has.
	if !found && profile.Origin.Kind != originDefault && profile.Origin.Name != sharedfile.EnvDefaultProfile {
		return notFound(profile, pair)
	}
	// If a key has several values, ini.v1 merges them: it gets keys and values, but no text in which a character has a
	// special meaning. Otherwise it is not used, because loading it takes longer than reading a file.
	if n := len(r.inFiles); n > 2 || n == 2 && r.inFiles[0].Origin.Key == r.inFiles[1].Origin.Key {
		merged := ini.Empty().Section(ini.DefaultSection)
		for _, c := range slices.Backward(r.inFiles) {
			_, _ = merged.NewKey(c.Origin.Key, c.Raw) // It refuses the empty key only.
		}
		for _, key := range [...]string{keyRetryMode, keyMaxAttempts} {
			if i := slices.IndexFunc(r.inFiles, func(c Candidate) bool { return c.Origin.Key == key }); i >= 0 {
				r.inFiles[i].Raw = merged.Key(key).Value()
			}
		}
	}
	return nil
}

// maxGiven is how many values of one setting are kept of one file.
const maxGiven = 100

// take adds the values of one section, the last one first, at most maxGiven of each setting.
func (r *resolution) take(x *sharedfile.File, s *sharedfile.Section, profile string) {
	origin := Origin{Kind: originSharedConfig, File: x.Path, Profile: profile}
	if x.Kind == sharedfile.Credentials {
		origin.Kind = originSharedCredentials
	} else {
		origin.prefixed = profile == sharedfile.DefaultProfile && sharedfile.HeaderName(s.Lines[0].Text) != sharedfile.DefaultProfile
	}
	taken, values := map[string]int{}, s.Settings()
	r.inFiles = slices.Grow(r.inFiles, min(len(values), 2*maxGiven))
	for _, v := range slices.Backward(values) {
		if taken[v.Key]++; taken[v.Key] <= maxGiven {
			origin.Key, origin.Line = v.Key, v.Line
			r.inFiles = append(r.inFiles, Candidate{Raw: strings.Clone(v.Text), Origin: origin})
		}
	}
}

// notFound returns the error for a profile that neither file has. To find similar names it goes over both files again.
func notFound(profile Setting[string], pair *sharedfile.Pair) error {
	name, names, hint := profile.Value, words.Near(profile.Value), ""
	again := &sharedfile.Pair{Files: pair.Files}
	for i, f := range pair.Files {
		meant := [...]string{"[profile " + name + "]", "[" + name + "]"}[i]
		like := func(header string) bool { // in a file of the other kind, without its quotes, or with another word
			return sharedfile.Unquoted(header) == name || sharedfile.ProfileName(sharedfile.Config, header) == name ||
				i == 0 && sharedfile.LikeProfile(header) == name
		}
		again.Look[i] = func(at *sharedfile.Pass) {
			if at.Kind == sharedfile.Header && at.Place.Profile {
				names.Add(at.Place.Name)
			}
			place := f.Path + ":" + strconv.Itoa(int(at.Number)) + " has "
			text, _, closed := strings.Cut(sharedfile.BeforeAny(at.Text), "]")
			switch inner, opened := strings.CutPrefix(text, "["); {
			case hint != "":
			case at.Kind == sharedfile.Malformed && (opened || closed) && like(sharedfile.Trim(inner)):
				hint = place + sharedfile.Quote(text) + ", which is skipped: " + at.Fault.String()
			case at.Kind != sharedfile.Header:
			case i == 0 && at.Place.Profile && at.Header == name:
				hint = place + sharedfile.Shorten("["+at.Header+"]") + ", whose name is " + sharedfile.Quote(at.Place.Name)
			case like(at.Header):
				hint = place + sharedfile.Shorten("["+at.Header+"]") + ", which would have to be " + sharedfile.Shorten(meant)
			}
		}
	}
	again.Read("", false)
	return &ProfileNotFoundError{Profile: name, Origin: profile.Origin, Files: statuses(pair), Near: names.Best(), hint: hint}
}
