//go:build unix

package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// streams returns a file system of the operating system on which pipes and "-" have a text.
func streams(text string, names *[]string) fs.FS {
	return sharedfile.Machine{Stream: func(name string, limit int64) (string, error) {
		*names = append(*names, name)
		return text[:min(int64(len(text)), limit)], nil
	}}
}

func TestPipeIsReadIfTheMachineSaysHow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	for _, name := range []string{path, "-"} {
		var names []string
		src := config.Sources{ConfigFile: name, CredentialsFile: os.DevNull, FS: streams("[default]\nmax_attempts = 7\n", &names)}
		src.LookupEnv = world.LookupIn(nil)
		settings, err := config.Query{Sources: src}.Resolve()
		require.NoError(t, err)
		require.Equal(t, 7, settings.MaxAttempts.Value)
		require.Equal(t, name, settings.MaxAttempts.Origin.File)
		require.Equal(t, []string{name}, names)

		src.FS = streams(strings.Repeat("x", maxFileSize+1), &names)
		_, err = config.Query{Sources: src}.Resolve()
		require.ErrorIs(t, err, sharedfile.ErrTooLarge)
	}
}

func TestDashInAVariableIsTheNameOfAFile(t *testing.T) {
	t.Parallel()
	var names []string
	src := world.Named("-")
	src.FS = streams("[default]\nmax_attempts = 7\n", &names)
	settings, err := config.Query{Sources: src}.Resolve()
	require.NoError(t, err)
	require.Equal(t, "missing", settings.Files[0].Status)
	require.Empty(t, names)
}

func TestPathOfNoFileThatCanBeReadIsUnreadable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		create func(path string) error
		want   error
	}{
		"a pipe, which would wait for a writer for ever": {func(path string) error { return syscall.Mkfifo(path, 0o600) }, sharedfile.ErrNotRegular},
		"a loop of links":    {func(path string) error { return os.Symlink(path, path) }, syscall.ELOOP},
		"without permission": {func(path string) error { return os.WriteFile(path, []byte("[default]\n"), 0) }, fs.ErrPermission},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config")
			require.NoError(t, c.create(path))
			src := world.Named(path)
			src.FS = world.Permitted()
			settings, err := config.Query{Sources: src, Strict: true}.Resolve()
			require.NoError(t, err)
			require.Equal(t, "unreadable", settings.Files[0].Status)
			src.ConfigFile = path
			_, err = config.Query{Sources: src}.Resolve()
			require.ErrorIs(t, err, c.want)
		})
	}
}
