//go:build !race

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// written returns the report that simulate writes, and what it prints.
func written(t *testing.T, args ...string) (page, out string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	out, errs, status := runSimulate(t, append(args, "-o", path)...)
	require.Zero(t, status, errs)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text), out
}

// report writes a small report to a path.
func report(t *testing.T, path string) {
	t.Helper()
	_, errs, status := runSimulate(t, "-o", path, "--limit", "20", "--offered", "1", "--seed", "1")
	require.Zero(t, status, errs)
}

func TestSimulateWritesTheReport(t *testing.T) {
	t.Parallel()
	args := strings.Fields("--profile prod --vs v2.0,max_attempts=3 --outage 5s --limit 20 --offered 10 --config-file /home/me/.aws/config")
	first, out := written(t, args...)
	require.Empty(t, out)
	require.Less(t, len(first), 400_000)
	for _, want := range []string{
		strings.Join(args, " ") + "<", "/home/me/.aws/config:7: [profile prod] retry_mode", "--vs v2.0,max_attempts=3",
	} {
		require.Contains(t, first, want)
	}
	require.NotContains(t, first, "report.html")
	second, out := written(t, append([]string{"--json"}, args...)...)
	require.Equal(t, first, strings.Replace(second, "--json ", "", 1), "the same bytes")
	require.True(t, json.Valid([]byte(out)))
}

func TestSimulateSaysThatTheReportCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "no-directory", "report.html"), t.TempDir()} {
		out, errs, status := runSimulate(t, "-o", path)
		require.Equal(t, exitBad, status)
		require.Empty(t, out)
		require.Contains(t, errs, "awsretry simulate: -o: open "+path+": ")
		require.NotContains(t, errs, "shows the flags")
	}
}

// A disk may be full, so an older report is not touched before the new one is complete.
func TestReportTakesThePlaceOfAnOlderOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "report.html"), filepath.Join(dir, "link.html")
	require.NoError(t, os.WriteFile(path, []byte("an older report"), 0o600))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, os.Symlink("report.html", link))
	old, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, old.Close()) }()

	report(t, link)

	text, err := io.ReadAll(old)
	require.NoError(t, err)
	require.Equal(t, "an older report", string(text), "it was not written to")
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "<!doctype html>")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2, "the link and its target")
	require.Equal(t, os.ModeSymlink, files[0].Type())
}

func TestSimulateReportsWhatWasPlayed(t *testing.T) {
	t.Parallel()
	const small = " --limit 20 --offered 1"
	for args, wants := range map[string][]string{
		"--output /x --output=/y --seed=3" + small: {"Made by awsretry v0.0.0-test.", " awsretry simulate --seed=3 --limit 20 --offered 1 Pictures", "!/x", "!/y"},
		"--limit 7 --offered 1":                    {"limit 7 requests/s burst 7 requests "},
		"--outage 10s" + small:                     {"outage 10s "},
		"--fail 0.1..0.2" + small:                  {"fail 0.1..0.2 ", "!0.25"},
		"--vs max_attempts=1" + small:              {"drain point 21.5 % — ", "!drains at"},
		"--behavior v2.0 --vs adaptive" + small:    {"behavior v2.0 option --behavior same"},
		// Each variant has its own line in the picture of failures, also where all come to the same in the run itself.
		"--fail 0..0.5 --limit 500 --offered 5 --workers 0 --seed 1 --vs v2.0 --vs v2.1": {"drains at 21.5 %", "v2.0 (drains at 32.1 %)", "v2.1 (drains at 21.5 %)"},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			page, _ := written(t, strings.Fields(args)...)
			visible := regexp.MustCompile(`(?s)<(style|script).*?</(style|script)>`).ReplaceAllString(page, "")
			text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(visible, " ")), " ")
			for _, want := range wants {
				if absent, ok := strings.CutPrefix(want, "!"); ok {
					require.NotContains(t, text, absent)
					continue
				}
				require.Contains(t, text, want)
			}
		})
	}
}

func TestInterruptedSimulationLeavesTheFileOfTheReport(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "report.html")
	for _, before := range []string{"", "an older report"} {
		if before != "" {
			require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
		}
		var out, errs bytes.Buffer
		status := run(ctx, []string{"simulate", "--json", "-o", path}, system{out: &out, errs: &errs, sources: world(nil, nil)})
		require.Equal(t, exitInterrupted, status)
		require.Empty(t, out.String())
		require.Equal(t, "awsretry simulate: interrupted, so there are no figures\n", errs.String())
		text, err := os.ReadFile(path)
		require.Equal(t, before != "", err == nil)
		require.Equal(t, before, string(text))
	}
}
