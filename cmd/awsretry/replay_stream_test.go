//go:build !race

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// heapWriter counts lines and measures the heap at two of them.
type heapWriter struct {
	lines, first, second int
	before, after        uint64
}

func (w *heapWriter) Write(line []byte) (int, error) {
	w.lines++
	switch w.lines {
	case w.first:
		w.before = heap()
	case w.second:
		w.after = heap()
	}
	return len(line), nil
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // pools are emptied by the second
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// This test is not parallel, because it measures the heap of the process. It does not run with
// the race detector, because pools then drop objects at random, which stay on the heap until the
// next collection.
func TestReplayNeedsNoMemoryForTheStepsThatAreDone(t *testing.T) {
	const steps, room = 40_000, 100_000
	for _, c := range []struct{ name, list, step, second string }{
		{"responses", "steps", `{"response": {"kind": "transient"}}`, `{"response": {"kind": "throttling"}}`},
		{"requests", "steps", `{"request": "%d", "response": {"kind": "transient"}}`, `{"request": "%d", "response": {"kind": "success"}}`},
		{"rate", "steps", `{"t_s": %d}`, `{"t_s": %d, "throttled": true}`},
		{"operations", "operations", `{"responses": [{"status": 500}, {"status": 200}]}`, `{"responses": [{"status": 200}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace.json")
			writeTrace(t, path, func(w io.Writer) {
				fmt.Fprintf(w, "{%q: [", c.list)
				for i := range steps {
					if i > 0 {
						fmt.Fprintln(w, ",")
					}
					step := c.step
					if i%2 == 1 {
						step = c.second
					}
					if c.name == "requests" || c.name == "rate" {
						step = fmt.Sprintf(step, i/2)
					}
					fmt.Fprint(w, step)
				}
				fmt.Fprint(w, `], "mode": "adaptive", "given": {"max_attempts": 1000000, "initial_quota": 2000000000, "max_backoff_s": 1}}`)
			})
			out := &heapWriter{first: 1000, second: steps - 1}

			status := run(t.Context(), []string{"replay", "--json", path}, system{out: out, errs: io.Discard})

			require.Zero(t, status)
			require.Equal(t, steps, out.lines)
			require.Less(t, out.after, out.before+room)
		})
	}
}

func writeTrace(t *testing.T, path string, write func(w io.Writer)) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	buffered := bufio.NewWriter(file)
	write(buffered)
	require.NoError(t, buffered.Flush())
	require.NoError(t, file.Close())
}
