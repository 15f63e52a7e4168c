//go:build long

package pages_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	repeatsPattern = regexp.MustCompile(` -(benchtime|count) \S+`)
	measurePattern = regexp.MustCompile(`(?m)^Benchmark.* ns/op`)
)

// TestBenchmarksOfThePagesRun runs every go test -bench of a page where the page says, but each benchmark only once.
func TestBenchmarksOfThePagesRun(t *testing.T) {
	t.Parallel()
	ran, environment := 0, clean(t, t.TempDir())
	for _, c := range commandsOf(t) {
		if !c.isTest() || !strings.Contains(c.line, " -bench ") {
			continue
		}
		ran++
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			line := repeatsPattern.ReplaceAllString(c.line, "")
			shell := exec.CommandContext(t.Context(), "sh", "-c", `export GOFLAGS="$GOFLAGS -vet=off -benchtime=1x"; `+line)
			shell.Dir, shell.Env = c.folder, environment
			out, err := shell.CombinedOutput()
			require.NoError(t, err, "%s, in %s\n%s", c.page, c.folder, out)
			require.Regexp(t, measurePattern, string(out), "%s, in %s: no benchmark", c.page, c.folder)
		})
	}
	require.Positive(t, ran)
}

func TestLiveOfThePagesServes(t *testing.T) {
	at := slices.IndexFunc(commandsOf(t), func(c command) bool { return c.line == "go run ./live" })
	require.GreaterOrEqual(t, at, 0)
	c := commandsOf(t)[at]
	// go run would not pass the signal on, and a group of its own would be left behind by an interrupt.
	program := filepath.Join(t.TempDir(), "live")
	build := strings.Replace(c.line, "go run", "go build -o "+program, 1)
	shell := exec.CommandContext(t.Context(), "sh", "-c", build+" && exec "+program)
	shell.Dir, shell.Env = c.folder, clean(t, t.TempDir())
	require.NoError(t, shell.Start())
	require.Eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:9464/metrics", nil)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, 10*time.Minute, 50*time.Millisecond) // It is compiled first.
	require.NoError(t, shell.Process.Signal(os.Interrupt))
	require.NoError(t, shell.Wait())
}

func TestExampleOfThePagesRuns(t *testing.T) {
	t.Parallel()
	at := slices.IndexFunc(commandsOf(t), func(c command) bool { return c.line == "go run ./example" })
	require.GreaterOrEqual(t, at, 0)
	c := commandsOf(t)[at]
	redis, err := filepath.Abs(".bin/redis") // of make redis
	require.NoError(t, err)
	shell := exec.CommandContext(t.Context(), "sh", "-c", "PATH=$PATH:"+redis+"; "+c.line+" -for 1s")
	shell.Dir, shell.Env = c.folder, clean(t, t.TempDir())
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `(?m)^throttled .* %$`, string(out))
	require.Regexp(t, `(?m)^goodput .*/s$`, string(out))
	if _, err := os.Stat(redis); err == nil {
		require.Contains(t, string(out), "40 worker processes with a redis-server.")
	}
}

func TestTargetsOfThePagesRun(t *testing.T) {
	for target, variables := range made {
		t.Run(target, func(t *testing.T) {
			shell := exec.CommandContext(t.Context(), "sh", "-c", "unset MAKEFLAGS MFLAGS; "+variables+" make "+target)
			shell.Env = clean(t, t.TempDir())
			out, err := shell.CombinedOutput()
			require.NoError(t, err, string(out))
			require.NotEmpty(t, out)
		})
	}
}
