//go:build unix && !race

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// The signal comes while a large part is written, by a process of its own: this test again.
func TestTerminatedReportLeavesNoPart(t *testing.T) {
	t.Parallel()
	if path := flag.Arg(0); path != "" {
		require.NoError(t, replace(path, make([]byte, 64<<20)))
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", path)
	require.NoError(t, child.Start())
	ended := make(chan *os.ProcessState, 1)
	go func() {
		_ = child.Wait() // A signal may have ended it.
		ended <- child.ProcessState
	}()
	for begun := false; !begun && len(ended) == 0; runtime.Gosched() {
		info, err := os.Stat(path + ".part")
		begun = err == nil && info.Size() > 0
	}
	_ = child.Process.Signal(syscall.SIGTERM) // It fails if the process has ended.
	require.NotNil(t, <-ended)

	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.Equal(t, []string{path}, files)
}
