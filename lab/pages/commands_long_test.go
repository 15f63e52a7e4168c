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
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	benchtimePattern = regexp.MustCompile(` -benchtime \S+`)
	repeatsPattern   = regexp.MustCompile(`-(count|seeds) \d+`)
	testedPattern    = regexp.MustCompile(`(?m)^ok .*(s|\(cached\))$`)
	measurePattern   = regexp.MustCompile(`(?m)^Benchmark.* ns/op`)
)

// TestTestsOfThePagesRun runs every go test of a page where the page says. It only repeats less: once in place of several
// times, and with -short. What the tests print in full, make long and the targets of the Makefile show.
func TestTestsOfThePagesRun(t *testing.T) {
	t.Parallel()
	var ran []string
	environment := clean(t, t.TempDir())
	for _, c := range commandsOf(t) {
		line := repeatsPattern.ReplaceAllString(benchtimePattern.ReplaceAllString(c.line, ""), "-$1 1")
		if !c.isTest() || slices.Contains(ran, c.folder+line) {
			continue
		}
		ran = append(ran, c.folder+line)
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			before := goldens(t)
			shell := exec.CommandContext(t.Context(), "sh", "-c", `export GOFLAGS="$GOFLAGS -vet=off -short -benchtime=1x -ldflags=-w"; `+line)
			shell.Dir, shell.Env = c.folder, environment
			out, err := shell.CombinedOutput()
			require.NoError(t, err, "%s, in %s\n%s", c.page, c.folder, out)
			if strings.Contains(line, " -bench ") {
				require.Regexp(t, measurePattern, string(out), "%s, in %s: no benchmark", c.page, c.folder)
			} else {
				require.Regexp(t, testedPattern, string(out), "%s, in %s: no test", c.page, c.folder)
			}
			require.Equal(t, before, goldens(t), "%s: -update writes other files than those in the tree", c.line)
		})
	}
	require.Greater(t, len(ran), 15)
}

// goldens returns the golden files.
func goldens(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, path := range paths(t, ".golden") {
		texts[path] = read(t, path)
	}
	return texts
}

func TestLiveOfThePagesServes(t *testing.T) {
	at := slices.IndexFunc(commandsOf(t), func(c command) bool { return c.line == "go run ./live" })
	require.GreaterOrEqual(t, at, 0)
	c := commandsOf(t)[at]
	shell := exec.CommandContext(t.Context(), "sh", "-c", "exec "+c.line)
	shell.Dir, shell.Env, shell.SysProcAttr = c.folder, clean(t, t.TempDir()), &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, shell.Start())
	require.Eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:9464/metrics", nil)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, syscall.Kill(-shell.Process.Pid, syscall.SIGINT))
	_ = shell.Wait() // go run says 1 of any program that was interrupted
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
