//go:build unix

package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

// requireUnreadable checks that a file counts as empty, with a warning.
func requireUnreadable(t *testing.T, src config.Sources) {
	t.Helper()
	settings, err := config.Query{Sources: src, Strict: true}.Resolve()
	require.NoError(t, err)
	require.Equal(t, "unreadable", settings.Files[0].Status)
	require.Equal(t, "unreadable-file", settings.Diagnostics[0].Code)
	require.Equal(t, "warning", settings.Diagnostics[0].Severity)
	found, err := src.Lint(true)
	require.NoError(t, err)
	require.Contains(t, found, settings.Diagnostics[0])
}

func TestPipeIsNotOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, syscall.Mkfifo(path, 0o600)) // Opening it would wait for a writer for ever.
	requireUnreadable(t, named(path))
	for name, read := range readers(config.Sources{ConfigFile: path, CredentialsFile: path}) {
		err := read(false)
		require.ErrorIs(t, err, config.ErrNotRegular, name)
		require.EqualError(t, err, "config: "+path+": cannot be read: not a regular file")
	}
}

func TestLinkLoopIsUnreadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.Symlink(path, path))
	requireUnreadable(t, named(path))
	for name, read := range readers(config.Sources{ConfigFile: path, CredentialsFile: path}) {
		require.ErrorIs(t, read(false), syscall.ELOOP, name)
	}
}

func TestFileWithoutPermissionIsUnreadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte("[default]\n"), 0))
	src := named(path)
	src.FS = permitted()
	requireUnreadable(t, src)
	src.ConfigFile = path
	for name, read := range readers(src) {
		require.ErrorIs(t, read(false), fs.ErrPermission, name)
	}
}
