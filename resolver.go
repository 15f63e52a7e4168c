package awsretry

import (
	"context"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Resolve decides how a client shall retry. Each setting comes from the first
// of these that has it:
//
//  1. an override in code, such as [WithMode];
//  2. the environment: AWS_RETRY_MODE and AWS_MAX_ATTEMPTS;
//  3. the profile: retry_mode and max_attempts in the credentials file, then in
//     the config file;
//  4. a default in code, such as [WithDefaultMode];
//  5. the built-in default: standard, v2.1, 3 attempts, 4 for DynamoDB.
//
// The profile is [WithProfile], else AWS_PROFILE, else AWS_DEFAULT_PROFILE, else
// default.
//
// A value is an error only if it wins: a *config.ValueError, which names its
// place. One that loses is a warning. The other errors are
// *config.ProfileNotFoundError for a profile that [WithProfile] or a variable
// named, *config.UnreadableError for a file that an option named and that cannot be
// read and for one above 16 MiB, with [WithStrict] *config.ParseError, and the error
// of a ctx that is done at the start. No error contains a value other than that of a
// retry setting.
//
// Resolve may be called by several goroutines at once.
func Resolve(ctx context.Context, opts ...Option) (*Settings, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	query := collect(opts).query
	query.BuiltInAttempts = func(b retry.Behavior) int { return builtInAttempts(b, query.Service) }
	return query.Resolve()
}

// builtInAttempts returns how many attempts an operation of a service has where no number
// is set.
func builtInAttempts(b retry.Behavior, service string) int {
	s, err := standard.New(standard.Config{Behavior: b, Service: service})
	if err != nil {
		return 0 // a behavior that does not exist is refused elsewhere
	}
	return s.Plan(retry.Operation{}).MaxAttempts
}
