package awssdk

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
)

// settingsOf returns what code has said about retry settings when cfg was made:
// what config.LoadDefaultConfig was called with, and what was put into cfg by hand.
// What came from the environment and from files is not in it.
func settingsOf(ctx context.Context, cfg aws.Config) ([]awsretry.Option, error) {
	var found []awsretry.Option
	loaded := sources{ctx: ctx}
	for _, source := range cfg.ConfigSources {
		if options, ok := source.(config.LoadOptions); ok {
			options, err := fromLoadOptions(options)
			if err != nil {
				return nil, err
			}
			found = append(found, options...)
		}
		loaded.add(source)
	}
	if cfg.RetryMode != "" && cfg.RetryMode != loaded.mode {
		found = append(found, awsretry.WithMode(awsretry.Mode(cfg.RetryMode)))
	}
	if cfg.RetryMaxAttempts != 0 && cfg.RetryMaxAttempts != loaded.attempts {
		found = append(found, awsretry.WithMaxAttempts(cfg.RetryMaxAttempts))
	}
	return found, nil
}

// noFile is the path of a file that is not to be read. One that is missing counts
// as empty.
const noFile = "(none)"

func fromLoadOptions(o config.LoadOptions) ([]awsretry.Option, error) {
	found := []awsretry.Option{awsretry.WithProfile(o.SharedConfigProfile)}
	if o.RetryMode != "" {
		found = append(found, awsretry.WithMode(awsretry.Mode(o.RetryMode)))
	}
	if o.RetryMaxAttempts != 0 {
		found = append(found, awsretry.WithMaxAttempts(o.RetryMaxAttempts))
	}
	for _, files := range []struct {
		option string
		paths  []string
		take   func(path string) awsretry.Option
	}{
		{"WithSharedConfigFiles", o.SharedConfigFiles, awsretry.WithConfigFile},
		{"WithSharedCredentialsFiles", o.SharedCredentialsFiles, awsretry.WithCredentialsFile},
	} {
		switch {
		case files.paths == nil:
		case len(files.paths) == 0:
			found = append(found, files.take(noFile))
		case len(files.paths) == 1:
			found = append(found, files.take(files.paths[0]))
		default:
			return nil, fmt.Errorf("awssdk: config.%s with %d files: there can be one; use WithStrategy", files.option, len(files.paths))
		}
	}
	return found, nil
}

// sources are the settings that the SDK takes from the first of its sources that
// has them.
type sources struct {
	ctx      context.Context //nolint:containedctx // for one function
	mode     aws.RetryMode
	attempts int
}

func (s *sources) add(source any) {
	if own, ok := source.(interface {
		GetRetryMode(ctx context.Context) (aws.RetryMode, bool, error)
	}); ok && s.mode == "" {
		s.mode, _, _ = own.GetRetryMode(s.ctx)
	}
	if own, ok := source.(interface {
		GetRetryMaxAttempts(ctx context.Context) (int, bool, error)
	}); ok && s.attempts == 0 {
		s.attempts, _, _ = own.GetRetryMaxAttempts(s.ctx)
	}
}
