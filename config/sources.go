package config

import (
	"io/fs"
	"os"
	"runtime"
)

// Sources says where settings are read from. The zero value is the environment,
// the file system and the home directory of this process.
type Sources struct {
	// ConfigFile and CredentialsFile are paths that code gave. Empty means the
	// variable AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE, or else the file
	// .aws/config or .aws/credentials in the home directory.
	ConfigFile, CredentialsFile string

	// LookupEnv finds a variable; nil means the environment of the process.
	LookupEnv func(key string) (value string, ok bool)

	// FS is the file system; nil means the operating system's. An [fs.FS] knows
	// only slashes and no root: /home/me/.aws/config is looked up in it as
	// home/me/.aws/config, and C:\me\.aws\config as C:/me/.aws/config.
	FS fs.FS

	// Platform is a GOOS value; empty means that of the process. Only "windows"
	// makes a difference: in finding the home directory and in paths.
	Platform string

	// OptionNames is what a program calls the options of the library in texts and
	// origins, such as "--config-file" for WithConfigFile; the others keep their
	// names.
	OptionNames map[string]string

	// HomeDir tells the home directory that the operating system knows, for when
	// no variable does; nil means the entry of the current user.
	HomeDir func() (string, error)
}

// FileKind says which of the two shared files is meant.
type FileKind string

// The two shared files.
const (
	KindConfig      FileKind = "config"
	KindCredentials FileKind = "credentials"
)

// Status says what became of a file.
type Status string

// What can become of a file.
const (
	// StatusLoaded is for a file that was read.
	StatusLoaded Status = "loaded"
	// StatusMissing is for a file that does not exist; it counts as empty.
	StatusMissing Status = "missing"
	// StatusUnreadable is for a file that exists and cannot be read; it counts as empty.
	StatusUnreadable Status = "unreadable"
)

// FileStatus says where a shared file was looked for and what became of it.
// Path is what was opened: not made absolute, not cleaned, and empty when no
// home directory could be found.
type FileStatus struct {
	Kind   FileKind `json:"kind"`
	Path   string   `json:"path"`
	Status Status   `json:"status"`
}

// Env looks a variable up. One that is empty counts as unset.
func (s Sources) Env(key string) (string, bool) {
	lookup := s.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	value, ok := lookup(key)
	return value, ok && value != ""
}

// windows says whether the rules of Windows apply.
func (s Sources) windows() bool {
	if s.Platform == "" {
		return runtime.GOOS == "windows"
	}
	return s.Platform == "windows"
}

// OptionName gives the name of an option of the library as OptionNames has it.
func (s Sources) OptionName(name string) string {
	if other := s.OptionNames[name]; other != "" {
		return other
	}
	return name
}
