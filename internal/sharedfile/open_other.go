//go:build !unix

package sharedfile

import (
	"io/fs"
	"os"
)

func readRegular(name string) (string, error) { return readFrom(ofSystem{}, name) }

// ofSystem is the file system of the operating system, with its own names.
type ofSystem struct{}

func (ofSystem) Open(name string) (fs.File, error)     { return os.Open(name) }
func (ofSystem) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }
