package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/pipenet"
)

// TestMain lets the test program be a worker, because a worker is its own program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == workerArgument {
		os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// pipes is a network that a synctest bubble holds all of.
func pipes(context.Context) (net.Listener, http.RoundTripper, error) {
	network := pipenet.New()
	return network, network.Transport(), nil
}

// The research of this design has 0.91 % with a fleet for 100 workers that share 100 requests a
// second, and 34.2 % without one; here are 40.
func TestFleetOfMembersIsThrottledFarLessAndFasterThanMembersAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		// A minute, because a fleet that looks for more than its rate is throttled for some seconds, and 15 s may be just these.
		p := play{workers: 40, rate: 100, warmUp: 10 * time.Second, measure: 59 * time.Second, connect: pipes}
		require.NoError(t, p.twice(t.Context(), &out))
		requireTable(t, out.String(), 40)
		require.Contains(t, out.String(), "in one process over fleet.Memory")
	})
}

// requireTable holds what both the members in one process and the processes must reach.
func requireTable(t *testing.T, printed string, workers float64) {
	t.Helper()
	t.Log("\n" + printed)
	golden, err := os.ReadFile(filepath.Join("testdata", "output.golden"))
	require.NoError(t, err)
	// The first line says which workers they are.
	_, want, _ := strings.Cut(string(golden), "\n")
	_, got, _ := strings.Cut(printed, "\n")
	require.Equal(t, shape(want), shape(got))

	alone, together := column(t, printed, 1), column(t, printed, 2)
	// One run that begins cold, so that its fleet may still be looking for the rate.
	require.LessOrEqual(t, together["throttled"], 5.0)
	require.Greater(t, alone["throttled"], 3*together["throttled"])
	require.Greater(t, alone["throttled"], 5.0)
	require.InDelta(t, 90, together["goodput"], 20)
	require.InDelta(t, 100, together["send rate of the fleet"], 50)
	require.Greater(t, together["least served worker"], 0.6*together["goodput"]/workers)
	require.Less(t, together["most served worker"], 1.6*together["goodput"]/workers)
	require.Greater(t, together["calls of the store"], 20.0)
	require.Less(t, together["calls of the store"], 300.0)
}

var (
	numberPattern = regexp.MustCompile(`\d+(\.\d+)?`)
	spacePattern  = regexp.MustCompile(` +`)
	rowPattern    = regexp.MustCompile(`(?m)^(\w[\w ]*\w) {2,}(\S+)(?: %|/s)? +(\S+)(?: %|/s)?$`)
)

// shape is a text without what differs from run to run.
func shape(text string) string {
	return spacePattern.ReplaceAllString(numberPattern.ReplaceAllString(text, "0"), " ")
}

// column returns the numbers of a column of the table, by row.
func column(t *testing.T, printed string, number int) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, row := range rowPattern.FindAllStringSubmatch(printed, -1) {
		text := strings.TrimSuffix(row[number+1], "/s")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			values[row[1]] = value
		}
	}
	return values
}

func TestBadArgumentsEndTheProgram(t *testing.T) {
	t.Parallel()
	noServer, err := os.Executable()
	require.NoError(t, err)
	for _, c := range []struct {
		args   []string
		status int
		errs   string
	}{
		{[]string{"-workers", "0"}, 2, "example: -workers must be from 1 to 1000, and is 0\n"},
		{[]string{"-workers", "1001"}, 2, "example: -workers must be from 1 to 1000, and is 1001\n"},
		{[]string{"-rate", "NaN"}, 2, "example: -rate must be above 0 and at most 100000, and is NaN\n"},
		{[]string{"-rate", "+Inf"}, 2, "example: -rate must be above 0 and at most 100000, and is +Inf\n"},
		{[]string{"-for", "0s"}, 2, "example: -for must be above 0s, and is 0s\n"},
		{[]string{"10"}, 2, "example: there are flags only, and no argument \"10\"\n"},
		{[]string{"-x"}, 2, "-redis-server"},
		{[]string{"-h"}, 0, "-redis-server"},
		{[]string{"-redis-server", filepath.Join(t.TempDir(), "none")}, 1, "example: "},
		{[]string{"-redis-server", noServer}, 1, "redis-server has ended: exit status 2"},
		{[]string{workerArgument}, 1, "a worker has 3 arguments"},
	} {
		var out, errs bytes.Buffer
		status := run(t.Context(), append([]string{"example"}, c.args...), strings.NewReader(""), &out, &errs)
		require.Equal(t, c.status, status, c.args)
		require.Contains(t, errs.String(), c.errs)
		require.Empty(t, out.String())
	}
}

// Tests that count processes are not parallel, because children of other tests would count.
func TestInterruptLeavesNoProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	listener, way, err := loopback(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	crew, err := processes{count: 3}.start(ctx, "http://"+listener.Addr().String(), way)
	require.NoError(t, err)
	requireChildren(t, 3)
	_, err = crew.ask()
	require.NoError(t, err)

	cancel()
	require.NoError(t, crew.end(ctx))
	requireChildren(t, 0)
}

func TestWorkerThatFailsIsAnErrorAndLeavesNoProcess(t *testing.T) {
	crew, err := processes{count: 3}.start(t.Context(), "nowhere://", nil)
	require.NoError(t, err)

	require.Eventually(t, func() bool {
		_, err = crew.ask() // it may be asked before it fails
		return err != nil
	}, 5*time.Second, 10*time.Millisecond)
	require.ErrorContains(t, err, "has ended")
	err = crew.end(t.Context())
	require.ErrorContains(t, err, "exit status 1")
	require.ErrorContains(t, err, `unsupported protocol scheme "nowhere"`)
	requireChildren(t, 0)
}

// requireChildren counts the processes that this process has started, on systems that tell.
func requireChildren(t *testing.T, want int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	count := 0
	for _, path := range paths {
		text, _ := os.ReadFile(path) // a process that has ended has no file
		// The name of the program, in parentheses, may have spaces.
		_, fields, _ := strings.Cut(string(text), ") ")
		if words := strings.Fields(fields); len(words) > 1 && words[1] == strconv.Itoa(os.Getpid()) {
			count++
		}
	}
	require.Equal(t, want, count)
}
