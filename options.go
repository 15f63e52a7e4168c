package awsretry

import (
	"io/fs"

	"github.com/awsretry/awsretry/config"
)

// Option changes what [Resolve] reads or what it decides. Options are applied
// in order, so of two equal ones the later counts; a nil one is skipped. An
// option may be used several times, also at the same time.
type Option interface {
	apply(o *options)
}

// options is what all options together say. The zero value says nothing.
type options struct {
	settings settingOptions
	build    buildOptions
}

// settingOptions is what options say about settings.
type settingOptions struct {
	sources   config.Sources
	profile   string
	service   string
	strict    bool
	overrides layer
	defaults  layer
}

// layer is one of the two layers of settings in code. A nil member is unset.
type layer struct {
	mode        *Mode
	maxAttempts *int
	behavior    *Behavior
}

type optionFunc func(o *options)

func (f optionFunc) apply(o *options) { f(o) }

// collect applies options to what nothing says.
func collect(opts []Option) options {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt.apply(&o)
		}
	}
	return o
}

// setting makes an option that changes settings only.
func setting(change func(s *settingOptions)) Option {
	return optionFunc(func(o *options) { change(&o.settings) })
}

// WithProfile names the profile, in place of AWS_PROFILE. The name is used as it
// is, and the profile must exist. The empty name is as if the option were absent.
func WithProfile(name string) Option {
	return setting(func(s *settingOptions) { s.profile = name })
}

// WithConfigFile gives the path of the config file, in place of AWS_CONFIG_FILE
// and .aws/config in the home directory. A leading ~ before a slash is the home
// directory. A file that exists and cannot be read is an error. The empty path is
// as if the option were absent.
func WithConfigFile(path string) Option {
	return setting(func(s *settingOptions) { s.sources.ConfigFile = path })
}

// WithCredentialsFile gives the path of the credentials file, in place of
// AWS_SHARED_CREDENTIALS_FILE and .aws/credentials in the home directory. It is
// treated as that of [WithConfigFile].
func WithCredentialsFile(path string) Option {
	return setting(func(s *settingOptions) { s.sources.CredentialsFile = path })
}

// WithEnv reads variables with lookup, which works like [os.LookupEnv], in place
// of the environment of the process. nil means that environment.
func WithEnv(lookup func(key string) (value string, ok bool)) Option {
	return setting(func(s *settingOptions) { s.sources.LookupEnv = lookup })
}

// WithFS reads the shared files from fsys in place of the operating system's
// file system. fsys holds the whole tree without its root: /home/me/.aws/config
// is home/me/.aws/config in it. nil means the operating system.
func WithFS(fsys fs.FS) Option {
	return setting(func(s *settingOptions) { s.sources.FS = fsys })
}

// WithPlatform follows the rules of a platform, given as a GOOS value, for the
// home directory and for paths: "windows" has its own, all others are alike. The
// empty text means the platform of the process.
func WithPlatform(goos string) Option {
	return setting(func(s *settingOptions) { s.sources.Platform = goos })
}

// WithHomeDir asks home for the home directory when no variable tells it, in
// place of the operating system. nil means the operating system.
func WithHomeDir(home func() (string, error)) Option {
	return setting(func(s *settingOptions) { s.sources.HomeDir = home })
}

// WithService names the service that the client talks to, such as "dynamodb".
// Some built-in defaults depend on it. Case does not matter, and the service ids
// of the AWS SDKs do as well, such as "DynamoDB Streams". Empty means any.
func WithService(id string) Option {
	return setting(func(s *settingOptions) { s.service = id })
}

// WithOptionNames changes what options are called in errors, diagnostics and
// origins: a program may call WithProfile "--profile", after its flag. Options
// that names does not have keep their names.
func WithOptionNames(names map[string]string) Option {
	return setting(func(s *settingOptions) { s.sources.OptionNames = names })
}

// WithStrict turns warnings into one [*StrictError], which lists them all. The
// hint that other profiles have retry settings too fails nothing by itself, as
// a file may serve several profiles.
func WithStrict() Option {
	return setting(func(s *settingOptions) { s.strict = true })
}

// WithMode sets the retry mode, whatever environment and files say. A mode that
// does not exist is an error.
func WithMode(mode Mode) Option {
	return setting(func(s *settingOptions) { s.overrides.mode = &mode })
}

// WithMaxAttempts sets the number of attempts, the first included, whatever
// environment and files say: 1 means no retry. Less than 1 and more than 2^31-1
// are errors.
func WithMaxAttempts(n int) Option {
	return setting(func(s *settingOptions) { s.overrides.maxAttempts = &n })
}

// WithBehavior sets the generation of behavior, whatever the environment says.
// The empty one is as if the option were absent; one that does not exist is an
// error.
func WithBehavior(b Behavior) Option {
	return setting(func(s *settingOptions) { s.overrides.behavior = unlessEmpty(b) })
}

// WithDefaultMode sets the retry mode for when neither environment nor files do.
// A mode that does not exist is an error if it would be used.
func WithDefaultMode(mode Mode) Option {
	return setting(func(s *settingOptions) { s.defaults.mode = &mode })
}

// WithDefaultMaxAttempts sets the number of attempts for when neither
// environment nor files do. Its range is that of [WithMaxAttempts].
func WithDefaultMaxAttempts(n int) Option {
	return setting(func(s *settingOptions) { s.defaults.maxAttempts = &n })
}

// WithDefaultBehavior sets the generation of behavior for when the environment
// does not. The empty one is as if the option were absent.
func WithDefaultBehavior(b Behavior) Option {
	return setting(func(s *settingOptions) { s.defaults.behavior = unlessEmpty(b) })
}

func unlessEmpty(b Behavior) *Behavior {
	if b == "" {
		return nil
	}
	return &b
}
