package config

// Variables of the environment that are read.
const (
	// EnvRetryMode holds the retry mode.
	EnvRetryMode = "AWS_RETRY_MODE"
	// EnvMaxAttempts holds the number of attempts, the first included.
	EnvMaxAttempts = "AWS_MAX_ATTEMPTS"
	// EnvNewRetries chooses behavior v2.1 when it is true.
	EnvNewRetries = "AWS_NEW_RETRIES_2026"
	// EnvProfile holds the name of the profile.
	EnvProfile = "AWS_PROFILE"
	// EnvConfigFile holds the path of the config file.
	EnvConfigFile = "AWS_CONFIG_FILE"
	// EnvCredentialsFile holds the path of the credentials file.
	EnvCredentialsFile = "AWS_SHARED_CREDENTIALS_FILE"
)

// Variables that other tools read and this one does not; a diagnostic says so.
const (
	// EnvDefaultProfile is the old name of AWS_PROFILE in some tools.
	EnvDefaultProfile = "AWS_DEFAULT_PROFILE"
	// EnvSDKLoadConfig made an older SDK read the config file, which is always read here.
	EnvSDKLoadConfig = "AWS_SDK_LOAD_CONFIG"
)

// Keys of the retry settings in the shared files, and the name of the setting
// that has no key there.
const (
	// KeyRetryMode is the key of the retry mode.
	KeyRetryMode = "retry_mode"
	// KeyMaxAttempts is the key of the number of attempts.
	KeyMaxAttempts = "max_attempts"
	// KeyBehavior names the generation of behavior in errors; no file sets it.
	KeyBehavior = "behavior"
)

// DefaultProfile is the name of the profile that is used when nobody names one.
const DefaultProfile = "default"
