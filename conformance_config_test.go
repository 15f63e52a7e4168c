package awsretry_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
)

// sharedCase is what resolving needs of a case of a shared-config.json; the
// description in the file says how to read one.
type sharedCase struct {
	ID, Rule            string
	Config, Credentials *string
	ConfigBase64        []byte   `json:"config_base64"`
	ConfigRepeat        [][2]any `json:"config_repeat"`
	ConfigKind          string   `json:"config_kind"`
	CredentialsKind     string   `json:"credentials_kind"`
	Env                 map[string]string
	Platform            string
	HomeFallback        string `json:"home_fallback"`
	Want                struct {
		Profiles         map[string]map[string]any
		ErrorContainsAny []string `json:"error_contains_any"`
		ConfigPath       *string  `json:"config_path"`
		CredentialsPath  *string  `json:"credentials_path"`
		Profile          *string
	}
}

// TestResolveFollowsSharedConfigCases takes the cases of this project and, if
// AWSRETRY_CONFORMANCE names a directory, those in it through Resolve: every
// profile has the retry settings that the case says, or the file is refused.
func TestResolveFollowsSharedConfigCases(t *testing.T) {
	t.Parallel()
	dirs := map[string]string{"own": "testdata"}
	if dir := os.Getenv("AWSRETRY_CONFORMANCE"); dir != "" {
		dirs["shared"] = dir
	}
	for source, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, "shared-config.json"))
		require.NoError(t, err)
		var doc struct{ Cases []sharedCase }
		require.NoError(t, json.Unmarshal(data, &doc))
		require.NotEmpty(t, doc.Cases)
		for _, c := range doc.Cases {
			t.Run(source+"/"+c.Rule+"/"+c.ID, func(t *testing.T) {
				t.Parallel()
				if c.Env != nil {
					c.checkLocation(t)
					return
				}
				c.checkProfiles(t)
			})
		}
	}
}

func (c sharedCase) checkLocation(t *testing.T) {
	t.Helper()
	s, err := awsretry.Resolve(t.Context(), append(inFiles(fstest.MapFS{}, c.Env),
		awsretry.WithPlatform(c.Platform),
		awsretry.WithHomeDir(func() (string, error) { return c.HomeFallback, nil }))...)
	var profile string
	var files []awsretry.FileStatus
	if missing, ok := errors.AsType[*config.ProfileNotFoundError](err); ok {
		profile, files = missing.Profile, missing.Files
	} else {
		require.NoError(t, err)
		profile, files = s.Profile.Value, s.Files
	}
	for _, pair := range []struct {
		want *string
		got  string
	}{{c.Want.ConfigPath, files[0].Path}, {c.Want.CredentialsPath, files[1].Path}, {c.Want.Profile, profile}} {
		if pair.want != nil {
			require.Equal(t, *pair.want, pair.got)
		}
	}
}

func (c sharedCase) checkProfiles(t *testing.T) {
	t.Helper()
	options := inFiles(c.files(), nil)
	if len(c.Want.ErrorContainsAny) > 0 {
		_, err := awsretry.Resolve(t.Context(), options...)
		_, ok := errors.AsType[*config.ParseError](err)
		require.True(t, ok, "%v", err)
		return
	}
	_, err := awsretry.Resolve(t.Context(), append(options, awsretry.WithProfile("no-such-profile"))...)
	_, ok := errors.AsType[*config.ProfileNotFoundError](err)
	require.True(t, ok, "%v", err)
	for name, values := range c.Want.Profiles {
		s, err := awsretry.Resolve(t.Context(), append(options, awsretry.WithProfile(name))...)
		wanted, valid := wantedSettings(values)
		if !valid {
			_, ok := errors.AsType[*config.ValueError](err)
			require.True(t, ok, "%v", err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, wanted, [2]string{string(s.RetryMode.Value), strconv.Itoa(s.MaxAttempts.Value)})
	}
}

// files is a file system with the files of a case. Links are files here, since
// the tests of the package config follow them on a disk.
func (c sharedCase) files() fstest.MapFS {
	files := fstest.MapFS{}
	add := func(name, text, kind string) {
		switch kind {
		case "directory":
			files[name+"/x"] = &fstest.MapFile{}
		case "unreadable", "missing", "dangling_symlink":
		default:
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	var text strings.Builder
	text.Write(c.ConfigBase64)
	for _, part := range c.ConfigRepeat {
		text.WriteString(strings.Repeat(part[0].(string), int(part[1].(float64))))
	}
	if c.Config != nil {
		text.WriteString(*c.Config)
	}
	add("home/me/.aws/config", text.String(), c.ConfigKind)
	credentials := ""
	if c.Credentials != nil {
		credentials = *c.Credentials
	}
	add("home/me/.aws/credentials", credentials, c.CredentialsKind)
	return files
}

// wantedSettings gives mode and attempts of a profile as the case has them, and
// whether they are values that are accepted.
func wantedSettings(values map[string]any) (wanted [2]string, valid bool) {
	wanted, valid = [2]string{"standard", "3"}, true
	if value, ok := values["retry_mode"]; ok {
		text, _ := value.(string)
		mode, _, err := config.ParseMode(text)
		wanted[0], valid = string(mode), err == nil
	}
	if value, ok := values["max_attempts"]; ok {
		text, _ := value.(string)
		n, err := config.ParseMaxAttempts(text)
		wanted[1], valid = strconv.Itoa(n), valid && err == nil
	}
	return wanted, valid
}
