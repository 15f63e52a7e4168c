//go:build unix

package sharedfile

import (
	"errors"
	"io"
	"syscall"
)

// readRegular reads a regular file. Package os would take as long to make its objects as to read a small file.
func readRegular(name string) (string, error) {
	var info syscall.Stat_t
	if err := again(func() error { return syscall.Stat(name, &info) }); err != nil {
		return "", err
	}
	switch kind := info.Mode & syscall.S_IFMT; {
	case kind == syscall.S_IFDIR:
		return "", ErrDirectory
	case kind != syscall.S_IFREG:
		return "", ErrNotRegular
	case info.Size > maxFileSize:
		return "", ErrTooLarge
	}
	fd := -1
	err := again(func() (err error) {
		fd, err = syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return "", err
	}
	defer func() { _ = syscall.Close(fd) }() // Nothing was written, so closing loses nothing.
	return readAll(descriptor(fd), info.Size)
}

// descriptor is an open file.
type descriptor int

func (fd descriptor) Read(into []byte) (n int, err error) {
	err = again(func() (err error) {
		n, err = syscall.Read(int(fd), into)
		return err
	})
	if n <= 0 && err == nil {
		err = io.EOF
	}
	return max(n, 0), err
}

// again makes a call of the system until no signal interrupts it.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
