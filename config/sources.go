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

// Sources says where settings are read. The zero Sources is the environment, the file system
// and the home directory of the process.
type Sources struct {
	// ConfigFile and CredentialsFile are the paths of the shared files. Empty means the
	// path in the variable AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE, or else the file
	// .aws/config or .aws/credentials in the home directory. A leading ~ before a separator
	// stands for the home directory.
	ConfigFile, CredentialsFile string

	// LookupEnv returns a variable as [os.LookupEnv] does. Nil means the environment of the
	// process.
	LookupEnv func(key string) (value string, ok bool)

	// FS is the file system. Nil means that of the operating system. An [fs.FS] has names
	// with slashes and without a root: the name of /home/me/.aws/config is
	// home/me/.aws/config, and that of C:\me\.aws\config is C:/me/.aws/config.
	FS fs.FS

	// Platform is a GOOS value. It decides how the home directory is found and which
	// separators a path has: "windows" has its own rules, and all others are alike. Empty
	// means the platform of the process.
	Platform string

	// HomeDir returns the home directory for an environment without a variable for it. Nil
	// means the home directory of the current user, as the operating system knows it.
	HomeDir func() (string, error)
}

// The two shared files, and what can become of each.
const (
	kindConfig      = "config"
	kindCredentials = "credentials"

	statusLoaded     = "loaded"
	statusMissing    = "missing"
	statusUnreadable = "unreadable"
)

// FileStatus says where a shared file was looked for and what became of it.
type FileStatus struct {
	// Kind is "config" or "credentials".
	Kind string `json:"kind"`
	// Path is the path of the file as it was opened, neither made absolute nor cleaned. It
	// is empty if the home directory was needed and is not known.
	Path string `json:"path"`
	// Status is "loaded" for a file that was read, "missing" for one that does not exist,
	// and "unreadable" for one that exists and cannot be read. The last two count as empty.
	Status string `json:"status"`
}

// file is one of the two shared files as it was read.
type file struct {
	FileStatus
	data     []byte // Without a byte-order mark.
	bom      bool
	valid    bool // The data is UTF-8 from end to end.
	comments bool // There is a # or ; somewhere in the data.
}

// open finds and reads the two shared files: config, then credentials. A file that is missing
// or cannot be read counts as empty; its status and the diagnostics say so. The error is an
// *UnreadableError for a file that code named and that cannot be read, and for any file above
// the limit.
func (s Sources) open() (files [2]*file, found []Diagnostic, err error) {
	l := &locator{Sources: s}
	for i, place := range []location{
		l.locate(kindConfig, s.ConfigFile, envConfigFile),
		l.locate(kindCredentials, s.CredentialsFile, envCredentialsFile),
	} {
		data, err := s.read(place.path)
		if unreadable, ok := errors.AsType[*UnreadableError](err); ok {
			unreadable.Kind = place.kind
			if errors.Is(err, errTooLarge) || place.byCode {
				return files, nil, err
			}
		}
		files[i] = place.file(data, err)
		found = place.diagnose(found, err)
	}
	if l.asked && l.home == "" {
		found = append([]Diagnostic{{
			Severity: severityWarning, Code: codeNoHome,
			Message: "no home directory: HOME is not set and the system knows none, so the shared files in it are not read",
		}}, found...)
	}
	return files, found, nil
}

// location is where a shared file is looked for, and what named it.
type location struct {
	kind     string
	path     string
	byCode   bool
	variable string // The variable that named the file, or empty.
}

func (p location) file(data []byte, err error) *file {
	f := &file{FileStatus: FileStatus{Kind: p.kind, Path: p.path, Status: statusLoaded}}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Status = statusMissing
	case err != nil:
		f.Status = statusUnreadable
	}
	f.data, f.bom = bytes.CutPrefix(data, []byte("\uFEFF"))
	f.valid = utf8.Valid(f.data)
	f.comments = bytes.IndexByte(f.data, '#') >= 0 || bytes.IndexByte(f.data, ';') >= 0
	return f
}

// diagnose adds the finding about a file that was named and does not exist, or that exists
// and cannot be read.
func (p location) diagnose(found []Diagnostic, err error) []Diagnostic {
	d := Diagnostic{Severity: severityWarning, File: p.path}
	switch {
	case err == nil:
		return found
	case !errors.Is(err, fs.ErrNotExist):
		d.Code = codeUnreadableFile
		if e, ok := errors.AsType[*UnreadableError](err); ok {
			err = e.Err
		}
		d.Message = "the " + p.kind + " file counts as empty: it cannot be read: " + err.Error()
		if errors.Is(err, errDirectory) {
			return append(found, d, Diagnostic{
				Severity: severityWarning, Code: codeReadDifferently, File: p.path, Tools: []string{toolGo},
				Message: toolGo + ": a directory in the place of a file is refused",
			})
		}
	case p.byCode:
		d.Code = codeMissingFile
		d.Message = "the " + p.kind + " file that an option names does not exist"
	case p.variable != "":
		d.Code = codeMissingFile
		d.Message = "the " + p.kind + " file that " + p.variable + " names does not exist"
	default:
		return found
	}
	return append(found, d)
}

// locator finds the two files by rules R19 and R20. It looks for the home directory at most
// once, and only if a path needs it.
type locator struct {
	Sources
	asked bool
	home  string
}

func (l *locator) locate(kind string, given, variable string) location {
	if given != "" {
		return location{kind: kind, path: l.expand(given), byCode: true}
	}
	if name, ok := l.env(variable); ok {
		return location{kind: kind, path: l.expand(name), variable: variable}
	}
	place := location{kind: kind}
	if home := l.homeDir(); home != "" {
		sep := l.separator()
		place.path = strings.TrimSuffix(home, sep) + sep + ".aws" + sep + kind
	}
	return place
}

// expand replaces a leading ~ that stands alone or before a separator. If the home directory
// is not known, it returns the path as it is.
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

// env returns a variable. An empty variable counts as unset.
func (s Sources) env(key string) (string, bool) {
	value, ok := s.lookup(key)
	return value, ok && value != ""
}

// lookup returns a variable that is set, also an empty one.
func (s Sources) lookup(key string) (string, bool) {
	if s.LookupEnv == nil {
		return os.LookupEnv(key)
	}
	return s.LookupEnv(key)
}

// windows reports whether the rules of Windows apply.
func (s Sources) windows() bool {
	if s.Platform == "" {
		return runtime.GOOS == "windows"
	}
	return s.Platform == "windows"
}

// read returns the bytes of a file. The error is fs.ErrNotExist, also for an empty path, or
// an *UnreadableError. read opens only a regular file, because to open a pipe would wait for
// its writer. It reads no more than the limit, even if the file grows meanwhile.
func (s Sources) read(name string) ([]byte, error) {
	switch name {
	case "":
		return nil, fs.ErrNotExist
	case os.DevNull: // This path is the usual way to name no file.
		return nil, nil
	}
	info, err := s.stat(name)
	if err != nil {
		return nil, notRead(name, err)
	}
	if info.IsDir() {
		return nil, notRead(name, errDirectory)
	}
	if !info.Mode().IsRegular() {
		return nil, notRead(name, errNotRegular)
	}
	if info.Size() > maxFileSize {
		return nil, &UnreadableError{File: name, Size: info.Size(), Err: errTooLarge}
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

// readLimited reads all of r. If size is right, it allocates once.
func readLimited(r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, 0, min(size, maxFileSize)+1)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case len(data) > maxFileSize:
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// notRead returns the error for a file that cannot be read. It takes the path out of the
// system's error, because the UnreadableError names it.
func notRead(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	e := &UnreadableError{File: name, Err: err}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		e.Err = inner.Err
	}
	if errors.Is(err, errTooLarge) {
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

// inFS returns the name of a file in an fs.FS that holds the whole tree.
func (s Sources) inFS(name string) string {
	if s.windows() {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return strings.TrimPrefix(path.Clean(name), "/")
}
