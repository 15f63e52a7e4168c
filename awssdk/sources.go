package awssdk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	retryconfig "github.com/awsretry/awsretry/config"
)

// sources is what config.LoadDefaultConfig has read for a config. For a config that code has made
// without it, all fields except cfg are zero.
type sources struct {
	cfg     aws.Config
	loaded  bool
	options config.LoadOptions
	env     config.EnvConfig
	shared  config.SharedConfig // It is zero if no file has the profile.

	// The values of the first source that has one.
	mode     aws.RetryMode
	attempts int

	accepted bool // All values are those that the clients of the SDK make of them.
}

func sourcesOf(ctx context.Context, cfg aws.Config) *sources {
	s := &sources{cfg: cfg}
	for _, source := range cfg.ConfigSources {
		switch source := source.(type) {
		case config.LoadOptions:
			s.options = source
		case config.EnvConfig:
			s.env, s.loaded = source, true
		case config.SharedConfig:
			s.shared = source
		}
		if own, ok := source.(interface {
			GetRetryMode(ctx context.Context) (aws.RetryMode, bool, error)
		}); ok && s.mode == "" {
			s.mode, _, _ = own.GetRetryMode(ctx)
		}
		if own, ok := source.(interface {
			GetRetryMaxAttempts(ctx context.Context) (int, bool, error)
		}); ok && s.attempts == 0 {
			s.attempts, _, _ = own.GetRetryMaxAttempts(ctx)
		}
	}
	return s
}

// resolve resolves the settings from the profile and the files that the SDK has read. The
// options in more override all other values.
//
// What the SDK has accepted and awsretry refuses is no error: it counts as the SDK has read it, and
// is a diagnostic. First the values of code and of the environment are taken so, and if the files
// are still refused, their values too.
func (s *sources) resolve(ctx context.Context, more []awsretry.Option) (*awsretry.Settings, error) {
	own := only[awsretry.ResolveOption](more)
	settings, err := awsretry.Resolve(ctx, slices.Concat(s.read(), own)...)
	if err == nil || isA[*retryconfig.ParseError](err) { // Only the options in more ask for strict reading.
		return settings, err
	}
	if _, alone := awsretry.Resolve(ctx, s.read()...); alone == nil {
		return nil, err // It is about the options in more.
	}
	findings := []retryconfig.Diagnostic{accepted(err)}
	s.accept(ctx)
	for _, read := range [][]awsretry.ResolveOption{s.read(), append(s.asRead(), s.code()...)} {
		settings, again := awsretry.Resolve(ctx, slices.Concat(read, own)...)
		if again == nil {
			settings.Diagnostics = append(settings.Diagnostics, findings...)
			return settings, nil
		}
		// The options in more can name a profile that only the files have.
		if again.Error() != err.Error() && !isA[*retryconfig.ProfileNotFoundError](again) {
			err = again
			findings = append(findings, accepted(err))
		}
	}
	return nil, err
}

// accepted returns the finding about an error that the SDK does not have. Its severity is that of a
// value which awsretry.Resolve refuses.
func accepted(err error) retryconfig.Diagnostic {
	code := "invalid-value"
	switch {
	case isA[*retryconfig.ProfileNotFoundError](err):
		code = "profile-not-found"
	case isA[*retryconfig.UnreadableError](err):
		code = "unreadable-file"
	}
	return retryconfig.Diagnostic{
		Severity: "error", Code: code,
		Message: strings.TrimPrefix(err.Error(), "config: ") + "; aws-sdk-go-v2 starts with it, so its reading counts",
	}
}

// accept changes the values to what the clients of the SDK make of them: a number below 1 is not
// set, and a mode other than adaptive is standard. For a config that code has made it reads what
// config.LoadDefaultConfig would have read.
func (s *sources) accept(ctx context.Context) {
	if !s.loaded {
		cfg, _ := config.LoadDefaultConfig(ctx, config.WithDefaultsMode(aws.DefaultsModeLegacy)) // "auto" asks IMDS.
		read := sourcesOf(ctx, cfg)
		s.env, s.shared, s.loaded = read.env, read.shared, true
	}
	s.accepted = true
	for _, n := range []*int{
		&s.options.RetryMaxAttempts, &s.env.RetryMaxAttempts, &s.shared.RetryMaxAttempts, &s.cfg.RetryMaxAttempts, &s.attempts,
	} {
		*n = min(max(*n, 0), math.MaxInt32)
	}
	for _, mode := range []*aws.RetryMode{&s.options.RetryMode, &s.cfg.RetryMode, &s.mode} {
		if *mode != "" && *mode != aws.RetryModeAdaptive {
			*mode = aws.RetryModeStandard
		}
	}
}

// read returns options with what the SDK has read.
func (s *sources) read() []awsretry.ResolveOption {
	read, ok := s.files()
	if !ok {
		read = s.asRead()
	}
	return append(read, s.code()...)
}

// only returns the options that are of the type O.
func only[O awsretry.Option](opts []awsretry.Option) (found []O) {
	for _, opt := range opts {
		if opt, ok := opt.(O); ok {
			found = append(found, opt)
		}
	}
	return found
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// code returns the mode and the attempts that code has given to config.LoadDefaultConfig or has
// set in the config.
func (s *sources) code() []awsretry.ResolveOption {
	var given []awsretry.ResolveOption
	if mode := s.options.RetryMode; mode != "" {
		given = append(given, awsretry.WithMode(retryconfig.Mode(mode)))
	}
	if n := s.options.RetryMaxAttempts; n != 0 {
		given = append(given, awsretry.WithMaxAttempts(n))
	}
	if mode := s.cfg.RetryMode; mode != "" && mode != s.mode {
		given = append(given, awsretry.WithMode(retryconfig.Mode(mode)))
	}
	if n := s.cfg.RetryMaxAttempts; n != 0 && n != s.attempts {
		given = append(given, awsretry.WithMaxAttempts(n))
	}
	return given
}

// sharedFiles is where the SDK looks for the shared files of one kind.
type sharedFiles struct {
	option   []string // The option of config.LoadDefaultConfig, or nil.
	variable string   // The value of the variable, or empty.
	fallback []string

	// The variable and the option of awsretry for such a file.
	name string
	take func(path string) awsretry.ResolveOption
}

// files returns options with the profile and the shared files that the SDK has read. ok is false
// if awsretry cannot read the same files.
func (s *sources) files() (found []awsretry.ResolveOption, ok bool) {
	found = append(found, awsretry.WithProfile(s.options.SharedConfigProfile))
	seen := map[string]string{}
	home, atHome := sdkHome()
	if atHome {
		seen["HOME"] = home
	}
	for _, kind := range []sharedFiles{
		{
			s.options.SharedConfigFiles, s.env.SharedConfigFile, config.DefaultSharedConfigFiles,
			"AWS_CONFIG_FILE", awsretry.WithConfigFile,
		},
		{
			s.options.SharedCredentialsFiles, s.env.SharedCredentialsFile, config.DefaultSharedCredentialsFiles,
			"AWS_SHARED_CREDENTIALS_FILE", awsretry.WithCredentialsFile,
		},
	} {
		paths := kind.option
		switch {
		case paths != nil:
		case !s.loaded:
			continue
		case kind.variable != "":
			paths = []string{kind.variable}
		default:
			paths = kind.fallback
		}
		path, ok := oneFile(paths)
		if !ok {
			return nil, false
		}
		if kind.option != nil || kind.variable == "" && !atHome {
			found = append(found, kind.take(literal(path)))
		}
		seen[kind.name] = literal(kind.variable)
	}
	if s.loaded {
		found = append(found, awsretry.WithEnv(s.environment(seen)))
	}
	return found, true
}

// Paths of files that do not exist. A missing file counts as empty.
const (
	noFile  = "(none)"
	sdkRead = "(read by config.LoadDefaultConfig)"
)

// oneFile returns the only one of these files that has contents. The SDK skips a file that it
// cannot open. ok is false for several files, because awsretry reads only one, and for a pipe or a
// device, whose contents the SDK has consumed.
func oneFile(paths []string) (path string, ok bool) {
	path = noFile
	var contents []string
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case p != "" && errors.Is(err, fs.ErrNotExist):
			path = p
		case err != nil, p == os.DevNull, slices.Contains(contents, p):
		case !info.Mode().IsRegular():
			return "", false
		case opens(p):
			contents = append(contents, p)
		}
	}
	switch len(contents) {
	case 0:
		return path, true
	case 1:
		return contents[0], true
	}
	return "", false
}

func opens(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	_ = file.Close() // Nothing was written.
	return true
}

// literal returns a path in which ~ does not stand for the home directory. In the SDK it never
// does.
func literal(path string) string {
	if strings.HasPrefix(path, "~") {
		return "./" + path
	}
	return path
}

// sdkHome returns the home directory that the SDK has found at the start of the process. ok is
// false if the program has replaced the default files of the SDK.
func sdkHome() (dir string, ok bool) {
	if len(config.DefaultSharedConfigFiles) == 0 {
		return "", false
	}
	dir = filepath.Dir(filepath.Dir(config.DefaultSharedConfigFiles[0]))
	return dir, slices.Equal(config.DefaultSharedConfigFiles, []string{filepath.Join(dir, ".aws", "config")}) &&
		slices.Equal(config.DefaultSharedCredentialsFiles, []string{filepath.Join(dir, ".aws", "credentials")})
}

// asRead returns options with the values of the profile as the SDK has read them, and without
// files. Such options are stronger than the environment, so a value that a variable overrides is
// left out.
func (s *sources) asRead() []awsretry.ResolveOption {
	var values awsretry.Values
	if s.env.RetryMode == "" {
		values.Mode = retryconfig.Mode(s.shared.RetryMode)
	}
	if n := s.shared.RetryMaxAttempts; n != 0 && s.env.RetryMaxAttempts == 0 {
		values.MaxAttempts = json.Number(strconv.Itoa(n))
	}
	values.From("config.LoadDefaultConfig")
	return []awsretry.ResolveOption{
		awsretry.WithConfigFile(sdkRead), awsretry.WithCredentialsFile(sdkRead), awsretry.WithValues(values),
		awsretry.WithEnv(s.environment(map[string]string{"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": ""})),
	}
}

// environment returns the environment that the SDK has read, with some variables changed. An empty
// value means that the variable is unset.
func (s *sources) environment(changed map[string]string) func(name string) (string, bool) {
	process := os.LookupEnv //nolint:forbidigo // The SDK does not tell which variable named the profile.
	seen := map[string]string{}
	if s.loaded {
		seen = s.changedSince(process)
	}
	maps.Copy(seen, changed)
	return func(name string) (string, bool) {
		if value, ok := seen[name]; ok {
			return value, value != ""
		}
		return process(name)
	}
}

// changedSince returns the variables that have changed since the SDK has read them, or of which it
// makes something else, with the values of the SDK.
func (s *sources) changedSince(process func(name string) (string, bool)) map[string]string {
	now := func(name string) string {
		value, _ := process(name)
		return value
	}
	then := map[string]string{}
	if mode := string(s.env.RetryMode); mode != now("AWS_RETRY_MODE") {
		then["AWS_RETRY_MODE"] = mode
	}
	n, err := strconv.Atoi(cmp.Or(now("AWS_MAX_ATTEMPTS"), "0"))
	if err != nil || n != s.env.RetryMaxAttempts || s.accepted {
		then["AWS_MAX_ATTEMPTS"] = ""
		if s.env.RetryMaxAttempts != 0 {
			then["AWS_MAX_ATTEMPTS"] = strconv.Itoa(s.env.RetryMaxAttempts)
		}
	}
	switch profile := s.env.SharedConfigProfile; profile {
	case cmp.Or(now("AWS_PROFILE"), now("AWS_DEFAULT_PROFILE")):
	case now("AWS_DEFAULT_PROFILE"):
		then["AWS_PROFILE"] = ""
	default:
		then["AWS_PROFILE"], then["AWS_DEFAULT_PROFILE"] = profile, ""
	}
	return then
}
