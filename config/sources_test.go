package config_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// liar is a file system with one file, which reports a wrong size.
type liar struct {
	says    int64
	content func() io.Reader
}

func (l liar) Open(string) (fs.File, error) { return liarFile{Reader: l.content(), says: l.says}, nil }

type liarFile struct {
	io.Reader
	fs.FileInfo
	says int64
}

func (l liarFile) Close() error               { return nil }
func (l liarFile) Stat() (fs.FileInfo, error) { return l, nil }
func (l liarFile) Size() int64                { return l.says }
func (l liarFile) Mode() fs.FileMode          { return 0o600 }
func (l liarFile) IsDir() bool                { return false }

// readerFunc is a function that is an io.Reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	t.Parallel()
	text := "[default]\nmax_attempts = 7\n# " + strings.Repeat("x", 100_000) + "\nretry_mode = adaptive\n"
	for says, name := range map[int64]string{
		0: "grew from nothing", 10: "grew", int64(len(text)): "stayed", 1 << 20: "shrank",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings, err := config.Query{Sources: world.WithHome(liar{says, func() io.Reader { return strings.NewReader(text) }})}.Resolve()
			require.NoError(t, err)
			require.Equal(t, 7, settings.MaxAttempts.Value)
			require.Equal(t, config.Mode("adaptive"), settings.RetryMode.Value)
		})
	}
}

// maxFileSize is the limit on the size of a file.
const maxFileSize = 4 << 20

func TestFileAboveTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	sized := func(size int64) config.Sources {
		path := filepath.Join(t.TempDir(), "config")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, size))
		return world.Named(path)
	}
	endless := func() io.Reader {
		return readerFunc(func(p []byte) (int, error) { return copy(p, strings.Repeat("\n", len(p))), nil })
	}
	unread := func() io.Reader {
		return readerFunc(func([]byte) (int, error) { panic("the file is read") })
	}
	for name, src := range map[string]config.Sources{
		"of 50 MiB": sized(50 << 20), "one byte above": sized(maxFileSize + 1),
		"refused by its size alone": world.WithHome(liar{1 << 40, unread}), "grows without an end": world.WithHome(liar{10, endless}),
	} {
		_, err := config.Query{Sources: src}.Resolve()
		require.ErrorIs(t, err, sharedfile.ErrTooLarge, name)
		require.ErrorContains(t, err, "cannot be read: larger than 4 MiB")
	}
	_, err := config.Query{Sources: sized(maxFileSize)}.Resolve()
	require.NoError(t, err)
}

func TestReadingThatFailsHalfWayLeavesTheFileEmpty(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	half := func() io.Reader {
		failing := readerFunc(func([]byte) (int, error) { return 0, broken })
		return io.MultiReader(strings.NewReader("[default]\nmax_attempts = 9\nmax"), failing)
	}
	src := world.WithHome(liar{10, half})
	settings, err := config.Query{Sources: src, Strict: true}.Resolve()
	require.NoError(t, err)
	require.Equal(t, "unreadable", settings.Files[0].Status)
	require.Equal(t, 3, settings.MaxAttempts.Value)

	src.ConfigFile = "/config"
	_, err = config.Query{Sources: src}.Resolve()
	require.ErrorIs(t, err, broken)
}

func TestLongLineMakesNoLongMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<18)
	settings, err := config.Query{Sources: world.Texts("[default]\nmax_attempts = 4\na = "+long+"\n"+long+" = b\n# "+long+"\n", "")}.Resolve()
	require.NoError(t, err)
	require.Equal(t, 4, settings.MaxAttempts.Value)
	for _, bad := range []string{"[" + long, "[default]\n" + long, "[default]\nretry_mode" + long + "\n", " " + long} {
		_, err := config.Query{Sources: world.Texts(bad, ""), Strict: true}.Resolve()
		require.Error(t, err)
		require.Less(t, len(err.Error()), 200)
	}
}

func TestPathsInAFileSystem(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"C:/me/.aws/config": {}, "a/b": {}, "rel/keys": {}}
	for _, c := range []struct{ platform, home, given, config, status string }{
		{"windows", `C:\me`, "", `C:\me\.aws\config`, "loaded"},
		{"windows", `C:\me`, `a\b`, `a\b`, "loaded"},
		{"linux", "/me", `a\b`, `a\b`, "missing"},
	} {
		settings, err := config.Query{Sources: config.Sources{
			FS: world.On(c.platform, files), LookupEnv: world.LookupIn(map[string]string{"HOME": c.home}),
			ConfigFile: c.given, CredentialsFile: "./rel//keys",
		}}.Resolve()
		require.NoError(t, err)
		require.Equal(t, []config.FileStatus{
			{Kind: "config", Path: c.config, Status: c.status}, {Kind: "credentials", Path: "./rel//keys", Status: "loaded"},
		}, settings.Files)
	}
}

func TestHomeDirectoryOfTheSystemCountsOnlyInItsOwnFileSystem(t *testing.T) {
	t.Parallel()
	empty := world.LookupIn(nil)
	other, unknown := fstest.MapFS{}, func() (string, error) { return "", errors.New("no such user") }
	known := func() (string, error) { return "/m", nil }
	on := func(home func() (string, error), path string) config.Sources {
		return config.Sources{LookupEnv: empty, FS: sharedfile.Machine{FS: other, Platform: "linux", HomeDir: home}, ConfigFile: path, CredentialsFile: path}
	}
	for name, c := range map[string]struct {
		sources config.Sources
		path    string
	}{
		"another file system": {config.Sources{LookupEnv: empty, FS: other}, ""},
		"another file system, and a path in the home directory": {config.Sources{LookupEnv: empty, FS: other, ConfigFile: "~/c"}, "~/c"},
		"another file system, and HOME":                         {world.WithHome(other), "/h/.aws/config"},
		"another machine":                                       {on(known, ""), "/m/.aws/config"},
		"another machine, whose system knows none":              {on(unknown, ""), ""},
		"the same, where no path needs it":                      {on(unknown, "/c"), "/c"},
	} {
		s, err := config.Query{Sources: c.sources}.Resolve()
		require.NoError(t, err)
		require.Equal(t, config.FileStatus{Kind: "config", Path: c.path, Status: "missing"}, s.Files[0], name)
	}
}

func TestHomeDirectoryOfTheUserCountsWhereHOMEIsUnset(t *testing.T) {
	t.Parallel()
	want := "~/no-such-file"
	if u, err := user.Current(); err == nil {
		want = strings.TrimSuffix(u.HomeDir, "/") + "/no-such-file"
	}
	s, err := config.Query{Sources: config.Sources{
		LookupEnv: world.LookupIn(nil), ConfigFile: "~/no-such-file", CredentialsFile: os.DevNull,
	}}.Resolve()
	require.NoError(t, err)
	require.Equal(t, want, s.Files[0].Path)
}

func TestOneFileMayBeBoth(t *testing.T) {
	t.Parallel()
	src := config.Sources{
		ConfigFile: "/both", CredentialsFile: "/both", LookupEnv: world.LookupIn(nil),
		FS: world.On("linux", fstest.MapFS{"both": {Data: []byte("[default]\nmax_attempts = 4\n[dev]\nretry_mode = adaptive\n[profile dev]\nmax_attempts = 7\nx\n")}}),
	}
	s, err := config.Query{Sources: world.As(src, "dev")}.Resolve()
	require.NoError(t, err)
	require.Equal(t, config.Mode("adaptive"), s.RetryMode.Value)
	require.Equal(t, 7, s.MaxAttempts.Value)
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
	tree := fstest.MapFS{"h/.aws/config/x": {}, "h/.aws/credentials": {Data: []byte("[default]\nmax_attempts = 4\n")}}
	s, err := config.Query{Sources: world.WithHome(tree)}.Resolve()
	require.NoError(t, err)
	require.Equal(t, 4, s.MaxAttempts.Value)
	require.Equal(t, "unreadable", s.Files[0].Status)

	src := world.WithHome(oneError{FS: tree, name: "h/.aws/credentials", err: fs.ErrPermission})
	s, err = config.Query{Sources: src}.Resolve()
	require.NoError(t, err)
	require.Equal(t, 3, s.MaxAttempts.Value)
	require.Equal(t, "unreadable", s.Files[1].Status)

	src.ConfigFile = "~/.aws/config"
	_, err = config.Query{Sources: src}.Resolve()
	require.EqualError(t, err, "config: /h/.aws/config: cannot be read: not a regular file but a directory")
	src.ConfigFile, src.CredentialsFile = "/nowhere", "/h/.aws/credentials"
	_, err = config.Query{Sources: src}.Resolve()
	require.ErrorIs(t, err, fs.ErrPermission)
	src.CredentialsFile = ""
	s, err = config.Query{Sources: src}.Resolve()
	require.NoError(t, err)
	require.Equal(t, "missing", s.Files[0].Status)
}
