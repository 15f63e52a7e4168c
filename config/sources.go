package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path"
	"runtime"
	"strings"
	"unicode/utf8"
)

// maxFileSize is the limit on the size of a shared file in bytes, 16 MiB.
const maxFileSize = 16 << 20

// Sources says where settings are read from. The zero value is the environment,
// the file system and the home directory of this process.
type Sources struct {
	// ConfigFile and CredentialsFile are paths that code gave. Empty means the
	// variable AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE, or else the file
	// .aws/config or .aws/credentials in the home directory. A leading ~ before a
	// separator is the home directory.
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

// FileStatus says where a shared file was looked for and what became of it. Path is
// neither made absolute nor cleaned, and empty when no home directory was found.
type FileStatus struct {
	Kind   FileKind `json:"kind"`
	Path   string   `json:"path"`
	Status Status   `json:"status"`
}

// file is one of the two files as it was read.
type file struct {
	FileStatus
	data     []byte // Without a byte-order mark.
	bom      bool
	valid    bool // The data is UTF-8 from end to end.
	comments bool // There is a # or ; somewhere in the data.
}

// open finds and reads the two shared files: config, then credentials. A file that
// is missing or cannot be read counts as empty, which its status and the
// diagnostics tell. A file that cannot be read is a *[UnreadableError] if its path
// came from code; one above the limit always is.
func (s Sources) open() (files [2]*file, found []Diagnostic, err error) {
	l := &locator{Sources: s}
	for i, place := range []location{
		l.locate(KindConfig, s.ConfigFile, envConfigFile),
		l.locate(KindCredentials, s.CredentialsFile, envCredentialsFile),
	} {
		data, err := s.read(place.path)
		if unreadable, ok := errors.AsType[*UnreadableError](err); ok {
			unreadable.Kind = place.kind
			if errors.Is(err, ErrTooLarge) || place.byCode {
				return files, nil, err
			}
		}
		files[i] = place.file(data, err)
		found = place.diagnose(found, err)
	}
	if l.asked && l.home == "" {
		found = append([]Diagnostic{{
			Severity: SeverityWarning, Code: CodeNoHome,
			Message: "no home directory: HOME is not set and the system knows none, so the shared files in it are not read",
		}}, found...)
	}
	return files, found, nil
}

// location is where a shared file is looked for, and why there.
type location struct {
	kind     FileKind
	path     string
	byCode   bool
	variable string // The variable that named it, or empty.
}

func (p location) file(data []byte, err error) *file {
	f := &file{FileStatus: FileStatus{Kind: p.kind, Path: p.path, Status: StatusLoaded}}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Status = StatusMissing
	case err != nil:
		f.Status = StatusUnreadable
	}
	f.data, f.bom = bytes.CutPrefix(data, []byte("\uFEFF"))
	f.valid = utf8.Valid(f.data)
	f.comments = bytes.IndexByte(f.data, '#') >= 0 || bytes.IndexByte(f.data, ';') >= 0
	return f
}

// diagnose tells of a file that was named and is not there, and of one that is
// there and cannot be read.
func (p location) diagnose(found []Diagnostic, err error) []Diagnostic {
	d := Diagnostic{Severity: SeverityWarning, File: p.path}
	switch {
	case err == nil:
		return found
	case !errors.Is(err, fs.ErrNotExist):
		d.Code = CodeUnreadableFile
		if e, ok := errors.AsType[*UnreadableError](err); ok {
			err = e.Err
		}
		d.Message = "the " + string(p.kind) + " file counts as empty: it cannot be read: " + err.Error()
	case p.byCode:
		d.Code = CodeMissingFile
		d.Message = "the " + string(p.kind) + " file that an option names does not exist"
	case p.variable != "":
		d.Code = CodeMissingFile
		d.Message = "the " + string(p.kind) + " file that " + p.variable + " names does not exist"
	default:
		return found
	}
	return append(found, d)
}

// locator finds the two files by rules R19 and R20. It asks for the home
// directory only when a path needs it, and then once.
type locator struct {
	Sources
	asked bool
	home  string
}

func (l *locator) locate(kind FileKind, given, variable string) location {
	if given != "" {
		return location{kind: kind, path: l.expand(given), byCode: true}
	}
	if name, ok := l.env(variable); ok {
		return location{kind: kind, path: l.expand(name), variable: variable}
	}
	place := location{kind: kind}
	if home := l.homeDir(); home != "" {
		sep := l.separator()
		place.path = strings.TrimSuffix(home, sep) + sep + ".aws" + sep + string(kind)
	}
	return place
}

// expand replaces a leading ~ that stands alone or before a separator. Without
// a home directory the path stays as it is.
func (l *locator) expand(name string) string {
	rest, ok := strings.CutPrefix(name, "~")
	if !ok || rest != "" && rest[0] != '/' && (rest[0] != '\\' || !l.windows()) {
		return name
	}
	home := l.homeDir()
	if home == "" {
		return name
	}
	if rest != "" {
		home = strings.TrimSuffix(home, l.separator())
	}
	return home + rest
}

func (l *locator) homeDir() string {
	if !l.asked {
		l.asked, l.home = true, l.findHome()
	}
	return l.home
}

// findHome follows rule R19.
func (l *locator) findHome() string {
	if home, ok := l.env("HOME"); ok {
		return home
	}
	if l.windows() {
		if home, ok := l.env("USERPROFILE"); ok {
			return home
		}
		drive, okDrive := l.env("HOMEDRIVE")
		dir, okDir := l.env("HOMEPATH")
		if okDrive && okDir {
			return drive + dir
		}
	}
	ask := l.HomeDir
	if ask == nil {
		ask = userHome
	}
	home, err := ask()
	if err != nil {
		return ""
	}
	return home
}

func userHome() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

func (l *locator) separator() string {
	if l.windows() {
		return `\`
	}
	return "/"
}

// env looks a variable up. One that is empty counts as unset.
func (s Sources) env(key string) (string, bool) {
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

// read returns the bytes of a file. The error is one that fs.ErrNotExist matches,
// also for an empty path, or an *[UnreadableError]. Only a regular file is
// opened, since opening a pipe waits for its writer; no more than the limit is
// read, also if the file grows meanwhile.
func (s Sources) read(name string) ([]byte, error) {
	switch name {
	case "":
		return nil, fs.ErrNotExist
	case os.DevNull: // The usual way to name no file.
		return nil, nil
	}
	info, err := s.stat(name)
	if err != nil {
		return nil, notRead(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, notRead(name, ErrNotRegular)
	}
	if info.Size() > maxFileSize {
		return nil, &UnreadableError{File: name, Size: info.Size(), Err: ErrTooLarge}
	}
	file, err := s.openFile(name)
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
	data := make([]byte, 0, min(size, maxFileSize)+1)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case len(data) > maxFileSize:
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
		return fs.ErrNotExist
	}
	e := &UnreadableError{File: name, Err: err}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		e.Err = inner.Err
	}
	if errors.Is(err, ErrTooLarge) {
		e.Size = maxFileSize + 1
	}
	return e
}

func (s Sources) stat(name string) (fs.FileInfo, error) {
	if s.FS == nil {
		return os.Stat(name)
	}
	return fs.Stat(s.FS, s.inFS(name))
}

func (s Sources) openFile(name string) (fs.File, error) {
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
