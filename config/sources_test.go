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
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/lint"
	"github.com/awsretry/awsretry/internal/machine"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// liar is a file system with one file, which reports a wrong size.
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
			settings, err := lint.Resolve(config.Query{Sources: world.WithHome(liar{says, func() io.Reader { return strings.NewReader(text) }})})
			require.NoError(t, err)
			require.Equal(t, 7, settings.MaxAttempts.Value)
			require.Equal(t, config.Mode("adaptive"), settings.RetryMode.Value)
		})
	}
}

func TestFileThatGrowsForeverIsReadUpToTheLimit(t *testing.T) {
	t.Parallel()
	endless := readerFunc(func(p []byte) (int, error) {
		for i := range p {
			p[i] = '\n'
		}
		return len(p), nil
	})
	_, err := lint.Resolve(config.Query{Sources: world.WithHome(liar{10, func() io.Reader { return endless }})})
	_, ok := errors.AsType[*config.UnreadableError](err)
	require.True(t, ok)
	require.ErrorIs(t, err, sharedfile.ErrTooLarge)
	require.ErrorContains(t, err, "cannot be read: larger than 4 MiB")
}

// maxFileSize is the limit on the size of a file.
const maxFileSize = 4 << 20

func TestLargeFileIsRefusedUnread(t *testing.T) {
	t.Parallel()
	sized := func(size int64) config.Sources {
		path := filepath.Join(t.TempDir(), "config")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, size))
		return world.Named(path)
	}
	untouched := readerFunc(func([]byte) (int, error) {
		require.Fail(t, "the file is read")
		return 0, io.EOF
	})
	for name, read := range world.Readers(sized(50 << 20)) {
		err := read(false)
		require.ErrorIs(t, err, sharedfile.ErrTooLarge, name)
		require.ErrorContains(t, err, "config: cannot be read: larger than 4 MiB")
	}
	for name, read := range world.Readers(world.WithHome(liar{1 << 40, func() io.Reader { return untouched }})) {
		require.ErrorIs(t, read(false), sharedfile.ErrTooLarge, name)
	}
	require.ErrorIs(t, world.Readers(sized(maxFileSize + 1))["resolve"](false), sharedfile.ErrTooLarge)
	require.NoError(t, world.Readers(sized(maxFileSize))["resolve"](false))
}

func TestReadingThatFailsHalfWayLeavesTheFileEmpty(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	half := func() io.Reader {
		failing := readerFunc(func([]byte) (int, error) { return 0, broken })
		return io.MultiReader(strings.NewReader("[default]\nmax_attempts = 9\nmax"), failing)
	}
	src := world.WithHome(liar{10, half})
	settings, err := lint.Resolve(config.Query{Sources: src, Strict: true})
	require.NoError(t, err)
	require.Equal(t, "unreadable", settings.Files[0].Status)
	require.Equal(t, 3, settings.MaxAttempts.Value)
	require.Contains(t, world.Lines(settings.Diagnostics),
		"/h/.aws/config: warning: the config file counts as empty: it cannot be read: disk on fire [unreadable-file]")

	src.ConfigFile = "/config"
	for name, read := range world.Readers(src) {
		require.ErrorIs(t, read(false), broken, name)
	}
}

func TestLineOfAMegabyte(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	settings, err := lint.Resolve(config.Query{Sources: world.Texts("[default]\nmax_attempts = 4\na = "+long+"\n"+long+" = b\n# "+long+"\n", "")})
	require.NoError(t, err)
	require.Equal(t, 4, settings.MaxAttempts.Value)

	for _, bad := range []string{"[" + long, "[default]\n" + long, "[default]\nretry_mode" + long + "\n", " " + long} {
		_, err := lint.Resolve(config.Query{Sources: world.Texts(bad, ""), Strict: true})
		require.Error(t, err)
		require.Less(t, len(err.Error()), 200)
		found, err := lint.Files(world.Texts(bad, ""), false)
		require.NoError(t, err)
		require.Len(t, world.Without(found), 1)
		for _, d := range found {
			require.Less(t, len(d.String()), 250)
		}
	}
}

func TestBackslashIsOrdinaryUnlessOnWindows(t *testing.T) {
	t.Parallel()
	for platform, want := range map[string]string{"linux": "missing", "windows": "loaded"} {
		src := world.WithHome(nil)
		src.FS, src.ConfigFile = world.On(platform, fstest.MapFS{"a/b": {}}), `a\b`
		settings, err := lint.Resolve(config.Query{Sources: src})
		require.NoError(t, err)
		require.Equal(t, want, settings.Files[0].Status)
	}
}

func TestPathsInAFileSystem(t *testing.T) {
	t.Parallel()
	settings, err := lint.Resolve(config.Query{Sources: config.Sources{
		FS: world.On("windows", fstest.MapFS{
			"C:/me/.aws/config": {Data: []byte("[default]\n")}, "rel/keys": {Data: []byte("[default]\n")},
		}),
		CredentialsFile: "./rel//keys", LookupEnv: world.LookupIn(map[string]string{"HOME": `C:\me`}),
	}})
	require.NoError(t, err)
	require.Equal(t, []config.FileStatus{
		{Kind: "config", Path: `C:\me\.aws\config`, Status: "loaded"},
		{Kind: "credentials", Path: "./rel//keys", Status: "loaded"},
	}, settings.Files)
}

func TestHomeDirectoryOfTheSystemCountsOnlyInItsOwnFileSystem(t *testing.T) {
	t.Parallel()
	empty := world.LookupIn(nil)
	unknown := machine.FS{
		FS: fstest.MapFS{}, Platform: "linux", HomeDir: func() (string, error) { return "", errors.New("no such user") },
	}
	for name, c := range map[string]struct {
		sources config.Sources
		path    string
		codes   []string
	}{
		"another file system": {config.Sources{LookupEnv: empty, FS: fstest.MapFS{}}, "", nil},
		"another file system, and a path in the home directory": {
			config.Sources{LookupEnv: empty, FS: fstest.MapFS{}, ConfigFile: "~/c"}, "~/c", []string{"missing-file"},
		},
		"another file system, and HOME": {
			config.Sources{LookupEnv: world.LookupIn(map[string]string{"HOME": "/h"}), FS: fstest.MapFS{}}, "/h/.aws/config", nil,
		},
		"another machine": {
			config.Sources{LookupEnv: empty, FS: machine.FS{
				FS: fstest.MapFS{}, Platform: "linux", HomeDir: func() (string, error) { return "/m", nil },
			}}, "/m/.aws/config", nil,
		},
		"another machine, whose system knows none": {
			config.Sources{LookupEnv: empty, FS: unknown}, "", []string{"no-home-directory"},
		},
		"the same, where no path needs it": {
			config.Sources{LookupEnv: empty, FS: unknown, ConfigFile: "/c", CredentialsFile: "/c"}, "/c", []string{"missing-file", "missing-file"},
		},
	} {
		s, err := lint.Resolve(config.Query{Sources: c.sources})
		require.NoError(t, err)
		require.Equal(t, c.path, s.Files[0].Path, name)
		require.Equal(t, "missing", s.Files[0].Status, name)
		require.Equal(t, append([]string{}, c.codes...), world.Codes(s.Diagnostics), name)
	}
}

func TestHomeDirectoryOfTheUserCountsWhereHOMEIsUnset(t *testing.T) {
	t.Parallel()
	want, found := "~/no-such-file", []string{"no-home-directory", "missing-file"}
	if u, err := user.Current(); err == nil {
		want, found = strings.TrimSuffix(u.HomeDir, "/")+"/no-such-file", []string{"missing-file"}
	}
	s, err := lint.Resolve(config.Query{Sources: config.Sources{
		LookupEnv: world.LookupIn(nil), ConfigFile: "~/no-such-file", CredentialsFile: os.DevNull,
	}})
	require.NoError(t, err)
	require.Equal(t, want, s.Files[0].Path)
	require.Equal(t, found, world.Codes(s.Diagnostics))
}

func TestVariableThatIsNotSetHasNoValue(t *testing.T) {
	t.Parallel()
	settings, err := lint.Resolve(config.Query{Sources: config.Sources{
		LookupEnv: func(key string) (string, bool) { return "x", key == "HOME" }, FS: fstest.MapFS{},
	}})
	require.NoError(t, err)
	require.Equal(t, "default", settings.Profile.Value)
	require.Empty(t, settings.Diagnostics)
}

func TestNullDeviceIsAnEmptyFile(t *testing.T) {
	t.Parallel()
	s, err := lint.Resolve(config.Query{Sources: config.Sources{ConfigFile: os.DevNull, CredentialsFile: os.DevNull, LookupEnv: world.LookupIn(nil)}})
	require.NoError(t, err)
	require.Equal(t, "loaded", s.Files[0].Status)
	require.Empty(t, s.Diagnostics)
}

func TestOneFileMayBeBoth(t *testing.T) {
	t.Parallel()
	src := config.Sources{
		ConfigFile: "/both", CredentialsFile: "/both", LookupEnv: world.LookupIn(nil),
		FS: world.On("linux", fstest.MapFS{"both": {Data: []byte("[default]\nmax_attempts = 4\n[dev]\nretry_mode = adaptive\n[profile dev]\nmax_attempts = 7\nx\n")}}),
	}
	found, err := lint.Files(src, false)
	require.NoError(t, err)
	require.Equal(t, []string{"/both:7: warning: expected an '=' sign in a property; the line is skipped [malformed-line]"}, world.Lines(world.Without(found)))
	s, err := lint.Resolve(config.Query{Sources: src, Profile: "dev"})
	require.NoError(t, err)
	require.Equal(t, config.Mode("adaptive"), s.RetryMode.Value)
	require.Equal(t, 7, s.MaxAttempts.Value)
	require.Len(t, world.Without(s.Diagnostics), 1)
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
		"h/.aws/config/x":    {},
		"h/.aws/credentials": {Data: []byte("[default]\nmax_attempts = 4\n")},
	}
	s, err := lint.Resolve(config.Query{Sources: world.WithHome(tree)})
	require.NoError(t, err)
	require.Equal(t, 4, s.MaxAttempts.Value)
	require.Equal(t, "unreadable", s.Files[0].Status)
	require.Equal(t, []config.Diagnostic{{
		Code: "unreadable-file", File: "/h/.aws/config",
		Message: "the config file counts as empty: it cannot be read: not a regular file but a directory",
	}, {
		Code: "read-differently", File: "/h/.aws/config", Tools: []string{"aws-sdk-go-v2"},
		Message: "aws-sdk-go-v2: a directory in the place of a file is refused",
	}}, s.Diagnostics)

	denied := oneError{FS: tree, name: "h/.aws/credentials", err: fs.ErrPermission}
	s, err = lint.Resolve(config.Query{Sources: world.WithHome(denied)})
	require.NoError(t, err)
	require.Equal(t, 3, s.MaxAttempts.Value)
	require.Equal(t, "unreadable", s.Files[1].Status)

	src := world.WithHome(denied)
	src.ConfigFile = "~/.aws/config"
	_, err = lint.Resolve(config.Query{Sources: src})
	require.EqualError(t, err, "config: /h/.aws/config: cannot be read: not a regular file but a directory")
	src.ConfigFile, src.CredentialsFile = "", "/h/.aws/credentials"
	_, err = lint.Resolve(config.Query{Sources: src})
	require.ErrorIs(t, err, fs.ErrPermission)
	require.EqualError(t, err, "config: /h/.aws/credentials: cannot be read: permission denied")
}

func TestFileThatCodeNamesMayBeMissing(t *testing.T) {
	t.Parallel()
	src := world.WithHome(fstest.MapFS{})
	src.ConfigFile = "/nowhere"
	s, err := lint.Resolve(config.Query{Sources: src})
	require.NoError(t, err)
	require.Equal(t, config.FileStatus{Kind: "config", Path: "/nowhere", Status: "missing"}, s.Files[0])
	require.Equal(t, []string{"missing-file"}, world.Codes(s.Diagnostics))
}
