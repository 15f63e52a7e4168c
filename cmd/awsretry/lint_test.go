package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
)

const oddFile = "[prod]\nmax_attempts = 5\n# awsretry:ignore misspelt-key\n[profile x]\nretry-mode = adaptive # awsretry:ignore\n" +
	"; awsretry:ignore misspelt-key\nmax-attempts = 3\nretry_mode = legacy\n"

func odd() map[string]string {
	return map[string]string{"home/me/deploy/config": oddFile, "home/me/deploy/credentials": "[dev]\nmax_attempts = ten\n", "dev/null": ""}
}

func TestLintReadsFilesByThemselvesAndObeysComments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		status int
		lines  []string // file:line and code
	}{
		"/home/me/deploy/config":                             {exitFine, []string{"config:1 ignored-section", "config:8 mapped-mode"}},
		"--fail-on warning /home/me/deploy/config":           {exitBad, []string{"config:1 ignored-section", "config:8 mapped-mode"}},
		"/home/me/deploy/config /home/me/deploy/credentials": {exitBad, []string{"config:1 ignored-section", "config:8 mapped-mode", "credentials:2 invalid-value"}},
		"/home/me/nothing":                                   {exitBad, []string{"nothing:0 missing-file"}},
	} {
		out, errs, status := invoke(t, world(odd(), nil), append([]string{"lint", "--json"}, strings.Fields(args)...)...)
		require.Equal(t, want.status, status, errs)
		var lines []string
		for line := range strings.Lines(out) {
			var d lint.Diagnostic
			require.NoError(t, json.Unmarshal([]byte(line), &d))
			if d.Code != "read-differently" {
				lines = append(lines, d.File[strings.LastIndexByte(d.File, '/')+1:]+":"+string(rune('0'+d.Line))+" "+d.Code)
			}
		}
		require.ElementsMatch(t, want.lines, lines, args)
	}
}

func TestLintSpeaksToContinuousIntegration(t *testing.T) {
	t.Parallel()
	out, _, _ := invoke(t, world(odd(), nil), "lint", "--format", "github", "/home/me/deploy/credentials")
	require.Contains(t, out, `::error file=/home/me/deploy/credentials,line=2,title=invalid-value::[dev] max_attempts: "ten": must be`)
	out, _, status := invoke(t, world(odd(), nil), "lint", "--format", "sarif", "/home/me/deploy/credentials")
	require.Equal(t, exitBad, status)
	report, err := sarif.FromString(out)
	require.NoError(t, err)
	require.NoError(t, report.Validate())
	require.Equal(t, "invalid-value", *report.Runs[0].Results[0].RuleID)
	require.Equal(t, 2, *report.Runs[0].Results[0].Locations[0].PhysicalLocation.Region.StartLine)
	out, _, _ = invoke(t, world(nil, nil), "lint", "--rules")
	for _, rule := range lint.Rules() {
		require.Contains(t, out, rule.Code+" ")
	}
}
