// Package awsretry reads the retry settings that AWS tools share, and builds a retry strategy from them.
//
// # Retry an operation
//
// [Load] does both in one call. [retry.Do] runs any function with the strategy that Load returns; the package httpretry
// is for HTTP clients, and the module awssdk for clients of aws-sdk-go-v2. One strategy serves any number of operations
// at once.
//
// # Choose settings in code
//
// [WithMode] and [WithMaxAttempts] override all other sources. [WithDefaultMode] and the field MaxAttempts in
// [WithStandard] leave the choice to the environment and to the profile. The first source in this list that sets a
// value wins:
//
//	                    retry mode        attempts
//	override in code    WithMode          WithMaxAttempts
//	program's own       WithValues        WithValues
//	environment         AWS_RETRY_MODE    AWS_MAX_ATTEMPTS
//	credentials file    retry_mode        max_attempts
//	config file         retry_mode        max_attempts
//	default in code     WithDefaultMode   WithStandard
//	built-in default    standard          3, 4 for DynamoDB
//
// The profile is the one that [WithSources] names, else AWS_PROFILE, else AWS_DEFAULT_PROFILE, else default.
//
// # Let operators choose settings of the program
//
// Embed [Values] in the program's own configuration to get retry settings in its files and flags. [WithValues] uses
// them.
//
// # See where a value came from
//
// [Resolve] returns [Settings], which has the origin of each value and the values that it beat. Its method Explain
// prints all of that. [New] builds the strategy for these settings. The command
// "awsretry lint" says what is odd about the files.
//
// # Change what a strategy does
//
// [WithConfig] sets costs, delays, limits and the send rate. [WithClassifier] decides which errors are retried.
// [WithObserver] reports every attempt, retry and wait.
//
// # Share strategies
//
// A [Factory] returns the same strategy for the same key, so that the clients of a service or of a tenant share retry
// quotas and send rates.
//
// # Test code that retries
//
// [WithClock] and [WithRandom] replace the clock and the random numbers, and LookupEnv and FS in [WithSources] the
// environment and the files. A test that sets all four depends on nothing outside it.
//
// # Other packages
//
//   - [retry]: the loop, the interface of strategies, events, and errors;
//   - [standard] and [adaptive]: the strategies of the two modes;
//   - [classify]: the rules that decide which errors are retried;
//   - [config]: the settings;
//   - [clock]: the interface of clocks, and a fake clock;
//   - ratelimit: the send rate of adaptive mode;
//   - httpretry: a round tripper that retries HTTP requests;
//   - awssdk, a module of its own: strategies for clients of aws-sdk-go-v2.
package awsretry
