//go:build unix && !race

package simulate

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/files"
)

// The signal comes while a large part is written, by a process of its own: this test again.
func TestTerminatedReportLeavesNoPart(t *testing.T) {
	t.Parallel()
	if path := flag.Arg(0); path != "" {
		require.NoError(t, files.Replace(path, make([]byte, 64<<20)))
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
