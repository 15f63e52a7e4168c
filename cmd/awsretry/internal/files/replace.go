// Package files writes files.
package files

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Replace writes a file. On a full disk an older file stays as it is: the new one is made beside it with its mode and
// owner, and takes its place when it is complete. A pipe, a device, and a file beside which none can be made are written
// in place.
func Replace(name string, text []byte) error {
	inPlace := func() error { return os.WriteFile(name, text, 0o666) }
	old, err := os.Stat(name)
	if err == nil && !old.Mode().IsRegular() {
		return inPlace()
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	} else if old != nil { // a deleted file behind /dev/stdout
		return inPlace()
	}
	held := make(chan os.Signal, 1)
	signal.Notify(held, os.Interrupt, syscall.SIGTERM) // They would end the program, and leave the part.
	defer signal.Stop(held)
	mode := os.FileMode(0o666)
	if old != nil {
		mode = old.Mode().Perm()
	}
	part, err := os.OpenFile(name+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return inPlace()
	}
	defer func() { _ = os.Remove(part.Name()) }() // It is there if it has not become the file.
	if old != nil && keepOwner(part, old) != nil {
		return errors.Join(part.Close(), inPlace())
	}
	_, err = part.Write(text)
	if old != nil {
		err = errors.Join(err, part.Chmod(mode))
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	if os.Rename(part.Name(), name) != nil { // such as a file that is mounted by itself
		return inPlace()
	}
	return nil
}
