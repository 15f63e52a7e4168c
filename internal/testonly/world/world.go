// Package world has the machines, files and environments that tests of the settings read.
package world

import (
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing/fstest"
	"time"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/retry"
)

// LookupIn returns an environment.
func LookupIn(env map[string]string) func(string) (string, bool) {
	return func(key string) (string, bool) {
		value, ok := env[key]
		return value, ok
	}
}

// On returns files on a machine with a platform.
func On(platform string, fsys fs.FS) fs.FS { return sharedfile.Machine{FS: fsys, Platform: platform} }

// As returns sources with the name of a profile.
func As(src config.Sources, profile string) config.Sources {
	src.Profile = profile
	return src
}

// Texts returns sources of two files, /c and /k, and an empty environment.
func Texts(configText, credentialsText string) config.Sources {
	return config.Sources{
		ConfigFile: "/c", CredentialsFile: "/k", LookupEnv: LookupIn(nil),
		FS: On("linux", fstest.MapFS{"c": {Data: []byte(configText)}, "k": {Data: []byte(credentialsText)}}),
	}
}

// Named returns sources of a config file that the environment names, and no credentials file.
func Named(path string) config.Sources {
	return config.Sources{LookupEnv: LookupIn(map[string]string{
		"AWS_CONFIG_FILE": path, "AWS_SHARED_CREDENTIALS_FILE": path + ".none",
	})}
}

// WithHome returns sources of a file system, and of an environment with only the home directory.
func WithHome(fsys fs.FS) config.Sources {
	return config.Sources{FS: On("linux", fsys), LookupEnv: LookupIn(map[string]string{"HOME": "/h"})}
}

// Home is the home directory of a machine, with its environment and its two files. A file with an
// empty text does not exist.
type Home struct {
	Env                 map[string]string
	Config, Credentials string
}

// Query returns the query for the settings of the machine.
func (h Home) Query() config.Query {
	files := fstest.MapFS{}
	for name, text := range map[string]string{"h/.aws/config": h.Config, "h/.aws/credentials": h.Credentials} {
		if text != "" {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	env := map[string]string{"HOME": "/h"}
	maps.Copy(env, h.Env)
	return config.Query{Sources: config.Sources{FS: On("linux", files), LookupEnv: LookupIn(env)}}
}

// Option returns a value as an option sets it.
func Option[T config.Mode | int | time.Duration | retry.Behavior](name, setting string, value T) config.Candidate {
	return config.Typed(config.Origin{Kind: "option", Name: name}, setting, value)
}

// InConfig returns a value as WithConfig sets it.
func InConfig[T config.Mode | int | time.Duration | retry.Behavior](setting string, value T) config.Candidate {
	return config.Typed(config.Origin{Kind: "default", Name: "WithConfig"}, setting, value)
}

// Permitted returns a file system that respects the permissions of files for root too, although
// the machine lets root read every file. For any other user it returns nil, the file system of the
// machine.
func Permitted() fs.FS {
	if os.Geteuid() != 0 {
		return nil
	}
	return obeying{}
}

// obeying is the file system of the machine without files that their owner may not read.
type obeying struct{}

func (obeying) Open(name string) (fs.File, error) {
	path := "/" + strings.TrimPrefix(name, "/")
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().Perm()&0o400 == 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	default:
		return os.Open(path)
	}
}

func (obeying) Stat(name string) (fs.FileInfo, error) {
	return os.Stat("/" + strings.TrimPrefix(name, "/"))
}

// RawProfiles returns all values of all profiles, secrets included. A property with
// sub-properties has a map of them. The values come from the data, not from ini.v1.
func RawProfiles(src config.Sources) (map[string]map[string]any, error) {
	pair := sharedfile.Open(sharedfile.Sources(src))
	for i := range pair.Files {
		if f := &pair.Files[i]; f.Fatal() {
			return nil, f.Err
		}
	}
	all := map[string]map[string]any{}
	pair.Read("", true)
	for _, name := range pair.Profiles() {
		at := sharedfile.Place{Profile: true, Name: name}
		all[name] = map[string]any{}
		for _, x := range pair.Files {
			for key, v := range x.Sections[at].Values() {
				if all[name][key] = string(v.Text); v.Group {
					all[name][key] = subProperties(x.Sections[at], key)
				}
			}
		}
	}
	return all, nil
}

// subProperties returns those of the last property with the key.
func subProperties(s *sharedfile.Section, key string) (subs map[string]any) {
	within := false
	for _, l := range s.Lines {
		switch p := l.Split(); {
		case l.Kind == sharedfile.PropertyLine && !p.Dropped():
			if within = sharedfile.ASCIILower(p.Key) == key; within {
				subs = map[string]any{}
			}
		case l.Kind == sharedfile.SubProperty && within && !p.Dropped():
			subs[sharedfile.ASCIILower(p.Key)] = p.Value
		}
	}
	return subs
}
