//go:build unix

package sharedfile

import (
	"errors"
	"os"
	"syscall"
)

// openRegular opens a regular file. os.Open would try to poll it first, which never works for such a file and takes as
// long as to read a small one.
func openRegular(name string) (*os.File, error) {
	for {
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), name), nil
		case !errors.Is(err, syscall.EINTR):
			return nil, err
		}
	}
}
