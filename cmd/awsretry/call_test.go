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

// commandNames are the names of the commands, those of cobra included.
func commandNames() (names []string) {
	root := (&call{}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		names = append(names, cmd.Name())
	}
	return names
}

func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	names := commandNames()
	require.Len(t, names, 8)
	for _, name := range append(names, "") {
		var out bytes.Buffer
		args := strings.Fields(name + " --help")
		require.Zero(t, run(t.Context(), args, system{out: &out}))
		if name == "completion" {
			continue // its text is of cobra
		}
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 88, "%s: %s", name, line)
		}
		require.Regexp(t, `\n +--json +print JSON`, out.String())
	}
}

func TestMissingOrMisspeltNamesAreUsageErrors(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"lnt":                `awsretry: unknown command "lnt" for "awsretry"; did you mean lint?; awsretry -h shows the flags`,
		"explain --profil x": "awsretry explain: unknown flag: --profil; did you mean --profile?; awsretry explain -h shows the flags",
		"explain --xyzzy":    "awsretry explain: unknown flag: --xyzzy; awsretry explain -h shows the flags",
		"explain -profile x": "awsretry explain: unknown shorthand flag: 'p' in -profile; did you mean --profile?; awsretry explain -h shows the flags",
		"explain -x":         "awsretry explain: unknown shorthand flag: 'x' in -x; awsretry explain -h shows the flags",
		"lint --config x":    "awsretry lint: unknown flag: --config; did you mean --config-file?; awsretry lint -h shows the flags",
		"completion":         `awsretry completion: a shell is missing; awsretry completion -h shows the flags`,
		"completion ksh":     `awsretry completion: unknown command "ksh" for "awsretry completion"; awsretry completion -h shows the flags`,
		"simulate --out x":   "awsretry simulate: unknown flag: --out; did you mean --outage or --output?; awsretry simulate -h shows the flags",
	} {
		var out, errs bytes.Buffer
		require.Equal(t, exitUsage, run(t.Context(), strings.Fields(args), system{out: &out, errs: &errs}))
		require.Empty(t, out.String())
		require.Equal(t, want+"\n", errs.String())
	}
}

// Such as --profile "$PROFILE" with a variable that is not set.
func TestEmptyFlagsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"explain --profile=", "lint --config-file=", "profiles --credentials-file=", "simulate --output=", "simulate --fail=",
	} {
		var out, errs bytes.Buffer
		require.Equal(t, exitUsage, run(t.Context(), strings.Fields(args), system{out: &out, errs: &errs, sources: world(goodFile(), nil)}), args)
		require.Empty(t, out.String())
		command, flag, _ := strings.Cut(strings.TrimSuffix(args, "="), " ")
		require.Equal(t, "awsretry "+command+": "+flag+": must not be empty; awsretry "+command+" -h shows the flags\n", errs.String())
	}
	require.Zero(t, run(t.Context(), []string{"classify", "--service", "", "--code", "", "--status", "500"}, system{out: io.Discard, errs: io.Discard}))
}

func TestCompletionOffersWhatMayStandAtTheCursor(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"home/me/.aws/config": configText + "[profile my team]\n[profile \x1b[31m]\n", "home/me/.aws/credentials": credentialsText,
		"other": "[profile elsewhere]\n",
	}
	for name, c := range map[string]struct {
		words []string
		want  []string
	}{
		"the beginning of a command":     {[]string{"ex"}, []string{"explain"}},
		"of help":                        {[]string{"help", "l"}, []string{"lint"}},
		"the beginning of a flag":        {[]string{"explain", "--profile", "prod", "--b"}, []string{"--behavior"}},
		"profiles":                       {[]string{"explain", "--profile", ""}, []string{"default", "my team", "old", "prod"}},
		"profiles of a file":             {[]string{"explain", "--config-file", "/other", "--credentials-file", "/none", "--profile", ""}, []string{"elsewhere"}},
		"profiles of the standard input": {[]string{"explain", "--config-file", "-", "--profile", ""}, nil},
		"behaviors":                      {[]string{"explain", "--behavior", ""}, []string{"v2.0", "v2.1"}},
		"services":                       {[]string{"explain", "--service", "dynamo"}, []string{"dynamodb", "dynamodb-streams"}},
		"models":                         {[]string{"classify", "--modeled", "r"}, []string{"retryable"}},
		"kinds":                          {[]string{"classify", "--transport", "dns_t"}, []string{"dns_temporary", "dns_timeout"}},
		"shells":                         {[]string{"completion", ""}, []string{"bash", "zsh", "fish", "powershell"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.Zero(t, run(t.Context(), append([]string{"__complete"}, c.words...), system{in: strings.NewReader("[profile typed]\n"), out: &out, errs: io.Discard, sources: world(files, nil)}))
			var offered []string
			for line := range strings.Lines(out.String()) {
				if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(word, ":") {
					offered = append(offered, word)
				}
			}
			require.Subset(t, c.want, offered)
			for _, want := range c.want {
				if strings.HasPrefix(want, c.words[len(c.words)-1]) {
					require.Contains(t, offered, want)
				}
			}
		})
	}
}
