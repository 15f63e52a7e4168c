package sharedfile

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
)

// maxFileSize is the limit on the size of a shared file in bytes, 4 MiB.
const maxFileSize = 4 << 20

// Sources says where settings are read. It is config.Sources, which has the meaning of the fields.
type Sources struct {
	Profile, ConfigFile, CredentialsFile string
	LookupEnv                            func(key string) (value string, ok bool)
	FS                                   fs.FS
}

// Machine is a file system on a machine of its own. package config asks it what it otherwise asks the operating system.
type Machine struct {
	// FS is the file system. Nil means that of the operating system.
	fs.FS
	// Platform is a GOOS value; empty means that of the program.
	Platform string
	// HomeDir returns the home directory for an environment without a variable for it. Nil means that there is none, or
	// with a nil FS that the system is asked.
	HomeDir func() (string, error)
	// Stream returns at most limit bytes of a pipe or a device, and of the standard input for the name "-", and the
	// same ones each time. Nil means that only regular files are read.
	Stream func(name string, limit int64) (string, error)
}

// Open finds and reads the two shared files. A file that is missing or cannot be read is empty and has an error.
func Open(s Sources) *Pair {
	o := opening{s, &Pair{Lookup: s.lookup, Windows: s.windows()}}
	o.Files[0] = o.locate(Config, s.ConfigFile, EnvConfigFile)
	o.Files[1] = o.locate(Credentials, s.CredentialsFile, EnvCredentialsFile)
	for i := range o.Files {
		f := &o.Files[i]
		data, err := s.read(f.Path, f.ByCode)
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err // The path is in f.
		}
		f.Err = err
		f.Raw = data
		f.Data, f.BOM = strings.CutPrefix(data, "\uFEFF")
		f.Valid = utf8.ValidString(f.Data)
		if f.UTF16 = isUTF16(data); f.UTF16 {
			f.Data = ""
		}
	}
	return o.Pair
}

// Fatal reports whether a file that was not read ends all reading: code has named it, or it is too large.
func (f *File) Fatal() bool {
	return f.Err != nil && !errors.Is(f.Err, fs.ErrNotExist) && (f.ByCode || errors.Is(f.Err, ErrTooLarge))
}

// isUTF16 reports whether a text is UTF-16: it begins with a byte-order mark of that and has characters of ASCII in two
// bytes each, or it begins with two of them. Behind a mark alone, the SDKs read lines of one byte a character.
func isUTF16(data string) bool {
	if strings.HasPrefix(data, "\xff\xfe") || strings.HasPrefix(data, "\xfe\xff") {
		return strings.IndexByte(data, 0) >= 0
	}
	return len(data) >= 4 && (data[0] == 0) != (data[1] == 0) && (data[0] == 0) == (data[2] == 0) && (data[1] == 0) == (data[3] == 0)
}

// opening is one Open.
type opening struct {
	Sources
	*Pair
}

// locate finds a file by rule R20. If a path begins with ~ and the home directory is not known, the path stays as it
// is.
func (o opening) locate(kind, given, variable string) File {
	f := File{Kind: kind, Path: given, ByCode: given != ""}
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
func (s Sources) machine() Machine {
	if m, ok := s.FS.(Machine); ok {
		return m
	}
	return Machine{FS: s.FS}
}

// windows reports whether the rules of Windows apply.
func (s Sources) windows() bool {
	return cmp.Or(s.machine().Platform, runtime.GOOS) == "windows"
}

// read returns the contents of a file. byCode says that code has named the file. It opens only a regular file, because
// opening a pipe would wait for its writer, unless the machine says how to read a pipe. It reads no more than the
// limit, even if the file grows meanwhile.
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
	data, err := "", error(nil)
	if on.FS == nil {
		data, err = readRegular(name)
	} else {
		data, err = readFrom(on.FS, s.inFS(name))
	}
	if err == ErrNotRegular && on.Stream != nil { //nolint:errorlint // Not of a directory.
		return upToLimit(on.Stream(name, maxFileSize+1))
	}
	return upToLimit(data, err)
}

// readFrom reads a regular file.
func readFrom(files fs.FS, name string) (string, error) {
	info, err := fs.Stat(files, name)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", ErrDirectory
	case !info.Mode().IsRegular():
		return "", ErrNotRegular
	case info.Size() > maxFileSize:
		return "", ErrTooLarge
	}
	file, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // Nothing was written, so closing loses nothing.
	return readAll(file, info.Size())
}

// readAll reads a file of some size, or some more of it than the limit.
func readAll(file io.Reader, size int64) (string, error) {
	var data strings.Builder
	data.Grow(int(max(size, 0)))
	_, err := io.CopyBuffer(&data, io.LimitReader(file, maxFileSize+1), make([]byte, min(max(size+1, 512), 1<<14)))
	return data.String(), err
}

func upToLimit(data string, err error) (string, error) {
	if err == nil && len(data) > maxFileSize {
		err = ErrTooLarge
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
