package config

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/awsretry/awsretry/internal/machine"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// maxFileSize is the limit on the size of a shared file in bytes, 4 MiB.
const maxFileSize = 4 << 20

// Sources says where settings are read. The zero Sources reads the environment, the file
// system and the home directory of the process.
//
// The variable HOME says what the home directory is, and on Windows others do after it. If none
// of them is set, it is the one that the system has for the user, unless FS is set: the files of
// another file system have nothing to do with the user of this one.
type Sources struct {
	// ConfigFile and CredentialsFile are the paths of the shared files. Empty means the path
	// in the variable AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE, or else the file
	// .aws/config or .aws/credentials in the home directory. A leading ~ before a separator is
	// the home directory.
	ConfigFile, CredentialsFile string

	// LookupEnv returns a variable as [os.LookupEnv] does. Nil means the environment of the
	// process.
	LookupEnv func(key string) (value string, ok bool)

	// FS is the file system. Nil means that of the operating system. An [fs.FS] has names
	// with slashes and without a root: the name of /home/me/.aws/config is
	// home/me/.aws/config, and that of C:\me\.aws\config is C:/me/.aws/config.
	FS fs.FS
}

// What can become of a file.
const (
	statusLoaded     = "loaded"
	statusMissing    = "missing"
	statusUnreadable = "unreadable"
)

// FileStatus says where a shared file was looked for and what became of it.
type FileStatus struct {
	// Kind is "config" or "credentials".
	Kind string `json:"kind"`
	// Path is the path of the file as it was opened, neither made absolute nor cleaned. It is
	// empty if the home directory was needed but is not known.
	Path string `json:"path"`
	// Status is "loaded" for a file that was read, "missing" for one that does not exist, and
	// "unreadable" for one that exists but cannot be read. The last two count as empty.
	Status string `json:"status"`
}

// byteOrderMark may stand at the start of a file (R01).
const byteOrderMark = "\uFEFF"

// Open finds and reads the two shared files for package lint. A file that is missing or cannot be read counts as
// empty. The error is an [*UnreadableError] for an unreadable file that code named, and for any file above the
// limit.
func (s Sources) Open() (*sharedfile.Pair, error) {
	l := &locator{Sources: s}
	pair := &sharedfile.Pair{Lookup: s.lookup, Windows: s.windows()}
	pair.Files[0] = l.locate(sharedfile.Config, s.ConfigFile, sharedfile.EnvConfigFile)
	pair.Files[1] = l.locate(sharedfile.Credentials, s.CredentialsFile, sharedfile.EnvCredentialsFile)
	pair.NoHome = l.unknown
	for _, f := range pair.Files {
		data, err := s.read(f.Path, f.ByCode)
		if e, ok := errors.AsType[*UnreadableError](err); ok {
			if e.Kind = f.Kind; f.ByCode || errors.Is(err, sharedfile.ErrTooLarge) {
				return nil, err
			}
			err = e.Err
		}
		f.Err = err
		f.Data, f.BOM = strings.CutPrefix(data, byteOrderMark)
		f.Valid = utf8.ValidString(f.Data)
		if f.UTF16 = isUTF16(data); f.UTF16 {
			f.Data = ""
		}
	}
	return pair, nil
}

// statuses returns what became of the files.
func statuses(pair *sharedfile.Pair) []FileStatus {
	all := make([]FileStatus, 0, len(pair.Files))
	for _, f := range pair.Files {
		status := statusUnreadable
		switch {
		case f.Err == nil:
			status = statusLoaded
		case errors.Is(f.Err, fs.ErrNotExist):
			status = statusMissing
		}
		all = append(all, FileStatus{f.Kind, f.Path, status})
	}
	return all
}

// isUTF16 reports whether a text is UTF-16: it begins with a byte-order mark of that, or with a character of
// ASCII in two bytes.
func isUTF16(data string) bool {
	if len(data) < 2 {
		return false
	}
	return data[:2] == "\xff\xfe" || data[:2] == "\xfe\xff" || (data[0] == 0) != (data[1] == 0)
}

// locator finds the two files by rules R19 and R20. It looks for the home directory at most
// once, and only if a path needs it.
type locator struct {
	Sources
	asked   bool
	home    string
	unknown bool // The system was asked for the home directory, and knows none.
}

func (l *locator) locate(kind string, given, variable string) *sharedfile.File {
	f := &sharedfile.File{Kind: kind, ByCode: given != ""}
	name := given
	if given == "" {
		var ok bool
		if name, ok = l.env(variable); ok {
			f.Variable = variable
		}
	}
	if name != "" {
		f.Path = l.expand(name)
	} else if home := l.homeDir(); home != "" {
		sep := l.separator()
		f.Path = strings.TrimSuffix(home, sep) + sep + ".aws" + sep + kind
	}
	return f
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
	ask := l.machine().HomeDir
	switch {
	case ask != nil:
	case l.system() == nil:
		ask = userHome
	default:
		return ""
	}
	home, err := ask()
	if err != nil {
		home = ""
	}
	l.unknown = home == ""
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

// lookup returns a variable that is set, even if it is empty.
func (s Sources) lookup(key string) (string, bool) {
	if s.LookupEnv == nil {
		return os.LookupEnv(key)
	}
	return s.LookupEnv(key)
}

// windows reports whether the rules of Windows apply.
func (s Sources) windows() bool {
	return cmp.Or(s.machine().Platform, runtime.GOOS) == "windows"
}

// system returns the file system, or nil for that of the operating system.
func (s Sources) system() fs.FS {
	if m, ok := s.FS.(machine.FS); ok {
		return m.FS
	}
	return s.FS
}

// machine returns what a test or the command says of the machine.
func (s Sources) machine() machine.FS {
	m, _ := s.FS.(machine.FS)
	return m
}

// read returns the contents of a file. The error is fs.ErrNotExist, also for an empty path, or
// an *UnreadableError. byCode says that code has named the file.
func (s Sources) read(name string, byCode bool) (string, error) {
	var data strings.Builder
	size, err := s.readInto(&data, name, byCode)
	switch {
	case err == nil:
		return data.String(), nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fs.ErrNotExist
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err // The UnreadableError names the path.
	}
	return "", &UnreadableError{File: name, Err: err, size: size}
}

// readInto reads a file. It opens only a regular file, because opening a pipe would wait for its
// writer, unless the machine says how to read a pipe. It reads no more than the limit, even if the file grows meanwhile. For a file above the
// limit it returns a lower bound of the size.
func (s Sources) readInto(data *strings.Builder, name string, byCode bool) (size int64, err error) {
	stream := s.machine().Stream
	switch {
	case name == "":
		return 0, fs.ErrNotExist
	case name == os.DevNull: // This path is the usual way to name no file.
		return 0, nil
	case name == "-" && byCode && stream != nil:
		return readStream(data, name, stream)
	}
	info, err := s.stat(name)
	switch {
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, sharedfile.ErrDirectory
	case !info.Mode().IsRegular() && stream != nil:
		return readStream(data, name, stream)
	case !info.Mode().IsRegular():
		return 0, sharedfile.ErrNotRegular
	case info.Size() > maxFileSize:
		return info.Size(), sharedfile.ErrTooLarge
	}
	file, err := s.openFile(name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // Nothing was written, so closing loses nothing.
	data.Grow(int(max(info.Size(), 0)))
	part := make([]byte, min(max(info.Size()+1, 512), 1<<14))
	for data.Len() <= maxFileSize {
		n, err := file.Read(part[:min(len(part), maxFileSize+1-data.Len())])
		data.Write(part[:n])
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return int64(data.Len()), sharedfile.ErrTooLarge
}

// readStream reads what is no regular file.
func readStream(data *strings.Builder, name string, stream func(string, int64) ([]byte, error)) (size int64, err error) {
	text, err := stream(name, maxFileSize+1)
	data.Write(text)
	if err == nil && len(text) > maxFileSize {
		return int64(len(text)), sharedfile.ErrTooLarge
	}
	return 0, err
}

func (s Sources) stat(name string) (fs.FileInfo, error) {
	fsys := s.system()
	if fsys == nil {
		return os.Stat(name)
	}
	return fs.Stat(fsys, s.inFS(name))
}

func (s Sources) openFile(name string) (fs.File, error) {
	fsys := s.system()
	if fsys == nil {
		return os.Open(name)
	}
	return fsys.Open(s.inFS(name))
}

// inFS returns the name of a file in an fs.FS that holds the whole tree.
func (s Sources) inFS(name string) string {
	if s.windows() {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return strings.TrimPrefix(path.Clean(name), "/")
}
