package main

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// farthest remembers how far a trace has been read.
type farthest struct {
	io.ReaderAt
	end atomic.Int64
}

func (f *farthest) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(p, offset)
	f.end.Store(max(f.end.Load(), offset+int64(n)))
	return n, err
}

// lineCounter counts the lines of the output.
type lineCounter int

func (c *lineCounter) Write(line []byte) (int, error) {
	*c++
	return len(line), nil
}

// The replay prints a step before it reads far beyond it, and forgets a request that is over.
func TestReplayKeepsNothingOfTheStepsThatAreDone(t *testing.T) {
	t.Parallel()
	const steps, ahead = 30_000, 256 << 10
	for _, c := range []struct{ name, list, even, odd string }{
		{"responses", "steps", `{"response": {"kind": "transient"}}`, `{"response": {"kind": "throttling"}}`},
		{"requests", "steps", `{"request": "%d", "response": {"kind": "transient"}}`, `{"request": "%d", "response": {"kind": "success"}}`},
		{"operations", "operations", `{"responses": [{"status": 500}, {"status": 200}]}`, `{"responses": [{"status": 200}]}`},
		{"rate", "steps", `{"t_s": %d}`, `{"t_s": %d, "throttled": true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			for i := range steps {
				step := c.even
				if i%2 == 1 {
					step = c.odd
				}
				if strings.Contains(step, "%d") {
					step = fmt.Sprintf(step, i/2)
				}
				text.WriteString(step + ",\n")
			}
			trace := fmt.Sprintf(`{%q: [%s], "mode": "adaptive", "given": {"max_attempts": 1000000, "initial_quota": 2000000000}}`,
				c.list, strings.TrimSuffix(text.String(), ",\n"))
			file := &traceFile{ReaderAt: strings.NewReader(trace), name: "trace"}
			header, err := readHeader(newTraceReader(file, 0), "")
			require.NoError(t, err)
			read := &farthest{ReaderAt: file.ReaderAt}
			reader := newTraceReader(&traceFile{ReaderAt: read, name: "trace"}, 0)
			near := func() { require.Less(t, read.end.Load()-reader.offset(), int64(ahead)) }

			var lines lineCounter
			out := &call{system: system{out: &lines, errs: io.Discard}, flags: flags{json: true}}
			player, err := newPlayer(header)
			require.NoError(t, err)
			rate := newRatePlayer(header.start)
			player.clock.Run(func() {
				switch header.form {
				case formOperations:
					err = eachStep(out, reader, func(r *traceReader) (*operationLine, error) {
						near()
						return player.operation(t.Context(), r)
					})
				case formRate:
					err = eachStep(out, reader, func(r *traceReader) (*sendRateLine, error) {
						near()
						return rate.step(r)
					})
				default:
					err = eachStep(out, reader, func(r *traceReader) (*stepLine, error) {
						near()
						require.LessOrEqual(t, len(player.requests), 1)
						return player.step(t.Context(), r)
					})
				}
			})
			require.NoError(t, err)
			require.EqualValues(t, steps, lines)
			require.Greater(t, len(trace), 2*ahead)
		})
	}
}
