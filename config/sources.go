package config

import "io/fs"

// Sources says which profile is read, and where. The zero Sources reads the profile that the environment names, or else
// the profile default, from the environment, the file system and the home directory of the process.
//
// The variable HOME says what the home directory is, and on Windows others do after it. If none of them is set, it is
// the one that the system has for the user, unless FS is set: the files of another file system have nothing to do with
// the user of this one.
type Sources struct {
	// Profile names the profile and overrides AWS_PROFILE and AWS_DEFAULT_PROFILE. The name is used as is, and one of
	// the files must have the profile.
	Profile string

	// ConfigFile and CredentialsFile are the paths of the shared files. Empty means the path in the variable
	// AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE, or else the file .aws/config or .aws/credentials in the home
	// directory. A leading ~ before a separator is the home directory.
	ConfigFile, CredentialsFile string

	// LookupEnv returns a variable as [os.LookupEnv] does. Nil means the environment of the process.
	LookupEnv func(key string) (value string, ok bool)

	// FS is the file system. Nil means that of the operating system. An [fs.FS] has names with slashes and without a
	// root: the name of /home/me/.aws/config is home/me/.aws/config, and that of C:\me\.aws\config is
	// C:/me/.aws/config.
	FS fs.FS
}

// What can become of a file.
const (
	statusLoaded     = "loaded"
	statusMissing    = "missing"
	statusUnreadable = "unreadable"
)

// FileStatus says where a shared file was looked for and what became of it.
type FileStatus struct {
	// Kind is "config" or "credentials".
	Kind string `json:"kind"`
	// Path is the path of the file as it was opened, neither made absolute nor cleaned. It is empty if the home
	// directory was needed but is not known.
	Path string `json:"path"`
	// Status is "loaded" for a file that was read, "missing" for one that does not exist, and "unreadable" for one that
	// exists but cannot be read. The last two count as empty.
	Status string `json:"status"`
}
