package config

import (
	"errors"
	"io/fs"
	"os/user"
	"strings"
)

// location is where a shared file is looked for, and who said so.
type location struct {
	kind   FileKind
	path   string
	origin Origin
}

// locator finds the two files by the rules of AWS tools. It asks for the home
// directory only when a path needs it, and then once.
type locator struct {
	src    Sources
	asked  bool
	home   string
	failed bool
}

func (l *locator) config() location {
	return l.locate(KindConfig, l.src.ConfigFile, "WithConfigFile", EnvConfigFile)
}

func (l *locator) credentials() location {
	return l.locate(KindCredentials, l.src.CredentialsFile, "WithCredentialsFile", EnvCredentialsFile)
}

func (l *locator) locate(kind FileKind, given, option, variable string) location {
	if given != "" {
		return location{kind, l.expand(given), Origin{Kind: OriginOption, Name: l.src.OptionName(option)}}
	}
	if path, ok := l.src.Env(variable); ok {
		return location{kind, l.expand(path), Origin{Kind: OriginEnvironment, Name: variable}}
	}
	place := location{kind: kind, origin: Origin{Kind: OriginDefault}}
	if home := l.homeDir(); home != "" {
		sep := l.separator()
		place.path = strings.TrimSuffix(home, sep) + sep + ".aws" + sep + string(kind)
	}
	return place
}

// expand replaces a leading ~ that stands alone or before a separator. Without
// a home directory the path stays as it is.
func (l *locator) expand(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok {
		return path
	}
	windows := l.src.windows()
	if rest != "" && rest[0] != '/' && (!windows || rest[0] != '\\') {
		return path
	}
	home := l.homeDir()
	if home == "" {
		return path
	}
	if rest != "" {
		home = strings.TrimSuffix(home, l.separator())
	}
	return home + rest
}

// homeDir is HOME; on Windows then USERPROFILE, then HOMEDRIVE and HOMEPATH;
// then what the system says; and "" if none of them says anything.
func (l *locator) homeDir() string {
	if l.asked {
		return l.home
	}
	l.asked = true
	l.home = l.findHome()
	l.failed = l.home == ""
	return l.home
}

func (l *locator) findHome() string {
	if home, ok := l.src.Env("HOME"); ok {
		return home
	}
	if l.src.windows() {
		if home, ok := l.src.Env("USERPROFILE"); ok {
			return home
		}
		drive, okDrive := l.src.Env("HOMEDRIVE")
		path, okPath := l.src.Env("HOMEPATH")
		if okDrive && okPath {
			return drive + path
		}
	}
	ask := l.src.HomeDir
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
	if l.src.windows() {
		return `\`
	}
	return "/"
}

// diagnose tells of a home directory that was needed and not found.
func (l *locator) diagnose() []Diagnostic {
	if !l.failed {
		return nil
	}
	return []Diagnostic{{
		Severity: SeverityWarning, Code: CodeNoHome,
		Message: "no home directory: HOME is not set and the system knows none, so the shared files in it are not read",
	}}
}

// status tells what became of the file, from the error of reading it.
func (p location) status(err error) FileStatus {
	status := StatusLoaded
	switch {
	case errors.Is(err, fs.ErrNotExist):
		status = StatusMissing
	case err != nil:
		status = StatusUnreadable
	}
	return FileStatus{Kind: p.kind, Path: p.path, Status: status}
}

// diagnose tells of a file that was named and is not there, and of one that is
// there and cannot be read.
func (p location) diagnose(err error) []Diagnostic {
	d := Diagnostic{Severity: SeverityWarning, File: p.path}
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist) && p.origin.Kind == OriginDefault:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		d.Code = CodeMissingFile
		d.Message = p.origin.String() + " names a " + string(p.kind) + " file that does not exist"
	default:
		d.Code = CodeUnreadableFile
		d.Message = "the " + string(p.kind) + " file counts as empty: it cannot be read: " + reason(err).Error()
	}
	return []Diagnostic{d}
}

// reason is an error of reading without the path, which is shown beside it.
func reason(err error) error {
	if u, ok := errors.AsType[*UnreadableError](err); ok {
		return u.Err
	}
	return err
}
