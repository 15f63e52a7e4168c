package config_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

// openFile opens a config file that the environment names, and no credentials file.
func openFile(path string) (*config.Files, error) {
	return config.Open(config.Sources{LookupEnv: lookupIn(map[string]string{
		config.EnvConfigFile: path, config.EnvCredentialsFile: path + ".none",
	})})
}

// openTexts opens two files with these texts, as /c and /k.
func openTexts(t *testing.T, configText, credentialsText string) *config.Files {
	t.Helper()
	files, err := config.Open(config.Sources{
		ConfigFile: "/c", CredentialsFile: "/k", LookupEnv: lookupIn(nil), Platform: "linux",
		FS: fstest.MapFS{"c": {Data: []byte(configText)}, "k": {Data: []byte(credentialsText)}},
	})
	require.NoError(t, err)
	return files
}

// liar is a file system with one file, whose size is not what it says.
type liar struct {
	says    int64
	content func() io.Reader
}

func (l liar) Open(string) (fs.File, error) { return liarFile{l, l.content()}, nil }

type liarFile struct {
	liar
	io.Reader
}

func (l liarFile) Close() error               { return nil }
func (l liarFile) Stat() (fs.FileInfo, error) { return l, nil }
func (l liarFile) Name() string               { return "config" }
func (l liarFile) Size() int64                { return l.says }
func (l liarFile) Mode() fs.FileMode          { return 0o600 }
func (l liarFile) ModTime() time.Time         { return time.Time{} }
func (l liarFile) IsDir() bool                { return false }
func (l liarFile) Sys() any                   { return nil }

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	t.Parallel()
	text := "[default]\nmax_attempts = 7\n# " + strings.Repeat("x", 100_000) + "\nretry_mode = adaptive\n"
	for says, name := range map[int64]string{
		0: "grew from nothing", 10: "grew", int64(len(text)): "stayed", 1 << 20: "shrank",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := config.Open(config.Sources{
				ConfigFile: "c", CredentialsFile: "k", LookupEnv: lookupIn(nil),
				FS: liar{says, func() io.Reader { return strings.NewReader(text) }},
			})
			require.NoError(t, err)
			profile, err := files.Profile("default", config.Origin{})
			require.NoError(t, err)
			require.Equal(t, "7", profile.Candidates(config.KeyMaxAttempts)[0].Raw)
			require.Equal(t, "adaptive", profile.Candidates(config.KeyRetryMode)[0].Raw)
		})
	}
}

func TestFileThatGrowsForEverIsReadUpToTheLimit(t *testing.T) {
	t.Parallel()
	_, err := config.Open(config.Sources{
		LookupEnv: lookupIn(map[string]string{"HOME": "/h"}),
		FS:        liar{10, func() io.Reader { return endless{} }},
	})
	unreadable, ok := errors.AsType[*config.UnreadableError](err)
	require.True(t, ok)
	require.ErrorIs(t, err, config.ErrTooLarge)
	require.EqualValues(t, config.MaxFileSize+1, unreadable.Size)
}

func TestLargeFileIsRefusedUnread(t *testing.T) {
	t.Parallel()
	open := func(size int64) (*config.Files, error) {
		path := filepath.Join(t.TempDir(), "config")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, size))
		return openFile(path)
	}
	_, err := open(50 << 20)
	require.ErrorIs(t, err, config.ErrTooLarge)
	require.ErrorContains(t, err, "config: cannot be read: too large: at least 52428800 bytes, the limit is 16777216")
	_, err = open(config.MaxFileSize + 1)
	require.ErrorIs(t, err, config.ErrTooLarge)
	_, err = open(config.MaxFileSize)
	require.NoError(t, err)
	_, err = config.Open(config.Sources{
		ConfigFile: "c", LookupEnv: lookupIn(nil), FS: liar{1 << 40, func() io.Reader { return untouched{t} }},
	})
	require.ErrorIs(t, err, config.ErrTooLarge)
}

// untouched must not be read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	require.Fail(u.t, "the file is read")
	return 0, io.EOF
}

func TestReadingThatFailsHalfWay(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	files, err := config.Open(config.Sources{
		LookupEnv: lookupIn(map[string]string{"HOME": "/h"}),
		FS: liar{10, func() io.Reader {
			return io.MultiReader(strings.NewReader("[default]\nmax"), errReader{broken})
		}},
	})
	require.NoError(t, err)
	require.Equal(t, config.StatusUnreadable, files.Status()[0].Status)
	profile, err := files.Profile("default", config.Origin{Kind: config.OriginDefault})
	require.NoError(t, err)
	require.False(t, profile.Found)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestLineOfAMegabyte(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	files := openTexts(t, "[default]\nmax_attempts = 4\na = "+long+"\n"+long+" = b\n# "+long+"\n", "")
	profile, err := files.Profile("default", config.Origin{})
	require.NoError(t, err)
	require.Equal(t, "4", profile.Candidates(config.KeyMaxAttempts)[0].Raw)

	for _, bad := range []string{"[" + long, "[default]\n" + long, "[default]\nretry_mode" + long + "\n", " " + long} {
		_, err := openTexts(t, bad, "").Profile("default", config.Origin{})
		require.Error(t, err)
		require.Less(t, len(err.Error()), 200)
	}
}

func TestBackslashIsOrdinaryUnlessOnWindows(t *testing.T) {
	t.Parallel()
	for platform, want := range map[string]config.Status{"linux": config.StatusMissing, "windows": config.StatusLoaded} {
		files, err := config.Open(config.Sources{
			FS: fstest.MapFS{"a/b": {}}, Platform: platform, ConfigFile: `a\b`, LookupEnv: lookupIn(map[string]string{"HOME": "/h"}),
		})
		require.NoError(t, err)
		require.Equal(t, want, files.Status()[0].Status)
	}
}

func TestPathsInAFileSystem(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{"C:/me/.aws/config": {Data: []byte("[default]\n")}, "rel/keys": {Data: []byte("[default]\n")}}
	files, err := config.Open(config.Sources{
		FS: fsys, Platform: "windows", CredentialsFile: "./rel//keys", LookupEnv: lookupIn(map[string]string{"HOME": `C:\me`}),
	})
	require.NoError(t, err)
	require.Equal(t, []config.FileStatus{
		{Kind: config.KindConfig, Path: `C:\me\.aws\config`, Status: config.StatusLoaded},
		{Kind: config.KindCredentials, Path: "./rel//keys", Status: config.StatusLoaded},
	}, files.Status())
}
