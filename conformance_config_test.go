package awsretry_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

// sharedCase is a case for Resolve.
type sharedCase struct{ vectors.SharedCase }

// TestResolveFollowsSharedConfigCases resolves every profile of the cases in testdata and, if
// AWSRETRY_CONFORMANCE names a directory, of those in that directory. Each profile has the retry
// settings of the case, or Resolve returns an error.
func TestResolveFollowsSharedConfigCases(t *testing.T) {
	t.Parallel()
	for source, file := range vectors.Load[vectors.SharedConfig](t, ".", os.Getenv("AWSRETRY_CONFORMANCE"), "shared-config.json") {
		for _, shared := range file.Cases {
			c := sharedCase{shared}
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
	var files []config.FileStatus
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
	_, err := awsretry.Resolve(t.Context(), append(options, awsretry.WithProfile("no-such-profile"))...)
	_, ok := errors.AsType[*config.ProfileNotFoundError](err)
	require.True(t, ok, "%v", err)
	strict := append(options, awsretry.WithStrict())
	if len(c.StrictErrorContainsAny) > 0 {
		_, err := awsretry.Resolve(t.Context(), strict...)
		_, ok := errors.AsType[*config.ParseError](err)
		require.True(t, ok, "%v", err)
		strict = options
	}
	for name, values := range c.Want.Profiles {
		checkProfile(t, values, append(options, awsretry.WithProfile(name)))
		checkProfile(t, values, append(strict, awsretry.WithProfile(name)))
	}
}

// checkProfile compares the settings of one profile with its values.
func checkProfile(t *testing.T, values map[string]any, options []awsretry.ResolveOption) {
	t.Helper()
	s, err := awsretry.Resolve(t.Context(), options...)
	wanted, valid := wantedSettings(values)
	if !valid {
		_, ok := errors.AsType[*config.ValueError](err)
		require.True(t, ok, "%v", err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, wanted, [2]string{string(s.RetryMode.Value), strconv.Itoa(s.MaxAttempts.Value)})
}

// files returns a file system with the files of a case. Links are files in it, because the tests
// of the package config follow links on a disk.
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
	text, _ := c.ConfigText()
	add("home/me/.aws/config", text, c.ConfigKind)
	text, _ = c.CredentialsText()
	add("home/me/.aws/credentials", text, c.CredentialsKind)
	return files
}

// wantedSettings returns the mode and the attempts of a profile, and whether both values are
// accepted.
func wantedSettings(values map[string]any) (wanted [2]string, valid bool) {
	wanted, valid = [2]string{"standard", "3"}, true
	if value, ok := values["retry_mode"]; ok {
		text, _ := value.(string)
		text = strings.ToLower(text)
		wanted[0] = map[string]string{"legacy": "standard", "adaptive_v2": "adaptive"}[text]
		if text == "standard" || text == "adaptive" {
			wanted[0] = text
		}
		valid = wanted[0] != ""
	}
	if value, ok := values["max_attempts"]; ok {
		text, _ := value.(string)
		n, err := strconv.ParseInt(text, 10, 32)
		wanted[1], valid = strconv.FormatInt(n, 10), valid && err == nil && n > 0
	}
	return wanted, valid
}
