// Package machine lets tests say what the shared files are read on.
package machine

import "io/fs"

// FS is a file system on a machine of its own. package config asks it what it otherwise asks the
// operating system.
type FS struct {
	fs.FS
	// Platform is a GOOS value; empty means that of the program.
	Platform string
	// HomeDir returns the home directory for an environment without a variable for it. Nil means
	// that there is none.
	HomeDir func() (string, error)
}
