package sharedfile

// The keys of the retry settings.
const (
	RetryMode   = "retry_mode"
	MaxAttempts = "max_attempts"
)

// DefaultProfile is the name of the profile that is used if none is named.
const DefaultProfile = "default"

// The variables that say what the files say, or where the files and the profile are.
const (
	EnvRetryMode       = "AWS_RETRY_MODE"
	EnvMaxAttempts     = "AWS_MAX_ATTEMPTS"
	EnvProfile         = "AWS_PROFILE"
	EnvDefaultProfile  = "AWS_DEFAULT_PROFILE"
	EnvConfigFile      = "AWS_CONFIG_FILE"
	EnvCredentialsFile = "AWS_SHARED_CREDENTIALS_FILE"
)
