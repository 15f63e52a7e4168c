package awssdk

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkconfig "github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
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
	return values{cmp.Or(v.mode, weaker.mode), cmp.Or(v.attempts, weaker.attempts)}
}

// ofConfig is the place of values that a config of the SDK has.
const ofConfig = "aws.Config"

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
	if v.attempts != 0 {
		most := min(uint64(v.attempts), math.MaxInt32) //nolint:gosec // below zero it becomes a large number
		given.MaxAttempts = json.Number(strconv.FormatUint(most, 10))
	}
	given.From(ofConfig)
	return awsretry.WithValues(given)
}

// resolve resolves the settings of a config. What the SDK has read is not read again, unless an option in more is about
// what is read, such as a profile or a file. The options override all other values. The attempts are those of the settings as
// a config of the SDK has them, or zero if nothing sets them.
func resolve(ctx context.Context, cfg aws.Config, more []awsretry.Option) (settings *awsretry.Settings, attempts int, err error) {
	own := only[awsretry.ResolveOption](more)
	var options sdkconfig.LoadOptions
	var read values
	for _, source := range cfg.ConfigSources {
		if source, ok := source.(sdkconfig.LoadOptions); ok {
			options = source
		}
		read = read.or(valuesOf(ctx, source))
	}
	set := values{cfg.RetryMode, cfg.RetryMaxAttempts}
	if len(only[awsretry.SourceOption](more)) == 0 {
		if cfg.Retryer != nil { // With a retryer the SDK leaves both fields empty.
			set = set.or(read)
		}
		nothing := func(string) (string, bool) { return "", false }
		settings, err = awsretry.Resolve(ctx, slices.Concat([]awsretry.ResolveOption{
			awsretry.WithSources(config.Sources{LookupEnv: nothing, FS: embed.FS{}}), set.option(),
		}, own)...)
		return settings, set.attemptsIn(settings), err
	}
	// The config has what the SDK has read too, which is weaker than what the options in more name.
	if set.mode == read.mode {
		set.mode = ""
	}
	if set.attempts == read.attempts {
		set.attempts = 0
	}
	set = set.or(values{options.RetryMode, options.RetryMaxAttempts})
	settings, err = awsretry.Resolve(ctx, slices.Concat([]awsretry.ResolveOption{
		awsretry.WithSources(config.Sources{
			Profile:    options.SharedConfigProfile,
			ConfigFile: lastOf(options.SharedConfigFiles), CredentialsFile: lastOf(options.SharedCredentialsFiles),
		}),
		set.option(),
	}, own)...)
	return settings, set.attemptsIn(settings), err
}

// attemptsIn returns the attempts of settings that v was given to, as a config of the SDK has them.
func (v values) attemptsIn(settings *awsretry.Settings) int {
	switch {
	case settings == nil || settings.MaxAttempts.Origin == (config.Origin{Kind: "default"}): // built in
		return 0
	case settings.MaxAttempts.Origin.Name == ofConfig:
		return v.attempts
	default:
		return settings.MaxAttempts.Value
	}
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

// only returns the options that are of the type O.
func only[O awsretry.Option](opts []awsretry.Option) (found []O) {
	for _, opt := range opts {
		if opt, ok := opt.(O); ok {
			found = append(found, opt)
		}
	}
	return found
}
