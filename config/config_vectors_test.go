package config_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// readCases returns the cases of this repository and, if AWSRETRY_CONFORMANCE names a
// directory, those in that directory.
func readCases(t *testing.T) map[string]vectors.SharedConfig {
	t.Helper()
	return vectors.Load[vectors.SharedConfig](t, "shared-config.json")
}

func TestSharedConfigCases(t *testing.T) {
	t.Parallel()
	for source, file := range readCases(t) {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			for _, c := range file.Cases {
				t.Run(c.Rule+"/"+c.ID, func(t *testing.T) {
					t.Parallel()
					if c.Env != nil {
						checkLocation(t, c)
						return
					}
					checkProfiles(t, c)
				})
			}
		})
	}
}

func TestOwnCasesCoverEveryRule(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for _, c := range readCases(t)["own"].Cases {
		count[c.Rule]++
	}
	for rule := range strings.FieldsSeq(`R01 R02 R03 R04 R05 R06 R07 R08 R09 R10 R11
		R12 R13 R14 R15 R16 R17 R18 R19 R20 R21`) {
		require.GreaterOrEqual(t, count[rule], 4, rule)
	}
	require.Len(t, count, 21)
}

func checkLocation(t *testing.T, c vectors.SharedCase) {
	t.Helper()
	src := config.Sources{
		LookupEnv: world.LookupIn(c.Env),
		FS: sharedfile.Machine{FS: os.DirFS(t.TempDir()), Platform: c.Platform, HomeDir: func() (string, error) {
			if c.HomeFallback == "" {
				return "", errors.New("no home")
			}
			return c.HomeFallback, nil
		}},
	}
	settings, err := config.Query{Sources: src}.Resolve()
	var profile string
	var files []config.FileStatus
	if missing, ok := errors.AsType[*config.ProfileNotFoundError](err); ok {
		profile, files = missing.Profile, missing.Files
	} else {
		require.NoError(t, err)
		profile, files = settings.Profile.Value, settings.Files
	}
	if want := c.Want.ConfigPath; want != nil {
		require.Equal(t, *want, files[0].Path)
	}
	if want := c.Want.CredentialsPath; want != nil {
		require.Equal(t, *want, files[1].Path)
	}
	if want := c.Want.Profile; want != nil {
		require.Equal(t, *want, profile)
	}
}

func checkProfiles(t *testing.T, c vectors.SharedCase) {
	t.Helper()
	dir := t.TempDir()
	text, exists := c.ConfigText()
	configPath := layOut(t, dir, "config", text, exists, c.ConfigKind)
	text, exists = c.CredentialsText()
	credentials := layOut(t, dir, "credentials", text, exists, c.CredentialsKind)
	src := config.Sources{FS: world.Permitted(), LookupEnv: world.LookupIn(map[string]string{
		"AWS_CONFIG_FILE": configPath, "AWS_SHARED_CREDENTIALS_FILE": credentials,
	})}
	profiles, err := world.RawProfiles(src)
	require.NoError(t, err)
	want := c.Want.Profiles
	if want == nil {
		want = map[string]map[string]any{}
	}
	require.Equal(t, plainGroups(want), plainGroups(profiles))
	for name, values := range c.Want.Profiles {
		checkSettings(t, values, config.Query{Sources: world.As(src, name)})
		if len(c.StrictErrorContainsAny) == 0 {
			checkSettings(t, values, config.Query{Sources: world.As(src, name), Strict: true})
		}
	}

	_, err = config.Query{Sources: world.As(src, "no such profile"), Strict: true}.Resolve()
	if len(c.StrictErrorContainsAny) == 0 {
		_, ok := errors.AsType[*config.ProfileNotFoundError](err)
		require.True(t, ok, "%v", err)
		return
	}
	requireContainsAny(t, err, c.StrictErrorContainsAny)
}

// checkSettings compares the settings of one profile with its values.
func checkSettings(t *testing.T, values map[string]any, q config.Query) {
	t.Helper()
	s, err := q.Resolve()
	wanted, valid := wantedSettings(values)
	if !valid {
		_, ok := errors.AsType[*config.ValueError](err)
		require.True(t, ok, "%v", err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, wanted, [2]string{string(s.RetryMode.Value), strconv.Itoa(s.MaxAttempts.Value)})
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

// plainGroups replaces sub-properties without any valid key by the empty text.
func plainGroups(profiles map[string]map[string]any) map[string]map[string]any {
	for _, values := range profiles {
		for key, value := range values {
			if group, ok := value.(map[string]any); ok && len(group) == 0 {
				values[key] = ""
			}
		}
	}
	return profiles
}

// layOut puts a file of a kind into a directory and returns its path.
func layOut(t *testing.T, dir, name, text string, exists bool, kind string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	target := filepath.Join(dir, name+".target")
	switch kind {
	case "directory":
		require.NoError(t, os.Mkdir(path, 0o700))
	case "unreadable":
		require.NoError(t, os.WriteFile(path, []byte(text), 0))
	case "dangling_symlink":
		require.NoError(t, os.Symlink(target, path))
	case "symlink", "symlink2":
		require.NoError(t, os.WriteFile(target, []byte(text), 0o600))
		if kind == "symlink2" {
			require.NoError(t, os.Symlink(target, target+"2"))
			target += "2"
		}
		require.NoError(t, os.Symlink(target, path))
	case "", "regular":
		if exists {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
	case "missing":
	default:
		require.Fail(t, "unknown kind of file", kind)
	}
	return path
}

func requireContainsAny(t *testing.T, err error, wanted []string) {
	t.Helper()
	parse, ok := errors.AsType[*config.ParseError](err)
	require.True(t, ok, "a parse error, not %v", err)
	require.Positive(t, parse.Line)
	for _, want := range wanted {
		if strings.Contains(strings.ToLower(parse.Msg), strings.ToLower(want)) {
			return
		}
	}
	require.Fail(t, "the error says none of the texts", "%q: %q", parse.Msg, wanted)
}

// given returns the value of a setting, or nil if the built-in default counts.
func given[T any](s config.Setting[T]) *string {
	if s.Origin.Kind == "default" {
		return nil
	}
	return new(fmt.Sprint(s.Value))
}

func TestResolveReadsWhatAllToolsRead(t *testing.T) {
	t.Parallel()
	for source, file := range vectors.Load[vectors.ToolsAgree](t, "tools-agree.json") {
		for _, c := range file.Cases {
			t.Run(source+"/"+c.ID, func(t *testing.T) {
				t.Parallel()
				files, env := fstest.MapFS{}, map[string]string{"AWS_CONFIG_FILE": "/config", "AWS_SHARED_CREDENTIALS_FILE": "/credentials"}
				for name, text := range map[string]*vectors.ToolFile{"config": c.Config, "credentials": c.Credentials} {
					if data := text.Data(); data != nil {
						files[name] = &fstest.MapFile{Data: data}
					}
				}
				maps.Copy(env, c.Env)
				settings, err := config.Query{Sources: config.Sources{FS: files, LookupEnv: world.LookupIn(env)}}.Resolve()
				require.NoError(t, err)
				require.Equal(t, c.Want.RetryMode, given(settings.RetryMode))
				require.Equal(t, c.Want.MaxAttempts, given(settings.MaxAttempts))
			})
		}
	}
}
