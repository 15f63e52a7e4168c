package awssdk

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	retryconfig "github.com/awsretry/awsretry/config"
)

// values are a mode and attempts. Both may be unset.
type values struct {
	mode     aws.RetryMode
	attempts int // Below zero there is no limit.
}

// valuesOf returns the values of one of the sources of a config.
func valuesOf(ctx context.Context, source any) (v values) {
	if own, ok := source.(interface {
		GetRetryMode(ctx context.Context) (aws.RetryMode, bool, error)
	}); ok {
		v.mode, _, _ = own.GetRetryMode(ctx)
	}
	if own, ok := source.(interface {
		GetRetryMaxAttempts(ctx context.Context) (int, bool, error)
	}); ok {
		v.attempts, _, _ = own.GetRetryMaxAttempts(ctx)
	}
	return v
}

// or returns v with the values of weaker where v has none.
func (v values) or(weaker values) values {
	if v.mode == "" {
		v.mode = weaker.mode
	}
	if v.attempts == 0 {
		v.attempts = weaker.attempts
	}
	return v
}

// option returns an option with the values as the clients of the SDK take them: a mode other than
// adaptive is standard, and attempts below zero have no limit but the quota.
func (v values) option() awsretry.ResolveOption {
	var given awsretry.Values
	switch v.mode {
	case "":
	case aws.RetryModeAdaptive:
		given.Mode = awsretry.ModeAdaptive
	default:
		given.Mode = awsretry.ModeStandard
	}
	switch {
	case v.attempts < 0:
		given.MaxAttempts = json.Number(strconv.Itoa(math.MaxInt32))
	case v.attempts > 0:
		given.MaxAttempts = json.Number(strconv.Itoa(min(v.attempts, math.MaxInt32)))
	}
	given.From("aws.Config")
	return awsretry.WithValues(given)
}

// resolve resolves the settings of a config. What the SDK has read is not read again, unless the
// options in more name a profile, a file, an environment or a file system. They override all other
// values.
func resolve(ctx context.Context, cfg aws.Config, more []awsretry.Option) (*awsretry.Settings, error) {
	own := only[awsretry.ResolveOption](more)
	var options config.LoadOptions
	var read values
	for _, source := range cfg.ConfigSources {
		if source, ok := source.(config.LoadOptions); ok {
			options = source
		}
		read = read.or(valuesOf(ctx, source))
	}
	byHand := values{cfg.RetryMode, cfg.RetryMaxAttempts}
	if len(cfg.ConfigSources) > 0 {
		clients := byHand
		if cfg.Retryer != nil { // With a retryer the SDK leaves both fields empty.
			clients = byHand.or(read)
		}
		if settings, named, err := asRead(ctx, clients, own); !named {
			return settings, err
		}
	}
	// The config has what the SDK has read too, which is weaker than what the options in more name.
	if byHand.mode == read.mode {
		byHand.mode = ""
	}
	if byHand.attempts == read.attempts {
		byHand.attempts = 0
	}
	code := byHand.or(values{options.RetryMode, options.RetryMaxAttempts})
	process := []awsretry.ResolveOption{
		awsretry.WithProfile(options.SharedConfigProfile),
		awsretry.WithConfigFile(lastOf(options.SharedConfigFiles)),
		awsretry.WithCredentialsFile(lastOf(options.SharedCredentialsFiles)),
		code.option(),
	}
	settings, err := awsretry.Resolve(ctx, slices.Concat(process, own)...)
	if err == nil || len(cfg.ConfigSources) > 0 {
		return settings, err
	}
	// The SDK starts with a config made by hand whatever the process has, so only the options in more may be refused.
	if _, alone := awsretry.Resolve(ctx, process...); alone != nil {
		if settings, named, err := asRead(ctx, byHand, own); !named {
			return settings, err
		}
	}
	return nil, err
}

// noFile is the path of a file that does not exist. A missing file counts as empty.
const noFile = "(read by config.LoadDefaultConfig)"

// lastOf returns the strongest of the files of an option, or "" if the option was not given.
func lastOf(files []string) string {
	if files == nil {
		return ""
	}
	return append([]string{noFile}, files...)[len(files)]
}

// asRead resolves the settings from what the SDK has read and from the options own, without files and
// variables. named reports whether own names a profile, a file, an environment or a file system: then
// the result does not count.
func asRead(ctx context.Context, read values, own []awsretry.ResolveOption) (settings *awsretry.Settings, named bool, err error) {
	var variables bool
	var files noFiles
	settings, err = awsretry.Resolve(ctx, slices.Concat([]awsretry.ResolveOption{
		awsretry.WithEnv(func(string) (string, bool) { variables = true; return "", false }),
		awsretry.WithFS(&files), awsretry.WithConfigFile(noFile), awsretry.WithCredentialsFile(noFile),
		read.option(),
	}, own)...)
	_, profile := errors.AsType[*retryconfig.ProfileNotFoundError](err)
	return settings, !variables || files.opened < 2 || profile, err
}

// noFiles is a file system without files. It counts how often noFile was to be opened.
type noFiles struct{ opened int }

func (f *noFiles) Open(name string) (fs.File, error) {
	if name == noFile {
		f.opened++
	}
	return nil, fs.ErrNotExist
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
