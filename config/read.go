package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// read gives the bytes of a file. The error is one that fs.ErrNotExist matches,
// also for an empty path, or an *[UnreadableError]. Only a regular file is
// opened, since opening a pipe waits for its writer; no more than the limit is
// read, also if the file grows meanwhile.
func (s Sources) read(name string) ([]byte, error) {
	if name == "" {
		return nil, fs.ErrNotExist
	}
	info, err := s.stat(name)
	if err != nil {
		return nil, notRead(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, notRead(name, ErrNotRegular)
	}
	if info.Size() > MaxFileSize {
		return nil, &UnreadableError{File: name, Size: info.Size(), Err: ErrTooLarge}
	}
	file, err := s.open(name)
	if err != nil {
		return nil, notRead(name, err)
	}
	defer func() { _ = file.Close() }() // Nothing was written, so closing loses nothing.
	data, err := readLimited(file, info.Size())
	if err != nil {
		return nil, notRead(name, err)
	}
	return data, nil
}

// readLimited reads what is there, in one piece of memory if size is right.
func readLimited(r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, 0, min(size, MaxFileSize)+1)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case len(data) > MaxFileSize:
			return nil, ErrTooLarge
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// notRead makes the error of a file that cannot be read. The path is taken out
// of the system's error, as it is said already.
func notRead(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	e := &UnreadableError{File: name, Err: err}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		e.Err = inner.Err
	}
	if errors.Is(err, ErrTooLarge) {
		e.Size = MaxFileSize + 1
	}
	return e
}

func (s Sources) stat(name string) (fs.FileInfo, error) {
	if s.FS == nil {
		return os.Stat(name)
	}
	return fs.Stat(s.FS, s.inFS(name))
}

func (s Sources) open(name string) (fs.File, error) {
	if s.FS == nil {
		return os.Open(name)
	}
	return s.FS.Open(s.inFS(name))
}

// inFS is the name of a file in an fs.FS that holds the whole tree.
func (s Sources) inFS(name string) string {
	if s.windows() {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return strings.TrimPrefix(path.Clean(name), "/")
}
