package awsretry_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
)

func TestProfileThatNoFileHasIsAnError(t *testing.T) {
	t.Parallel()
	_, err := world{
		env:         map[string]string{"AWS_PROFILE": "prod"},
		config:      "[profile prod-eu]\n[profile Prod]\n[profile test]\n",
		credentials: "[prof]\n[x]\n",
	}.resolve(t)
	missing, ok := errors.AsType[*config.ProfileNotFoundError](err)
	require.True(t, ok)
	require.Equal(t, []string{"Prod", "prof"}, missing.Near)
	require.EqualError(t, err, `config: AWS_PROFILE: profile "prod" not found in `+configPath+" or "+credentialsPath+`; did you mean "Prod" or "prof"`)

	_, err = world{opts: []awsretry.ResolveOption{awsretry.WithProfile("default")}}.resolve(t)
	require.EqualError(t, err, `config: option WithProfile: profile "default" not found in `+configPath+" (missing) or "+credentialsPath+" (missing)")

	_, err = world{config: "[a]\n", opts: []awsretry.ResolveOption{awsretry.WithProfile("a")}}.resolve(t)
	require.ErrorContains(t, err, configPath+":1 has [a], which would have to be [profile a]")
	_, err = world{credentials: "\n[profile a]\n", opts: []awsretry.ResolveOption{awsretry.WithProfile("a")}}.resolve(t)
	require.ErrorContains(t, err, credentialsPath+":2 has [profile a], which would have to be [a]")
	_, err = world{config: "[profile a]\n", env: map[string]string{"AWS_PROFILE": " a"}}.resolve(t)
	require.ErrorContains(t, err, `profile " a" not found`)
}

func TestMalformedLineIsSkippedUnlessReadingIsStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config, want string
		attempts           int
	}{
		{"unclosed header", "[default]\nmax_attempts = 4\n[profile y\nmax_attempts = 9\n", `:3: "[profile y": a section header must end with ']'`, 4},
		{"cut off in a header", "[default]\nmax_attempts = 4\n[prof", `:3: "[prof": a section header must end with ']'`, 4},
		{"cut off in a key", "[default]\nretry_mo\nmax_attempts = 5", `:2: "retry_mo": expected an '=' sign in a property`, 5},
		{"no equals sign", "[default]\nhunter2\n", ":2: expected an '=' sign in a property", 3},
		{"property before a header", "max_attempts = 7\n[default]\n", `:1: "max_attempts": expected a section header such as [default] before the first property`, 3},
		{"bytes that are not utf-8", "[default]\n# ok\na = \xff\nmax_attempts = 6\n", ":3: the line is not valid UTF-8", 6},
		{"nul for a line", "[default]\n\x00\n", ":2: expected an '=' sign in a property", 3},
		{"in another profile", "[default]\nmax_attempts = 6\n[profile y]\n= x\n", ":4: the property did not have a name: expected a key before the '=' sign", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world{config: c.config}
			s := w.mustResolve(t)
			require.Equal(t, c.attempts, s.MaxAttempts.Value)
			require.Equal(t, []string{"malformed-line", "read-differently"}, codes(s.Diagnostics))
			require.Contains(t, s.Diagnostics[0].Message, "is skipped")
			for _, profile := range []string{"", "elsewhere"} {
				w.opts = []awsretry.ResolveOption{awsretry.WithProfile(profile), awsretry.WithStrict()}
				_, err := w.resolve(t)
				require.EqualError(t, err, "config: "+configPath+c.want)
				_, ok := errors.AsType[*config.ParseError](err)
				require.True(t, ok)
			}
		})
	}
}

func TestStrictReadingNamesTheFirstMalformedLineOfTheConfigFileFirst(t *testing.T) {
	t.Parallel()
	w := world{
		config: "[default]\n\nx\ny\n", credentials: "z\n", opts: []awsretry.ResolveOption{awsretry.WithStrict()},
	}
	_, err := w.resolve(t)
	require.ErrorContains(t, err, configPath+":3: ")
	w.config = "[default]\n"
	_, err = w.resolve(t)
	require.ErrorContains(t, err, credentialsPath+":1: ")
}

// oneError is a file system in which one file cannot be read.
type oneError struct {
	fs.FS
	name string
	err  error
}

func (f oneError) Open(name string) (fs.File, error) {
	if name == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
	}
	return f.FS.Open(name)
}

func TestFileThatCannotBeReadCountsAsEmptyUnlessCodeNamedIt(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"home/me/.aws/config/x":    {},
		"home/me/.aws/credentials": {Data: []byte("[default]\nmax_attempts = 4\n")},
	}
	s, err := awsretry.Resolve(t.Context(), inFiles(tree, nil)...)
	require.NoError(t, err)
	require.Equal(t, 4, s.MaxAttempts.Value)
	require.Equal(t, "unreadable", s.Files[0].Status)
	require.Equal(t, []config.Diagnostic{{
		Severity: "warning", Code: "unreadable-file", File: configPath,
		Message: "the config file counts as empty: it cannot be read: not a regular file but a directory",
	}, {
		Severity: "warning", Code: "read-differently", File: configPath, Tools: []string{"aws-sdk-go-v2"},
		Message: "aws-sdk-go-v2: a directory in the place of a file is refused",
	}}, s.Diagnostics)

	denied := oneError{FS: tree, name: "home/me/.aws/credentials", err: fs.ErrPermission}
	s, err = awsretry.Resolve(t.Context(), inFiles(denied, nil)...)
	require.NoError(t, err)
	require.Equal(t, 3, s.MaxAttempts.Value)
	require.Equal(t, "unreadable", s.Files[1].Status)

	for _, named := range []awsretry.ResolveOption{awsretry.WithConfigFile("~/.aws/config"), awsretry.WithCredentialsFile(credentialsPath)} {
		_, err = awsretry.Resolve(t.Context(), append(inFiles(denied, nil), named)...)
		unreadable, ok := errors.AsType[*config.UnreadableError](err)
		require.True(t, ok)
		require.Contains(t, []string{configPath, credentialsPath}, unreadable.File)
	}
	require.ErrorIs(t, err, fs.ErrPermission)
	require.EqualError(t, err, "config: "+credentialsPath+": cannot be read: permission denied")
}

func TestFileThatCodeNamesMayBeMissing(t *testing.T) {
	t.Parallel()
	s := world{opts: []awsretry.ResolveOption{awsretry.WithConfigFile("/nowhere")}}.mustResolve(t)
	require.Equal(t, config.FileStatus{Kind: "config", Path: "/nowhere", Status: "missing"}, s.Files[0])
	require.Equal(t, []string{"missing-file"}, codes(s.Diagnostics))
}

func TestNoHomeDirectory(t *testing.T) {
	t.Parallel()
	none := []awsretry.ResolveOption{
		awsretry.WithFS(fstest.MapFS{"etc/aws": {Data: []byte("[default]\nmax_attempts = 4\n")}}),
		awsretry.WithPlatform("linux"),
		awsretry.WithEnv(func(string) (string, bool) { return "", false }),
		awsretry.WithHomeDir(func() (string, error) { return "", errors.New("no such user") }),
	}
	s, err := awsretry.Resolve(t.Context(), none...)
	require.NoError(t, err)
	require.Equal(t, []config.FileStatus{
		{Kind: "config", Status: "missing"},
		{Kind: "credentials", Status: "missing"},
	}, s.Files)
	require.Equal(t, []string{"no-home-directory"}, codes(s.Diagnostics))

	none = append(none, awsretry.WithConfigFile("/etc/aws"), awsretry.WithCredentialsFile("/etc/aws"))
	s, err = awsretry.Resolve(t.Context(), none...)
	require.NoError(t, err)
	require.Equal(t, 4, s.MaxAttempts.Value)
	require.Empty(t, s.Diagnostics)
}

func TestResolveReadsTheProcessByDefault(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, ".aws"), 0o700))
	file := filepath.Join(home, ".aws", "config")
	require.NoError(t, os.WriteFile(file, []byte("[profile p]\nretry_mode = adaptive\n"), 0o600))
	t.Setenv("HOME", home)
	t.Setenv("AWS_PROFILE", "p")
	t.Setenv("AWS_MAX_ATTEMPTS", "8")
	t.Setenv("AWS_CONFIG_FILE", "")
	s, err := awsretry.Resolve(t.Context(), awsretry.WithCredentialsFile(filepath.Join(home, "none")))
	require.NoError(t, err)
	require.Equal(t, 8, s.MaxAttempts.Value)
	require.Equal(t, file, s.RetryMode.Origin.File)
}
