// Package awsretry decides how an AWS client shall retry, and builds the strategy
// that does it.
//
// [Load] reads the retry settings as AWS tools do and returns a strategy for
// [retry.Do]. [Resolve] and [New] are its two steps, for those who want to look at
// the settings in between: each comes with where it was found and what it beat.
//
// A setting comes from the first of these that has it:
//
//	                    retry mode        attempts                 behavior
//	override in code    WithMode          WithMaxAttempts          WithBehavior
//	environment         AWS_RETRY_MODE    AWS_MAX_ATTEMPTS
//	credentials file    retry_mode        max_attempts
//	config file         retry_mode        max_attempts
//	default in code     WithDefaultMode   WithDefaultMaxAttempts
//	built-in            standard          3, 4 for DynamoDB        v2.1
//
// The strategies themselves are in modes/standard and modes/adaptive, the contract
// that they and their callers keep is in retry.
package awsretry
