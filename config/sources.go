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

// Open finds and reads the two shared files for package lint. A file that is missing or cannot be read counts as
// empty. The error is an [*UnreadableError] for an unreadable file that code named, and for any file above the
// limit.
func (s Sources) Open() (*sharedfile.Pair, error) {
	o := opening{s, &sharedfile.Pair{Lookup: s.lookup, Windows: s.windows()}}
	o.Files[0] = o.locate(sharedfile.Config, s.ConfigFile, sharedfile.EnvConfigFile)
	o.Files[1] = o.locate(sharedfile.Credentials, s.CredentialsFile, sharedfile.EnvCredentialsFile)
	for i := range o.Files {
		f := &o.Files[i]
		data, err := s.read(f.Path, f.ByCode)
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err // The path is in f.
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && (f.ByCode || errors.Is(err, sharedfile.ErrTooLarge)) {
			return nil, &UnreadableError{Kind: f.Kind, File: f.Path, Err: err}
		}
		f.Err = err
		f.Data, f.BOM = strings.CutPrefix(data, "\uFEFF")
		f.Valid = utf8.ValidString(f.Data)
		if f.UTF16 = isUTF16(data); f.UTF16 {
			f.Data = ""
		}
	}
	return o.Pair, nil
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

// isUTF16 reports whether a text is UTF-16: it begins with a byte-order mark of that, or with two characters of ASCII in
// two bytes each.
func isUTF16(data string) bool {
	if strings.HasPrefix(data, "\xff\xfe") || strings.HasPrefix(data, "\xfe\xff") {
		return true
	}
	return len(data) >= 4 && (data[0] == 0) != (data[1] == 0) && (data[0] == 0) == (data[2] == 0) && (data[1] == 0) == (data[3] == 0)
}

// opening is one Open.
type opening struct {
	Sources
	*sharedfile.Pair
}

// locate finds a file by rule R20. If a path begins with ~ and the home directory is not known, the path stays as it is.
func (o opening) locate(kind, given, variable string) sharedfile.File {
	f := sharedfile.File{Kind: kind, Path: given, ByCode: given != ""}
	if value := o.env(variable); value != "" && !f.ByCode {
		f.Path, f.Variable = value, variable
	}
	separator := "/"
	if o.Windows {
		separator = `\`
	}
	rest, inHome := strings.CutPrefix(cmp.Or(f.Path, "~"+separator+".aws"+separator+kind), "~")
	if !inHome || rest != "" && rest[:1] != "/" && rest[:1] != separator {
		return f
	}
	if home := o.home(); home != "" && rest == "" {
		f.Path = home
	} else if home != "" {
		f.Path = strings.TrimSuffix(home, separator) + rest
	}
	return f
}

// home returns the home directory by rule R19, or "".
func (o opening) home() string {
	home := o.env("HOME")
	if home == "" && o.Windows {
		home = o.env("USERPROFILE")
		if drive, dir := o.env("HOMEDRIVE"), o.env("HOMEPATH"); home == "" && drive != "" && dir != "" {
			home = drive + dir
		}
	}
	on := o.machine()
	switch {
	case home != "":
		return home
	case on.HomeDir != nil:
		home, _ = on.HomeDir()
	case on.FS == nil:
		if u, err := user.Current(); err == nil {
			home = u.HomeDir
		}
	default:
		return ""
	}
	o.NoHome = home == ""
	return home
}

// env returns a variable, or "" for one that is unset.
func (s Sources) env(key string) string {
	value, _ := s.lookup(key)
	return value
}

// lookup returns a variable that is set, even if it is empty. One that is not set has no value, whatever LookupEnv
// returns for it.
func (s Sources) lookup(key string) (value string, ok bool) {
	if s.LookupEnv == nil {
		return os.LookupEnv(key)
	}
	if value, ok = s.LookupEnv(key); !ok {
		return "", false
	}
	return value, true
}

// machine returns the file system and what a test or the command says of the machine.
func (s Sources) machine() sharedfile.Machine {
	if m, ok := s.FS.(sharedfile.Machine); ok {
		return m
	}
	return sharedfile.Machine{FS: s.FS}
}

// windows reports whether the rules of Windows apply.
func (s Sources) windows() bool {
	return cmp.Or(s.machine().Platform, runtime.GOOS) == "windows"
}

// read returns the contents of a file. byCode says that code has named the file. It opens only a regular file,
// because opening a pipe would wait for its writer, unless the machine says how to read a pipe. It reads no more than
// the limit, even if the file grows meanwhile.
func (s Sources) read(name string, byCode bool) (string, error) {
	on := s.machine()
	switch {
	case name == "":
		return "", fs.ErrNotExist
	case name == os.DevNull: // This path is the usual way to name no file.
		return "", nil
	case name == "-" && byCode && on.Stream != nil:
		return upToLimit(on.Stream(name, maxFileSize+1))
	}
	files, inner := on.FS, name
	if files == nil {
		files = ofSystem{}
	} else {
		inner = s.inFS(name)
	}
	info, err := fs.Stat(files, inner)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", sharedfile.ErrDirectory
	case !info.Mode().IsRegular() && on.Stream != nil:
		return upToLimit(on.Stream(name, maxFileSize+1))
	case !info.Mode().IsRegular():
		return "", sharedfile.ErrNotRegular
	case info.Size() > maxFileSize:
		return "", sharedfile.ErrTooLarge
	}
	file, err := files.Open(inner)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // Nothing was written, so closing loses nothing.
	var data strings.Builder
	size := int(max(info.Size(), 0))
	data.Grow(size)
	_, err = io.CopyBuffer(&data, io.LimitReader(file, maxFileSize+1), make([]byte, min(max(size+1, 512), 1<<14)))
	return upToLimit(data.String(), err)
}

func upToLimit(data string, err error) (string, error) {
	if err == nil && len(data) > maxFileSize {
		err = sharedfile.ErrTooLarge
	}
	if err != nil {
		return "", err
	}
	return data, nil
}

// inFS returns the name of a file in an fs.FS that holds the whole tree.
func (s Sources) inFS(name string) string {
	if s.windows() {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return strings.TrimPrefix(path.Clean(name), "/")
}

// ofSystem is the file system of the operating system, with its own names.
type ofSystem struct{}

func (ofSystem) Open(name string) (fs.File, error)     { return openRegular(name) }
func (ofSystem) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }
