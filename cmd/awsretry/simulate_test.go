//go:build !race

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulateOutput(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"help": "-h",
		"open": "--workers 0 --limit 20 --burst 5 --latency 10ms --offered 15 --duration 45s --service dynamodb --behavior v2.0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireSimulated(t, name, args)
		})
	}
	out, errs, status := runSimulate(t, "--latency", "1h", "--json")
	require.Zero(t, status, errs)
	require.Regexp(t, `"seeds":\[1,2,3,4,5,6,7,8,9,10\],"variants":\[\{"attempts_per_call":null,.*"waiting_calls":100.*\}\],"version":"v0.0.0-test"`, out)
	_, errs, status = runSimulate(t, strings.Fields("--profile prod --workers 0 --limit 1 --offered 5000")...)
	require.Equal(t, exitBad, status)
	require.Equal(t, "awsretry simulate: settings: more than 20000 calls are open at once: lower --offered or --duration, or give --workers\n", errs)
}

func TestSimulateWarnsOnceOfWhatItDoesNotRead(t *testing.T) {
	t.Parallel()
	sources := world(map[string]string{"config": "[default]\nmalformed\nretry-mode = adaptive\n"}, map[string]string{"AWS_SHARED_CREDENTIALS_FILE": "/nowhere"})
	_, errs, status := invoke(t, sources, strings.Fields("simulate --config-file /config --vs v2.0 --limit 20 --offered 1 --seed 1")...)
	require.Zero(t, status)
	require.Equal(t, "/nowhere: warning: the credentials file that AWS_SHARED_CREDENTIALS_FILE names does not exist [missing-file]\n"+
		"/config:2:1: warning: expected an '=' sign in a property; the line is skipped [malformed-line]\n", errs)
}

func requireSimulated(t *testing.T, name, args string) {
	t.Helper()
	out, errs, status := runSimulate(t, strings.Fields(args)...)
	requireGolden(t, "simulate-"+name, fmt.Sprintf("$ awsretry simulate %s\n%s--- stderr\n%s--- exit %d\n", args, out, errs, status))
}

// TestQuestionsOfTheSimulatePageArePlayed holds that the flags of each question have a golden file, which has the shares of
// the answer.
func TestQuestionsOfTheSimulatePageArePlayed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/simulate.md")
	require.NoError(t, err)
	paths, err := filepath.Glob("testdata/simulate-*.golden")
	require.NoError(t, err)
	var goldens []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		goldens = append(goldens, string(text))
	}
	_, table, _ := strings.Cut(string(text), "| question | flags | answer |")
	table, _, _ = strings.Cut(table, "\n\n")
	questions := regexp.MustCompile("(?m)^\\|[^|]+\\| `(--[^`]+)` \\| (.*) \\|$").FindAllStringSubmatch(table, -1)
	require.Len(t, questions, 8)
	shares := regexp.MustCompile(`(\d+(?:\.\d+)?) (?:\([^)]*\) )?%`)
	compared := 0
	for _, q := range questions {
		at := slices.IndexFunc(goldens, func(golden string) bool { return strings.HasPrefix(golden, "$ awsretry simulate "+q[1]+"\n") })
		require.GreaterOrEqual(t, at, 0, q[1])
		printed := shares.FindAllStringSubmatch(goldens[at], -1)
		for _, said := range shares.FindAllStringSubmatch(q[2], -1) {
			compared++
			_, digits, _ := strings.Cut(said[1], ".")
			require.True(t, slices.ContainsFunc(printed, func(share []string) bool {
				v, err := strconv.ParseFloat(share[1], 64)
				return err == nil && strconv.FormatFloat(v, 'f', len(digits), 64) == said[1]
			}), "%s: %s is not in the golden file", q[1], said[0])
		}
	}
	require.Greater(t, compared, 8)
}
