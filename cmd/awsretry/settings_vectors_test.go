package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/machine"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

// sharedFiles returns the shared files that exist, in the home directory.
func sharedFiles(configText, credentialsText *string) map[string]string {
	files := map[string]string{}
	for name, text := range map[string]*string{"home/me/.aws/config": configText, "home/me/.aws/credentials": credentialsText} {
		if text != nil {
			files[name] = *text
		}
	}
	return files
}

// ask runs a command with --json and decodes its output.
func ask(t *testing.T, sources config.Sources, answer any, args ...string) (status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), append(args, "--json"), system{out: &out, errs: &errs, sources: sources})
	require.NoError(t, json.Unmarshal(out.Bytes(), answer), "%s%s", &out, &errs)
	return status
}

// TestCommandsFollowSharedConfigCases leaves out the cases about kinds of files, which the tests
// of the package config put on a disk.
func TestCommandsFollowSharedConfigCases(t *testing.T) {
	t.Parallel()
	for source, file := range vectors.Load[vectors.SharedConfig](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "shared-config.json") {
		for _, c := range file.Cases {
			t.Run(source+"/"+c.Rule+"/"+c.ID, func(t *testing.T) {
				t.Parallel()
				switch {
				case c.Env != nil:
					checkPaths(t, c)
				case c.ConfigKind == "" && c.CredentialsKind == "":
					checkProfiles(t, c)
				}
			})
		}
	}
}

func checkPaths(t *testing.T, c vectors.SharedCase) {
	t.Helper()
	sources := world(nil, nil)
	sources.LookupEnv = func(name string) (string, bool) { value, ok := c.Env[name]; return value, ok }
	sources.FS = machine.FS{
		FS: sources.FS, Platform: c.Platform, HomeDir: func() (string, error) { return c.HomeFallback, nil },
	}
	var answer struct {
		Profile struct{ Value string }
		Files   []config.FileStatus
		Error   struct{ Message string }
	}
	if ask(t, sources, &answer, "explain") == exitBad {
		require.Contains(t, answer.Error.Message, "profile "+strconv.Quote(*c.Want.Profile)+" not found in ")
		return
	}
	for _, pair := range []struct {
		want *string
		got  string
	}{{c.Want.ConfigPath, answer.Files[0].Path}, {c.Want.CredentialsPath, answer.Files[1].Path}, {c.Want.Profile, answer.Profile.Value}} {
		if pair.want != nil {
			require.Equal(t, *pair.want, pair.got)
		}
	}
}

func checkProfiles(t *testing.T, c vectors.SharedCase) {
	t.Helper()
	texts := [2]*string{}
	if text, ok := c.ConfigText(); ok {
		texts[0] = &text
	}
	if text, ok := c.CredentialsText(); ok {
		texts[1] = &text
	}
	sources := world(sharedFiles(texts[0], texts[1]), nil)
	want := map[string]map[string]string{}
	for name, values := range c.Want.Profiles {
		want[name] = map[string]string{}
		for key, value := range values {
			want[name][key], _ = value.(string)
		}
	}
	var answer struct {
		Profiles map[string]map[string]string
		Error    *failure
	}
	require.Zero(t, ask(t, sources, &answer, "profiles", "--show-values"))
	for name, values := range answer.Profiles {
		for key, value := range values {
			if value == "***" {
				want[name][key] = value // The tests of the package config say which values are hidden.
			}
		}
	}
	require.Equal(t, want, answer.Profiles)

	answer.Profiles = nil
	status := ask(t, sources, &answer, "profiles", "--show-values", "--strict")
	if len(c.StrictErrorContainsAny) == 0 {
		require.Zero(t, status)
		require.Equal(t, want, answer.Profiles)
		return
	}
	require.Equal(t, exitBad, status)
	require.Equal(t, "parse-error", answer.Error.Code)
}

func TestExplainReadsWhatAllToolsRead(t *testing.T) {
	t.Parallel()
	for source, file := range vectors.Load[vectors.ToolsAgree](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "tools-agree.json") {
		for _, c := range file.Cases {
			t.Run(source+"/"+c.ID, func(t *testing.T) {
				t.Parallel()
				texts := [2]*string{}
				for i, f := range []*vectors.ToolFile{c.Config, c.Credentials} {
					if f != nil {
						texts[i] = new(string(f.Data()))
					}
				}
				var answer struct {
					RetryMode   config.Setting[string] `json:"retry_mode"`
					MaxAttempts config.Setting[int]    `json:"max_attempts"`
				}
				require.Zero(t, ask(t, world(sharedFiles(texts[0], texts[1]), c.Env), &answer, "explain"))
				require.Equal(t, c.Want.RetryMode, unlessDefault(answer.RetryMode.Origin, answer.RetryMode.Value))
				require.Equal(t, c.Want.MaxAttempts, unlessDefault(answer.MaxAttempts.Origin, strconv.Itoa(answer.MaxAttempts.Value)))
			})
		}
	}
}

// unlessDefault returns a value, or nil if it is a default.
func unlessDefault(origin config.Origin, value string) *string {
	if origin.Kind == "default" {
		return nil
	}
	return &value
}
