package awsretry

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Settings says how a client retries. Each value has its origin and the values that it beat.
type Settings = config.Settings

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
// Options are applied in order, and of two equal ones the later one counts. A nil option is
// skipped, and so is an option with an empty or nil argument. The zero of [WithMaxAttempts] is
// not skipped: it is an error. Options are safe for concurrent use and may be used several times.
type Option interface{ apply(o *options) }

// ResolveOption is an option of [Resolve]: it decides what is read, or what the settings are.
type ResolveOption interface {
	Option
	resolves()
}

// options is what all options of a call say together.
type options struct {
	query config.Query
	build buildOptions
}

// collect applies options in order.
func collect[O Option](opts []O) options {
	var o options
	for _, opt := range opts {
		if any(opt) != nil {
			opt.apply(&o)
		}
	}
	return o
}

type resolveOption func(q *config.Query)

func (f resolveOption) apply(o *options) { f(&o.query) }
func (resolveOption) resolves()          {}

// Resolve decides how a client retries. The comment of this package has the order of the
// places that a value may come from.
//
// A value that is not accepted is an error only if it would be the one that counts: a
// [*config.ValueError], which names its place. If it loses, it is a diagnostic. A MinDelay
// above MaxBackoff is such an error too. The other errors are
//   - a [*config.ProfileNotFoundError] for a profile that [WithProfile] or a variable names
//     and that neither file has;
//   - a [*config.UnreadableError] for a file that [WithConfigFile] or [WithCredentialsFile]
//     names and that cannot be read, and for any file above 4 MiB;
//   - a [*config.ParseError] for a malformed line, with [WithStrict] only;
//   - the error of ctx if ctx is done when Resolve begins.
//
// No error contains a value other than that of a retry setting. Resolve is safe for
// concurrent use.
func Resolve(ctx context.Context, opts ...ResolveOption) (*Settings, error) {
	return collect(opts).resolve(ctx)
}

func (o options) resolve(ctx context.Context) (*Settings, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	query, c := o.query, o.build.config
	if query.Service == "" {
		query.Service = c.Standard.Service
	}
	if n := c.Standard.MaxAttempts; n != 0 {
		query.Config.MaxAttempts = &n
	}
	if b := c.Standard.Behavior; b != "" {
		query.Config.Behavior = &b
	}
	query.Config.MaxBackoff = unlessZero(c.Standard.MaxBackoff)
	query.Config.MinDelay = unlessZero(c.Standard.MinDelay)
	query.Config.MaxElapsed = unlessZero(c.Standard.MaxElapsed)
	query.Config.Option = o.build.configured
	if o.build.configured != "" {
		query.Config.Adaptive = adaptiveFields(c)
	}
	service := query.Service
	query.BuiltInAttempts = func(b retry.Behavior) int { return builtInAttempts(b, service) }
	settings, err := query.Resolve()
	if err != nil {
		return nil, err
	}
	for _, field := range settle(&c.Standard, settings) {
		settings.Diagnostics = append(settings.Diagnostics, config.Diagnostic{Severity: "warning", Code: "no-effect", Message: field})
	}
	return settings, nil
}

func unlessZero(d time.Duration) *time.Duration {
	if d == 0 {
		return nil
	}
	return &d
}

// builtInAttempts returns the built-in number of attempts of an operation of a service.
func builtInAttempts(b retry.Behavior, service string) int {
	s, err := standard.New(standard.Config{Behavior: b, Service: service})
	if err != nil {
		return 0 // There is no such behavior, which is refused elsewhere.
	}
	return s.Plan(retry.Operation{}).MaxAttempts
}

// WithProfile names the profile, whatever AWS_PROFILE and AWS_DEFAULT_PROFILE say. The name is
// used as it is, and one of the files must have the profile.
func WithProfile(name string) ResolveOption {
	return resolveOption(func(q *config.Query) { setTo(&q.Profile, name) })
}

// WithConfigFile sets the path of the config file, whatever AWS_CONFIG_FILE says. A leading ~
// before a slash stands for the home directory. A file that exists and cannot be read is an
// error of [Resolve]; a file that does not exist counts as empty.
func WithConfigFile(path string) ResolveOption {
	return resolveOption(func(q *config.Query) { setTo(&q.ConfigFile, path) })
}

// WithCredentialsFile sets the path of the credentials file, whatever
// AWS_SHARED_CREDENTIALS_FILE says. The path follows the rules of [WithConfigFile].
func WithCredentialsFile(path string) ResolveOption {
	return resolveOption(func(q *config.Query) { setTo(&q.CredentialsFile, path) })
}

// WithEnv reads variables with lookup instead of the environment of the process. lookup works
// as [os.LookupEnv] does.
func WithEnv(lookup func(key string) (value string, ok bool)) ResolveOption {
	return resolveOption(func(q *config.Query) {
		if lookup != nil {
			q.LookupEnv = lookup
		}
	})
}

// WithFS reads the shared files from fsys instead of the file system of the operating system.
// fsys holds the whole tree without its root: the name of /home/me/.aws/config is
// home/me/.aws/config.
func WithFS(fsys fs.FS) ResolveOption {
	return resolveOption(func(q *config.Query) {
		if fsys != nil {
			q.FS = fsys
		}
	})
}

// WithService names the service that the client talks to, such as "dynamodb". Some built-in
// defaults depend on the service: in behavior v2.1 DynamoDB has 4 attempts and a shorter
// backoff. Case does not matter, and the service ids of the AWS SDKs, such as "DynamoDB
// Streams", are names too.
func WithService(id string) ResolveOption {
	return resolveOption(func(q *config.Query) { setTo(&q.Service, id) })
}

// WithStrict refuses a shared file with a malformed line. The error is a [*config.ParseError]
// for the first malformed line of the config file, or else of the credentials file. Without
// this option a malformed line is skipped, as AWS tools skip it, and is a diagnostic. All
// other findings stay diagnostics.
func WithStrict() ResolveOption {
	return resolveOption(func(q *config.Query) { q.Strict = true })
}

// WithMode sets the retry mode, whatever environment and shared files say. It accepts what
// AWS_RETRY_MODE accepts; another mode is an error of [Resolve].
func WithMode(mode Mode) ResolveOption {
	return resolveOption(func(q *config.Query) { pointTo(&q.Override.Mode, mode) })
}

// WithMaxAttempts sets the number of attempts of an operation, the first one included,
// whatever environment and shared files say. 1 means no retry. A number below 1 or above 2^31-1 is an
// error of [Resolve].
func WithMaxAttempts(n int) ResolveOption {
	return resolveOption(func(q *config.Query) { q.Override.MaxAttempts = &n })
}

// WithBehavior sets the generation of behavior: [retry.V21], the default, or [retry.V20] for
// what AWS tools did before November 2026. Another one is an error of [Resolve].
func WithBehavior(b retry.Behavior) ResolveOption {
	return resolveOption(func(q *config.Query) { pointTo(&q.Override.Behavior, b) })
}

// WithDefaultMode sets the retry mode for the case that neither environment nor files set one.
// A mode that does not exist is an error of [Resolve] in that case. For attempts, MaxAttempts of
// [WithStandard] is the same.
func WithDefaultMode(mode Mode) ResolveOption {
	return resolveOption(func(q *config.Query) { pointTo(&q.Default.Mode, mode) })
}

// WithMaxBackoff sets the longest backoff, whatever [WithConfig] says, as standard.Config.MaxBackoff
// does. A duration that is not above zero is an error of [Resolve].
func WithMaxBackoff(d time.Duration) ResolveOption {
	return withDuration("option WithMaxBackoff", "max_backoff", d)
}

// WithMinDelay sets the shortest backoff, whatever [WithConfig] says, as standard.Config.MinDelay
// does. Zero is none, and a negative duration is an error of [Resolve].
func WithMinDelay(d time.Duration) ResolveOption {
	return withDuration("option WithMinDelay", "min_delay", d)
}

// withDuration is WithValues for a duration in code.
func withDuration(place, key string, d time.Duration) ResolveOption {
	return given([]config.Candidate{valueAt{d.String(), place}.candidate(key)})
}

// setTo sets a text unless the new one is empty.
func setTo(text *string, to string) {
	if to != "" {
		*text = to
	}
}

// pointTo sets a pointer to a text unless the text is empty.
func pointTo[S ~string](text **S, to S) {
	if to != "" {
		*text = &to
	}
}

// Values are retry settings in the words of a program's own configuration file and flags. A
// program embeds them in its configuration and gives them to [WithValues]:
//
//	type Config struct {
//		Listen string          `json:"listen"`
//		AWS    awsretry.Values `json:"aws"`
//	}
//
// The fields are texts, as they were written. An empty one is unset. [Resolve] reads them, so
// that the error for a bad value can name its place, the setting and the value, and so that a
// 0 that was written differs from no value. JSON and YAML have the number of attempts as a
// number and durations as texts such as "1m30s". Values has no methods for encoding and
// decoding, so a program may embed it without a name.
//
// A copy of Values is independent of the original. Values are comparable. Reading them is safe
// for concurrent use.
type Values struct {
	// Mode is the retry mode, as AWS_RETRY_MODE has it.
	Mode config.Mode `json:"retry_mode,omitempty" yaml:"retry_mode,omitempty"`
	// MaxAttempts is the number of attempts of an operation, the first one included, such as
	// "5". YAML libraries write it in quotes, and read it with and without.
	MaxAttempts json.Number `json:"max_attempts,omitempty" yaml:"max_attempts,omitempty"`
	// MaxBackoff is the longest backoff, as standard.Config.MaxBackoff: a duration above zero
	// as [time.ParseDuration] reads it.
	MaxBackoff string `json:"max_backoff,omitempty" yaml:"max_backoff,omitempty"`
	// MinDelay is the shortest backoff, as standard.Config.MinDelay: a duration, or "0" for
	// none.
	MinDelay string `json:"min_delay,omitempty" yaml:"min_delay,omitempty"`
	// MaxElapsed limits the time of each operation, as standard.Config.MaxElapsed: a duration,
	// or "0" for no limit.
	MaxElapsed string `json:"max_elapsed,omitempty" yaml:"max_elapsed,omitempty"`

	places, flags [5]valueAt // By the numbers of settings.
}

// valueAt is a value and the place that it came from. Without a place it is no value.
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

// AddFlags defines the flags PREFIXretry-mode, PREFIXmax-attempts, PREFIXmax-backoff,
// PREFIXmin-delay and PREFIXmax-elapsed. A flag that is set is stronger than the field,
// whichever comes first, and leaves the field as it is. Its place is "flag --" and its name.
// A value that is not accepted is an error when the flags are parsed.
//
// The flags set v, and no copy of it. Parse them before a call of [WithValues]. AddGoFlagSet
// of github.com/spf13/pflag takes the flags over.
func (v *Values) AddFlags(fs *flag.FlagSet, prefix string) {
	for i, s := range v.settings() {
		name := prefix + strings.ReplaceAll(s.key, "_", "-")
		fs.Var(&valueFlag{value: &v.flags[i], key: s.key, name: name}, name, s.usage)
	}
}

// valueFlag is a flag.Value. The package flag also makes zero ones.
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

// From says where the fields come from, such as "file app.yaml". A program calls it when it
// has decoded a file. If it decodes several files into the same Values, it calls From after
// each of them: the place is that of the fields that have changed since the last call. A field
// that no From was called for has the place "option WithValues".
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

// WithValues uses the values of a program's own file and flags. They are stronger than the
// environment and the shared files. The mode counts like that of [WithMode] and the attempts
// like those of [WithMaxAttempts], of which the later option counts. The other values count
// before the fields of [WithConfig]. Of several WithValues the later one is stronger, setting
// by setting.
//
// The origin of such a value has as its name the flag or the place of [Values.From], and so
// has the error for a value that is not accepted. [Settings] hold all values, so [New] needs
// no such option.
func WithValues(v Values) ResolveOption { return given(v.given()) }

func given(values []config.Candidate) ResolveOption {
	return resolveOption(func(q *config.Query) {
		for _, c := range values {
			switch c.Origin.Key {
			case "retry_mode":
				q.Override.Mode = nil
			case "max_attempts":
				q.Override.MaxAttempts = nil
			}
		}
		q.Given = slices.Concat(values, q.Given)
	})
}
