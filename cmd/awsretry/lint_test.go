package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
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
			var d struct {
				Code, File string
				Line       int
			}
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
	require.Contains(t, out, `::error file=/home/me/deploy/credentials,line=2,col=16,title=invalid-value::[dev] max_attempts: "ten": must be`)
	out, _, status := invoke(t, world(odd(), nil), "lint", "--format", "sarif", "/home/me/deploy/credentials")
	require.Equal(t, exitBad, status)
	report, err := sarif.FromString(out)
	require.NoError(t, err)
	require.NoError(t, report.Validate())
	require.Equal(t, "invalid-value", *report.Runs[0].Results[0].RuleID)
	region := report.Runs[0].Results[0].Locations[0].PhysicalLocation.Region
	require.Equal(t, []int{2, 16}, []int{*region.StartLine, *region.StartColumn})
	out, _, _ = invoke(t, world(nil, nil), "lint", "--rules")
	for _, rule := range lint.Rules() {
		require.Contains(t, out, rule.Code+" ")
	}
}

func TestLintFixWritesWhatDiffShows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, after, diff string
	}{
		{
			"config", "[prod] # c\nretry-mode = 'adaptive' # c\n", "[profile prod] # c\nretry_mode = adaptive # c\n",
			"@@ -1 +1 @@\n-[prod]\n+[profile prod]\n@@ -2 +2 @@\n-retry-mode = 'adaptive'\n+retry_mode = adaptive\n",
		},
		{"credentials", "\uFEFF[prod]\naws_secret_access_key = '\n", "[prod]\naws_secret_access_key = '\n", "# UTF-8 in place of a byte-order mark\n"},
	} {
		dir := t.TempDir()
		file, link := filepath.Join(dir, "file"), filepath.Join(dir, c.name)
		require.NoError(t, os.WriteFile(file, []byte(c.text), 0o640))
		require.NoError(t, os.Chmod(file, 0o604))
		require.NoError(t, os.Symlink("file", link))
		diff := "--- " + link + "\n+++ " + link + "\n" + c.diff
		read := func() string {
			text, err := os.ReadFile(link)
			require.NoError(t, err)
			return string(text)
		}

		out, errs, status := invoke(t, config.Sources{}, "lint", "--diff", link)
		require.Equal(t, exitBad, status, errs)
		require.Equal(t, diff, out)
		require.Equal(t, c.text, read())

		out, errs, _ = invoke(t, config.Sources{}, "lint", "--fix", link)
		require.True(t, strings.HasPrefix(out, diff), out+errs)
		require.NotContains(t, out[len(diff):], "misspelt-key")
		require.Equal(t, c.after, read())
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o604), info.Mode())
		written := info.ModTime()

		out, _, status = invoke(t, config.Sources{}, "lint", "--diff", link)
		require.Equal(t, exitFine, status)
		require.Empty(t, out)
		_, _, _ = invoke(t, config.Sources{}, "lint", "--fix", link)
		info, err = os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, written, info.ModTime())
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 2)
	}
	_, errs, status := invoke(t, world(nil, nil), "lint", "--diff", "/nothing")
	require.Equal(t, exitBad, status)
	require.Contains(t, errs, "/nothing")
	_, errs, status = invoke(t, config.Sources{}, "lint", "--fix", "--json")
	require.Equal(t, exitUsage, status)
	require.Contains(t, errs, "--diff and --fix print text")
	require.Equal(t, exitBad, run(t.Context(), []string{"lint", "--fix", "--config-file", "-"}, system{
		in: strings.NewReader("[prod]\n"), out: io.Discard, errs: io.Discard, sources: world(nil, nil),
	}))
}

func TestLintShowsNoSecretInAnyFormat(t *testing.T) {
	t.Parallel()
	const secret = "notarealsecretnotareals"
	text := strings.Join([]string{
		"\uFEFF[prod] # " + secret, "max-attempts = '5' # " + secret, "aws_secret_access_key = " + secret, "  " + secret, secret, "retry-mode = " + secret,
		"[Profile dev] ; " + secret, "aws_session_token: " + secret, "max_attempts = 5", "  token = " + secret, "region = '", "[profile c # " + secret + "]",
		"[profile \"b\"] # " + secret, "MAX_ATTEMPTS = '010' # " + secret, "= " + secret,
	}, "\n")
	files := map[string]string{"home/me/config": text, "home/me/credentials": text, "dev/null": ""}
	for _, args := range []string{"", "--format json", "--format github", "--format sarif", "--diff", "--strict", "--strict --format sarif", "--fix"} {
		out, errs, _ := invoke(t, world(files, nil), append(strings.Fields("lint "+args), "/home/me/config", "/home/me/credentials")...)
		require.NotContains(t, out+errs, secret[:9], args)
		require.Contains(t, out, "config", args)
	}
}

// In a file of both kinds no header is a cure: each would be in the way of the other kind.
func TestFixOfAFileWithTwoNames(t *testing.T) {
	t.Parallel()
	for _, link := range []func(string, string) error{os.Symlink, os.Link} {
		dir := t.TempDir()
		first, second := filepath.Join(dir, "config"), filepath.Join(dir, "credentials")
		require.NoError(t, os.WriteFile(first, []byte("[profile a]\nMAX_ATTEMPTS = 5\n[b]\nregion = x\n"), 0o600))
		require.NoError(t, link(first, second))
		_, errs, _ := invoke(t, config.Sources{}, "lint", "--fix", "--config-file", first, "--credentials-file", second)
		require.Empty(t, errs)
		text, err := os.ReadFile(first)
		require.NoError(t, err)
		require.Equal(t, "[profile a]\nmax_attempts = 5\n[b]\nregion = x\n", string(text))
	}
}

// writer is what a command prints to.
type writer func(text []byte)

func (w writer) Write(text []byte) (int, error) {
	w(text)
	return len(text), nil
}

func TestFixKeepsWhatWasWrittenMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("[prod]\nregion = old\n")
	var errs bytes.Buffer
	status := run(t.Context(), []string{"lint", "--fix", path}, system{
		in: strings.NewReader(""), errs: &errs, out: writer(func([]byte) { write("[prod]\nregion = new\n") }),
	})
	require.Equal(t, exitBad, status)
	require.Equal(t, "awsretry lint: "+path+": cannot be fixed: it has changed meanwhile; try again\n", errs.String())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "[prod]\nregion = new\n", string(text))
}
