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

func TestPipeIsNotOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, syscall.Mkfifo(path, 0o600)) // Opening it would wait for a writer for ever.
	files, err := openFile(path)
	require.NoError(t, err)
	require.Equal(t, config.StatusUnreadable, files.Status()[0].Status)
	_, err = config.Open(config.Sources{ConfigFile: path, CredentialsFile: path})
	require.ErrorIs(t, err, config.ErrNotRegular)
	require.EqualError(t, err, path+": cannot be read: not a regular file")
}

func TestLinkLoopIsUnreadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.Symlink(path, path))
	files, err := openFile(path)
	require.NoError(t, err)
	require.Equal(t, config.StatusUnreadable, files.Status()[0].Status)
	require.Equal(t, config.CodeUnreadableFile, files.Diagnostics()[0].Code)
}

func TestFileWithoutPermissionIsUnreadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte("[default]\n"), 0))
	files, err := config.Open(config.Sources{FS: permitted(), LookupEnv: lookupIn(map[string]string{
		config.EnvConfigFile: path, config.EnvCredentialsFile: path + ".none",
	})})
	require.NoError(t, err)
	require.Equal(t, config.StatusUnreadable, files.Status()[0].Status)
	_, err = config.Open(config.Sources{FS: permitted(), ConfigFile: path})
	require.ErrorIs(t, err, fs.ErrPermission)
}
