//go:build unix && !race

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportIsWrittenToANamedPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	read := make(chan string, 1)
	go func() {
		text, err := os.ReadFile(path)
		if err != nil {
			text = []byte(err.Error())
		}
		read <- string(text)
	}()
	report(t, path)
	require.Contains(t, <-read, "</html>")
}

// Such as /dev/stdout, where the standard output is a temporary file that has no name any more.
func TestReportIsWrittenToADeletedFileBehindALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	file, err := os.Create(filepath.Join(dir, "deleted"))
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	require.NoError(t, os.Remove(file.Name()))
	require.NoError(t, os.Symlink(fmt.Sprintf("/dev/fd/%d", file.Fd()), link))

	report(t, link)

	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	text, err := io.ReadAll(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "</html>")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, os.ModeSymlink, files[0].Type())
}
