package config_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/machine"
)

func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(key string) (string, bool) {
		value, ok := env[key]
		return value, ok
	}
}

// on returns files on a machine with a platform.
func on(platform string, fsys fs.FS) fs.FS { return machine.FS{FS: fsys, Platform: platform} }

// texts returns sources of two files, /c and /k, and an empty environment.
func texts(configText, credentialsText string) config.Sources {
	return config.Sources{
		ConfigFile: "/c", CredentialsFile: "/k", LookupEnv: lookupIn(nil),
		FS: on("linux", fstest.MapFS{"c": {Data: []byte(configText)}, "k": {Data: []byte(credentialsText)}}),
	}
}

// named returns sources of a config file that the environment names, and no credentials file.
func named(path string) config.Sources {
	return config.Sources{LookupEnv: lookupIn(map[string]string{
		"AWS_CONFIG_FILE": path, "AWS_SHARED_CREDENTIALS_FILE": path + ".none",
	})}
}

// withHome returns sources of a file system, and of an environment with only the home directory.
func withHome(fsys fs.FS) config.Sources {
	return config.Sources{FS: on("linux", fsys), LookupEnv: lookupIn(map[string]string{"HOME": "/h"})}
}

// readers calls every function that reads the two files.
func readers(src config.Sources) map[string]func(strict bool) error {
	return map[string]func(strict bool) error{
		"resolve": func(strict bool) error {
			_, err := config.Query{Sources: src, Strict: strict}.Resolve()
			return err
		},
		"lint": func(strict bool) error {
			_, err := src.Lint(strict)
			return err
		},
		"profiles": func(strict bool) error {
			_, _, err := src.Profiles(true, strict)
			return err
		},
	}
}

// home is the home directory of a machine, with its environment and its two files. A file with an
// empty text does not exist.
type home struct {
	env                 map[string]string
	config, credentials string
}

// query returns the query for the settings of the machine.
func (h home) query() config.Query {
	files := fstest.MapFS{}
	for name, text := range map[string]string{"h/.aws/config": h.config, "h/.aws/credentials": h.credentials} {
		if text != "" {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	env := map[string]string{"HOME": "/h"}
	maps.Copy(env, h.env)
	return config.Query{Sources: config.Sources{FS: on("linux", files), LookupEnv: lookupIn(env)}}
}

// codes returns the codes of findings in their order.
func codes(found []config.Diagnostic) []string {
	list := []string{}
	for _, d := range found {
		list = append(list, d.Code)
	}
	return list
}

// lines returns findings as text.
func lines(found []config.Diagnostic) []string {
	all := []string{}
	for _, d := range found {
		all = append(all, d.String())
	}
	return all
}

func lint(t *testing.T, src config.Sources, strict bool) []config.Diagnostic {
	t.Helper()
	found, err := src.Lint(strict)
	require.NoError(t, err)
	return found
}

// without drops the findings about other tools, which tools_test.go checks.
func without(found []config.Diagnostic) []config.Diagnostic {
	var kept []config.Diagnostic
	for _, d := range found {
		if d.Code != "read-differently" {
			kept = append(kept, d)
		}
	}
	return kept
}

// permitted returns a file system that respects the permissions of files for root too, although
// the machine lets root read every file. For any other user it returns nil, the file system of the
// machine.
func permitted() fs.FS {
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

func TestSettingsAsJSON(t *testing.T) {
	t.Parallel()
	s, err := home{env: map[string]string{"AWS_MAX_ATTEMPTS": "5"}, config: "[default]\nmax_attempts = x\n"}.query().Resolve()
	require.NoError(t, err)
	data, err := json.Marshal(s)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"profile": {"value": "default", "raw": "default", "origin": {"kind": "default"}, "overridden": []},
		"retry_mode": {"value": "standard", "raw": "standard", "origin": {"kind": "default"}, "overridden": []},
		"max_attempts": {"value": 5, "raw": "5", "origin": {"kind": "environment", "name": "AWS_MAX_ATTEMPTS"}, "overridden": [
			{"raw": "x", "valid": false, "origin": {"kind": "shared-config", "file": "/h/.aws/config", "line": 2,
				"profile": "default", "key": "max_attempts"}}]},
		"max_backoff": {"value": 20000000000, "raw": "20s", "origin": {"kind": "default"}, "overridden": []},
		"min_delay": {"value": 0, "raw": "0s", "origin": {"kind": "default"}, "overridden": []},
		"max_elapsed": {"value": 0, "raw": "0s", "origin": {"kind": "default"}, "overridden": []},
		"behavior": {"value": "v2.1", "raw": "v2.1", "origin": {"kind": "default"}, "overridden": []},
		"files": [{"kind": "config", "path": "/h/.aws/config", "status": "loaded"},
			{"kind": "credentials", "path": "/h/.aws/credentials", "status": "missing"}],
		"diagnostics": [{"severity": "warning", "code": "invalid-value", "file": "/h/.aws/config", "line": 2,
			"message": "[default] max_attempts: \"x\": must be a decimal integer from 1 to 2147483647; another value wins, so it is ignored"},
			{"severity": "warning", "code": "read-differently", "file": "/h/.aws/config", "line": 2, "tools": ["aws-sdk-go-v2"],
			"message": "aws-sdk-go-v2: the value is refused, although AWS_MAX_ATTEMPTS overrides it"}]
	}`, string(data))
}
