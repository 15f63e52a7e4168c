package awsretry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// Settings says how a client retries. Each value has its origin and the values that it beat.
type Settings = config.Settings

// Sources says which profile is read, and where; see [WithSources].
type Sources = config.Sources

// Mode is a retry mode.
type Mode = config.Mode

// The retry modes.
const (
	// ModeStandard retries with a backoff and a retry quota.
	ModeStandard Mode = "standard"
	// ModeAdaptive is standard mode with a send rate that adapts to throttling.
	ModeAdaptive Mode = "adaptive"
)

// Option is an option of [Load]. Each is a [ResolveOption], a [BuildOption] or both.
//
// Options apply in order, so the later of two equal ones wins. A nil option is skipped, and so is an option whose
// argument is empty, nil or zero. Options are safe for concurrent use and may be reused.
type Option interface{ apply(o *options) }

// ResolveOption is an option of [Resolve]: it decides what is read, or what the settings are.
type ResolveOption interface {
	Option
	resolves()
}

// SourceOption is a [ResolveOption] about what is read: [WithSources] or [WithStrict]. A package that has the values of
// the sources from elsewhere, such as awssdk, reads them again if there is one.
type SourceOption interface {
	ResolveOption
	reads()
}

// options holds what all options of a call say.
type options struct {
	query      config.Query
	config     adaptive.Config
	configured string // The option that set config, if any.
}

// collect applies options in order, configurations first.
func collect[O Option](opts []O) *options {
	o := &options{}
	for _, first := range [...]bool{true, false} {
		for _, opt := range opts {
			if _, configures := any(opt).(configOption); any(opt) != nil && configures == first {
				opt.apply(o)
			}
		}
	}
	return o
}

type resolveOption func(q *config.Query)

func (f resolveOption) apply(o *options) { f(&o.query) }
func (resolveOption) resolves()          {}

type sourceOption struct{ resolveOption }

func (sourceOption) reads() {}

// Resolve decides how a client retries. The package comment has the order of the sources.
//
// A bad value is an error only if it wins: a [*config.ValueError], which names its place. If it loses, it is not
// [config.Candidate.Valid]. A MinDelay above MaxBackoff is such an error too. The other errors are
//   - a [*config.ProfileNotFoundError] for a profile that [WithSources] or AWS_PROFILE names
//     but neither file has;
//   - a [*config.UnreadableError] for an unreadable file that [WithSources] names, and for any
//     file above 4 MiB;
//   - a [*config.ParseError] for a malformed line, with [WithStrict] only;
//   - the error of ctx if ctx is done when Resolve begins.
//
// No error contains a value other than a retry setting. Resolve is safe for concurrent use.
func Resolve(ctx context.Context, opts ...ResolveOption) (*Settings, error) {
	return collect(opts).resolve(ctx)
}

func (o *options) resolve(ctx context.Context) (*Settings, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	query, c := o.query, o.config.Standard
	query.Service = c.Service
	by := config.Origin{Kind: "default", Name: o.configured}
	query.Given = appendSet(query.Given, by, "behavior", c.Behavior)
	query.Given = appendSet(query.Given, by, "max_attempts", max(c.MaxAttempts, 0))
	query.Given = appendSet(query.Given, by, "max_backoff", c.MaxBackoff)
	query.Given = appendSet(query.Given, by, "min_delay", c.MinDelay)
	query.Given = appendSet(query.Given, by, "max_elapsed", c.MaxElapsed)
	return query.Resolve()
}

// appendSet adds a value unless it is unset.
func appendSet[T Mode | int | time.Duration | retry.Behavior](given []config.Candidate, by config.Origin, setting string, value T) []config.Candidate {
	var unset T
	if value == unset {
		return given
	}
	return append(given, config.Typed(by, setting, value))
}

// WithSources says what is read: the profile, the two files, the environment and the file system. A test that sets
// LookupEnv and FS depends on nothing outside it. A field that is zero means what it means without the option, and of
// two WithSources a field that the later one sets counts.
func WithSources(sources Sources) ResolveOption {
	set := resolveOption(func(q *config.Query) {
		q.Profile = cmp.Or(sources.Profile, q.Profile)
		q.ConfigFile = cmp.Or(sources.ConfigFile, q.ConfigFile)
		q.CredentialsFile = cmp.Or(sources.CredentialsFile, q.CredentialsFile)
		if sources.LookupEnv != nil {
			q.LookupEnv = sources.LookupEnv
		}
		if sources.FS != nil {
			q.FS = sources.FS
		}
	})
	if reflect.ValueOf(sources).IsZero() {
		return set
	}
	return sourceOption{set}
}

// WithStrict refuses a shared file with a malformed line. The error is a [*config.ParseError] for the first malformed
// line of the config file, or else of the credentials file. Without this option a malformed line is skipped, as in AWS
// tools.
func WithStrict() ResolveOption {
	return sourceOption{func(q *config.Query) { q.Strict = true }}
}

// WithMode sets the retry mode and overrides environment and shared files. It accepts what AWS_RETRY_MODE accepts; any
// other mode is an error of [Resolve].
func WithMode(mode Mode) ResolveOption {
	return overriding("option", "WithMode", "retry_mode", mode)
}

// WithMaxAttempts sets the number of attempts of an operation, the first included, and overrides environment and shared
// files. 1 means no retry. Zero or less changes nothing, and a number above 2^31-1 is an error of [Resolve].
func WithMaxAttempts(n int) ResolveOption {
	return overriding("option", "WithMaxAttempts", "max_attempts", max(n, 0))
}

// WithDefaultMode sets the retry mode to use if neither environment nor files set one. An unknown mode is then an error
// of [Resolve]. For a default number of attempts, set MaxAttempts in [WithStandard].
func WithDefaultMode(mode Mode) ResolveOption {
	return overriding("default", "WithDefaultMode", "retry_mode", mode)
}

// overriding returns an option for a value that overrides those of the options before it. An empty value or zero is
// none.
func overriding[T Mode | int](kind, name, setting string, value T) ResolveOption {
	given := appendSet(nil, config.Origin{Kind: kind, Name: name}, setting, value)
	return resolveOption(func(q *config.Query) { q.Given = slices.Concat(given, q.Given) })
}

// Values holds retry settings from a program's own configuration file and flags. Embed it in the program's
// configuration and pass it to [WithValues]:
//
//	type Config struct {
//		Listen string          `json:"listen"`
//		AWS    awsretry.Values `json:"aws"`
//	}
//
// The fields are text as written, and an empty one is unset. [Resolve] parses them, so the error for a bad value names
// its place, the setting and the value, and a written 0 differs from no value. In JSON and YAML the number of attempts
// is a number, and durations are texts such as "1m30s". Values has no methods for encoding and decoding, so a program
// may embed it without a name.
//
// A copy of Values is independent of the original. Values are comparable. Reading them is safe for concurrent use.
type Values struct {
	// Mode is the retry mode, as in AWS_RETRY_MODE.
	Mode config.Mode `json:"retry_mode,omitempty" yaml:"retry_mode,omitempty"`
	// MaxAttempts is the number of attempts of an operation, the first one included, such as "5". YAML libraries write
	// it in quotes, and read it with or without them.
	MaxAttempts json.Number `json:"max_attempts,omitempty" yaml:"max_attempts,omitempty"`
	// MaxBackoff is the longest backoff, see standard.Config.MaxBackoff: a duration above zero in the form of
	// [time.ParseDuration].
	MaxBackoff string `json:"max_backoff,omitempty" yaml:"max_backoff,omitempty"`
	// MinDelay is the shortest backoff, see standard.Config.MinDelay: a duration, or "0" for none.
	MinDelay string `json:"min_delay,omitempty" yaml:"min_delay,omitempty"`
	// MaxElapsed limits the time of each operation, see standard.Config.MaxElapsed: a duration, or "0" for no limit.
	MaxElapsed string `json:"max_elapsed,omitempty" yaml:"max_elapsed,omitempty"`

	places, flags [5]valueAt // In the order of settings.
}

// valueAt is a value and the place that it came from. Without a place it is unset.
type valueAt struct{ text, place string }

// valueSetting is a setting of Values: its name, the help for its flag, and the field.
type valueSetting struct{ key, usage, text string }

func (v *Values) settings() [5]valueSetting {
	return [...]valueSetting{
		{"retry_mode", "retry `mode`: standard or adaptive", string(v.Mode)},
		{"max_attempts", "`number` of attempts of an operation, the first included", string(v.MaxAttempts)},
		{"max_backoff", "longest `duration` of the backoff before a retry, such as 20s", v.MaxBackoff},
		{"min_delay", "shortest `duration` of the backoff before a retry, such as 300ms", v.MinDelay},
		{"max_elapsed", "`duration` after which an operation begins no further attempt, such as 1m30s", v.MaxElapsed},
	}
}

// AddFlags defines the flags PREFIXretry-mode, PREFIXmax-attempts, PREFIXmax-backoff, PREFIXmin-delay and
// PREFIXmax-elapsed. A flag that is set overrides the field, in any order, and does not change it. Its place is "flag
// --" and its name. Parsing the flags fails on a bad value.
//
// The flags set v, not a copy of it. Parse them before you call [WithValues]. AddGoFlagSet of github.com/spf13/pflag
// imports the flags.
func (v *Values) AddFlags(fs *flag.FlagSet, prefix string) {
	for i, s := range v.settings() {
		name := prefix + strings.ReplaceAll(s.key, "_", "-")
		fs.Var(&valueFlag{value: &v.flags[i], key: s.key, name: name}, name, s.usage)
	}
}

// valueFlag is a flag.Value. The package flag also creates zero values of it.
type valueFlag struct {
	value     *valueAt
	key, name string
}

func (f *valueFlag) String() string {
	if f.value == nil {
		return ""
	}
	return f.value.text
}

func (f *valueFlag) Set(text string) error {
	at := valueAt{text, "flag --" + f.name}
	if invalid, ok := errors.AsType[*config.ValueError](at.candidate(f.key).Check()); ok {
		return invalid.Err // The package flag adds the flag and the value.
	}
	*f.value = at
	return nil
}

// From says where the fields come from, such as "file app.yaml". Call it after decoding a file. If you decode several
// files into the same Values, call From after each: it sets the place of the fields that have changed since the last
// call. Without a From, the place of a field is "option WithValues".
func (v *Values) From(place string) {
	for i, s := range v.settings() {
		if s.text != v.places[i].text {
			v.places[i] = valueAt{s.text, place}
		}
	}
}

// given returns the values with their places, flags first.
func (v *Values) given() (flags []config.Candidate) {
	var fields []config.Candidate
	for i, s := range v.settings() {
		if at := v.flags[i]; at.place != "" {
			flags = append(flags, at.candidate(s.key))
		}
		at := v.places[i]
		if at.text != s.text || at.place == "" {
			at = valueAt{s.text, "option WithValues"}
		}
		if s.text != "" {
			fields = append(fields, at.candidate(s.key))
		}
	}
	return slices.Concat(flags, fields)
}

func (a valueAt) candidate(key string) config.Candidate {
	return config.Candidate{Raw: a.text, Origin: config.Origin{Kind: "option", Name: a.place, Key: key}}
}

// WithValues uses the values of a program's own file and flags. They override the environment and the shared files. A
// value ranks with the option for the same setting, such as [WithMode]: the later one wins. All values override the
// fields of [WithConfig]. A later WithValues overrides an earlier one, setting by setting.
//
// The origin of such a value, and the error for a bad one, names the flag or the place of [Values.From]. [Settings]
// hold all values, so [New] needs no such option.
func WithValues(v Values) ResolveOption {
	values := v.given()
	return resolveOption(func(q *config.Query) { q.Given = slices.Concat(values, q.Given) })
}
