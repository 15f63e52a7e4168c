package awsretry

import (
	"io/fs"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/retry"
)

// Option changes what [Resolve] reads or what it decides. Options are applied
// in order, so of two equal ones the later counts; a nil one is skipped. An
// option may be used several times, also at the same time.
type Option interface {
	apply(o *options)
}

// options is what all options together say. The zero value says nothing.
type options struct {
	query config.Query
	build buildOptions
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
func setting(change func(q *config.Query)) Option {
	return optionFunc(func(o *options) { change(&o.query) })
}

// WithProfile names the profile, in place of AWS_PROFILE and AWS_DEFAULT_PROFILE. The
// name is used as it is, and the profile must exist. The empty name is as if the option were absent.
func WithProfile(name string) Option {
	return setting(func(q *config.Query) { q.Profile = name })
}

// WithConfigFile gives the path of the config file, in place of AWS_CONFIG_FILE
// and .aws/config in the home directory. A leading ~ before a slash is the home
// directory. A file that exists and cannot be read is an error. The empty path is
// as if the option were absent.
func WithConfigFile(path string) Option {
	return setting(func(q *config.Query) { q.ConfigFile = path })
}

// WithCredentialsFile gives the path of the credentials file, in place of
// AWS_SHARED_CREDENTIALS_FILE and .aws/credentials in the home directory. It is
// treated as that of [WithConfigFile].
func WithCredentialsFile(path string) Option {
	return setting(func(q *config.Query) { q.CredentialsFile = path })
}

// WithEnv reads variables with lookup, which works like [os.LookupEnv], in place
// of the environment of the process. nil means that environment.
func WithEnv(lookup func(key string) (value string, ok bool)) Option {
	return setting(func(q *config.Query) { q.LookupEnv = lookup })
}

// WithFS reads the shared files from fsys in place of the operating system's
// file system. fsys holds the whole tree without its root: /home/me/.aws/config
// is home/me/.aws/config in it. nil means the operating system.
func WithFS(fsys fs.FS) Option {
	return setting(func(q *config.Query) { q.FS = fsys })
}

// WithPlatform follows the rules of a platform, given as a GOOS value, for the
// home directory and for paths: "windows" has its own, all others are alike. The
// empty text means the platform of the process.
func WithPlatform(goos string) Option {
	return setting(func(q *config.Query) { q.Platform = goos })
}

// WithHomeDir asks home for the home directory when no variable tells it, in
// place of the operating system. nil means the operating system.
func WithHomeDir(home func() (string, error)) Option {
	return setting(func(q *config.Query) { q.HomeDir = home })
}

// WithService names the service that the client talks to, such as "dynamodb".
// Some built-in defaults depend on it. Case does not matter, and the service ids
// of the AWS SDKs do as well, such as "DynamoDB Streams". Empty means any.
func WithService(id string) Option {
	return setting(func(q *config.Query) { q.Service = id })
}

// WithStrict refuses a shared file with a malformed line: the first one, of the
// config file before the credentials file, is a *config.ParseError. Without it such
// a line is skipped and reported as a diagnostic, as AWS tools skip it. All other
// findings stay diagnostics.
func WithStrict() Option {
	return setting(func(q *config.Query) { q.Strict = true })
}

// WithMode sets the retry mode, whatever environment and files say. It is read as
// AWS_RETRY_MODE is, and a mode that does not exist is an error.
func WithMode(mode Mode) Option {
	return setting(func(q *config.Query) { q.Override.Mode = &mode })
}

// WithMaxAttempts sets the number of attempts, the first included, whatever
// environment and files say: 1 means no retry. Less than 1 and more than 2^31-1
// are errors.
func WithMaxAttempts(n int) Option {
	return setting(func(q *config.Query) { q.Override.MaxAttempts = &n })
}

// WithBehavior sets the generation of behavior: [retry.V20] for what AWS tools did
// before November 2026. The empty one is as if the option were absent; one that does
// not exist is an error.
func WithBehavior(b retry.Behavior) Option {
	return setting(func(q *config.Query) { q.Override.Behavior = unlessEmpty(b) })
}

// WithDefaultMode sets the retry mode for when neither environment nor files do.
// A mode that does not exist is an error if it would be used.
func WithDefaultMode(mode Mode) Option {
	return setting(func(q *config.Query) { q.Default.Mode = &mode })
}

// WithDefaultMaxAttempts sets the number of attempts for when neither
// environment nor files do. Its range is that of [WithMaxAttempts].
func WithDefaultMaxAttempts(n int) Option {
	return setting(func(q *config.Query) { q.Default.MaxAttempts = &n })
}

func unlessEmpty(b retry.Behavior) *retry.Behavior {
	if b == "" {
		return nil
	}
	return &b
}
