package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// On a terminal the same words are printed, on more lines.
func TestTextFitsTheTerminal(t *testing.T) {
	t.Parallel()
	files := map[string]string{"home/me/.aws/config": configText, "home/me/.aws/credentials": credentialsText + "note = " + strings.Repeat("x", 200) + "\n"}
	env := map[string]string{"AWS_MAX_ATTEMPTS": "4 ", "AWS_CONFIG_FILE": "/home/me/.aws/config"}
	for _, args := range []string{
		"explain --profile prod", "lint", "profiles --show-values", "classify --status 500",
		"classify --status 503 --transport use_of_closed_connection", "profiles --strict",
	} {
		for _, width := range []int{80, 40, 30} {
			var wide, narrow, errs bytes.Buffer
			status := run(t.Context(), strings.Fields(args), system{out: &wide, errs: &errs, sources: world(files, env)})
			require.Equal(t, status, run(t.Context(), strings.Fields(args), system{out: &narrow, errs: &errs, width: width, sources: world(files, env)}))
			for line := range strings.Lines(narrow.String()) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, "%s: %s", args, line)
			}
			plain := strings.NewReplacer(" ", "", "\n", "")
			require.Equal(t, plain.Replace(wide.String()), plain.Replace(narrow.String()))
		}
	}
	var out bytes.Buffer
	run(t.Context(), strings.Fields("explain --profile prod"), system{out: &out, width: 80, sources: world(files, env)})
	requireGolden(t, "explain-terminal", out.String())
}

func TestJSONAndHelpAreNotFoldedForTheTerminal(t *testing.T) {
	t.Parallel()
	files := map[string]string{"home/me/.aws/config": configText}
	for _, args := range []string{"explain --json", "lint --json", "profiles --json", "classify --json --status 500", "help", "lint -h"} {
		var wide, narrow bytes.Buffer
		run(t.Context(), strings.Fields(args), system{out: &wide, errs: io.Discard, sources: world(files, nil)})
		run(t.Context(), strings.Fields(args), system{out: &narrow, errs: io.Discard, width: 20, sources: world(files, nil)})
		require.Equal(t, wide.String(), narrow.String(), args)
		require.NotEmpty(t, wide.String(), args)
	}
}

func TestHelpFitsATerminalAndSpellsFlagsAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		var out bytes.Buffer
		require.Zero(t, run(t.Context(), []string{c.name, "-h"}, system{out: &out}))
		var same bytes.Buffer
		require.Zero(t, run(t.Context(), []string{"help", c.name}, system{out: &same}))
		require.Equal(t, same.String(), out.String())
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
			require.NotRegexp(t, `(^|\s)-[a-z][a-z]`, line)
		}
		require.Regexp(t, `\n  --json +print JSON`, out.String())
	}
	var out bytes.Buffer
	usage(&out)
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
}
