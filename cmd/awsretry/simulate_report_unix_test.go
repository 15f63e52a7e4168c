//go:build unix && !race

package main

import (
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
	_, errs, status := runSimulate(t, "-o", path, "--limit", "20", "--offered", "1", "--seed", "1")
	require.Zero(t, status, errs)
	require.Contains(t, <-read, "</html>")
}
