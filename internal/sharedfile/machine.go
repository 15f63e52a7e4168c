package sharedfile

import "io/fs"

// Machine is a file system on a machine of its own. package config asks it what it otherwise asks the
// operating system.
type Machine struct {
	// FS is the file system. Nil means that of the operating system.
	fs.FS
	// Platform is a GOOS value; empty means that of the program.
	Platform string
	// HomeDir returns the home directory for an environment without a variable for it. Nil means
	// that there is none, or with a nil FS that the system is asked.
	HomeDir func() (string, error)
	// Stream returns at most limit bytes of a pipe or a device, and of the standard input for the name "-",
	// and the same ones each time. Nil means that only regular files are read.
	Stream func(name string, limit int64) (string, error)
}
