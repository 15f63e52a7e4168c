package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// requireWidth requires that no line of a text is wider.
func requireWidth(t *testing.T, width int, text, of string) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, "%s: %s", of, line)
	}
}

// On a terminal the same words are printed, on more lines. JSON and help are as they are.
func TestTextFitsTheTerminal(t *testing.T) {
	t.Parallel()
	files := map[string]string{"home/me/.aws/config": configText, "home/me/.aws/credentials": credentialsText + "note = " + strings.Repeat("x", 200) + "\n"}
	sources := world(files, map[string]string{"AWS_MAX_ATTEMPTS": "4 ", "AWS_CONFIG_FILE": "/home/me/.aws/config"})
	plain := strings.NewReplacer(" ", "", "\n", "")
	for args, folds := range map[string]bool{
		"explain --profile prod": true, "lint": true, "profiles --show-values": true, "classify --status 500": true,
		"classify --status 503 --transport use_of_closed_connection": true, "profiles --strict": true,
		"explain --json": false, "lint --json": false, "profiles --json": false, "classify --json --status 500": false, "help": false, "lint -h": false,
	} {
		wide, _, status := invoke(t, sources, strings.Fields(args)...)
		require.NotEmpty(t, wide, args)
		for _, width := range []int{80, 40, 30} {
			var narrow bytes.Buffer
			require.Equal(t, status, run(t.Context(), strings.Fields(args), system{out: &narrow, errs: io.Discard, build: build{Version: "v0.0.0-test"}, width: width, sources: sources}))
			if !folds {
				require.Equal(t, wide, narrow.String(), args)
				continue
			}
			requireWidth(t, width, narrow.String(), args)
			require.Equal(t, plain.Replace(wide), plain.Replace(narrow.String()))
			if args == "explain --profile prod" && width == 80 {
				requireGolden(t, "explain-terminal", narrow.String())
			}
		}
	}
}

func TestLinesBreakAtSpacesAndHangBelowTheirColumn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width      int
		wide, want string
	}{
		{6, "aaa bb\ncc", "aaa bb\ncc\n"},
		{6, "aaa bb cc", "aaa bb\n  cc\n"},
		{6, "aaaa    bb", "aaaa\n  bb\n"},
		{2, "aa bb", "aa\n b\n b\n"},
		{4, "aaaaaaaaaa", "aaaa\n  aa\n  aa\n  aa\n"},
		{8, "日本 日本語日本語", "日本\n  日本語\n  日本語\n"},
		{7, "  aa bb cc", "  aa bb\n   cc\n"},
		{16, "  key  vv ww xx yy", "  key  vv ww xx\n       yy\n"},
		{12, "  key  vv ww xx yy", "  key  vv ww\n    xx yy\n"},
		{12, "   a  bb cc dd ee", "   a  bb cc\n     dd ee\n"},
	} {
		require.Equal(t, c.want, wrap(c.wide, c.width))
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
	require.Len(t, names, 9)
	for _, name := range append(names, "") {
		out, _, status := invoke(t, world(nil, nil), strings.Fields(name+" --help")...)
		require.Zero(t, status)
		if name == "completion" {
			continue // its text is of cobra
		}
		requireWidth(t, 88, out, name)
		require.Regexp(t, `\n +--json +print JSON`, out)
	}
}

func TestArgumentsThatMakeNoSenseAreUsageErrors(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"lnt":                `awsretry: unknown command "lnt" for "awsretry"; did you mean lint?`,
		"help lnt":           `awsretry help: unknown command "lnt" for "awsretry"; did you mean lint?`,
		"explode":            `awsretry: unknown command "explode" for "awsretry"`,
		"profiles file":      `awsretry profiles: unknown command "file" for "awsretry profiles"`,
		"explain --profil x": "awsretry explain: unknown flag: --profil; did you mean --profile?",
		"explain --xyzzy":    "awsretry explain: unknown flag: --xyzzy",
		"explain -profile x": "awsretry explain: unknown shorthand flag: 'p' in -profile; did you mean --profile?",
		"explain -x":         "awsretry explain: unknown shorthand flag: 'x' in -x",
		"lint --config x":    "awsretry lint: unknown flag: --config; did you mean --config-file?",
		"completion":         "awsretry completion: a shell is missing",
		"completion ksh":     `awsretry completion: unknown command "ksh" for "awsretry completion"`,
		"simulate --out x":   "awsretry simulate: unknown flag: --out; did you mean --outage or --output?",
		// An empty one is most often a variable of the shell that is not set.
		"explain --profile=":                     "awsretry explain: --profile: must be a profile, not empty",
		"lint --config-file=":                    "awsretry lint: --config-file: must be a file, not empty",
		"profiles --credentials-file=":           "awsretry profiles: --credentials-file: must be a file, not empty",
		"simulate --output=":                     "awsretry simulate: --output: must be a file, not empty",
		"simulate --fail=":                       `awsretry simulate: invalid argument "" for "--fail" flag: must be a share such as 0.1 or 10%, or two such as 0..0.5, with the smaller one first`,
		"explain --behavior v3":                  `awsretry explain: invalid argument "v3" for "--behavior" flag: must be one of v2.0, v2.1`,
		"classify --status -1":                   `awsretry classify: invalid argument "-1" for "--status" flag: must be a number from 0 to 999`,
		"classify --status 503x":                 `awsretry classify: invalid argument "503x" for "--status" flag: must be a number from 0 to 999`,
		"classify --status 1000 --json":          `awsretry classify: invalid argument "1000" for "--status" flag: must be a number from 0 to 999`,
		"classify --grpc 17":                     `awsretry classify: invalid argument "17" for "--grpc" flag: must be a number from 0 to 16 or a name, such as UNAVAILABLE`,
		"classify --sqlstate 4000":               `awsretry classify: invalid argument "4000" for "--sqlstate" flag: must have five digits or letters, such as 40001 or 57P01`,
		"classify --sqlstate 4000-":              `awsretry classify: invalid argument "4000-" for "--sqlstate" flag: must have five digits or letters, such as 40001 or 57P01`,
		"classify --modeled maybe":               `awsretry classify: invalid argument "maybe" for "--modeled" flag: must be one of retryable, throttling, not_retryable`,
		"classify --header Retry-After":          `awsretry classify: invalid argument "Retry-After" for "--header" flag: must have the form "K: V" or K=V, such as Retry-After=5`,
		"classify --header =5":                   `awsretry classify: invalid argument "=5" for "--header" flag: must have the form "K: V" or K=V, such as Retry-After=5`,
		"classify --candidate-skew-s NaN":        `awsretry classify: invalid argument "NaN" for "--candidate-skew-s" flag: must be a number of seconds, at most 9000000000, such as -300`,
		"classify --attempt-skew-s 9000000000.1": `awsretry classify: invalid argument "9000000000.1" for "--attempt-skew-s" flag: must be a number of seconds, at most 9000000000, such as -300`,
	} {
		out, errs, status := invoke(t, world(nil, nil), strings.Fields(args)...)
		require.Equal(t, exitUsage, status, args)
		require.Empty(t, out)
		command, _, _ := strings.Cut(want, ":")
		require.Equal(t, want+"; "+command+" -h shows the flags\n", errs)
	}
	_, errs, status := invoke(t, world(nil, nil), []string{}...) // of nil, cobra takes the arguments of the test
	require.Equal(t, exitUsage, status)
	require.True(t, strings.HasSuffix(errs, "\nawsretry: a command is missing; awsretry -h shows the flags\n"), errs)
	for _, accepted := range [][]string{
		{"classify", "--service", "", "--code", "", "--status", "500"}, {"classify", "--status", "999", "--attempt-skew-s", "9e9"},
	} {
		_, errs, status = invoke(t, world(nil, nil), accepted...)
		require.Zero(t, status, errs)
	}
}

func TestCompletionOffersWhatMayStandAtTheCursor(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"home/me/.aws/config": configText + "[profile my team]\n[profile \x1b[31m]\n", "home/me/.aws/credentials": credentialsText,
		"other": "[profile elsewhere]\n",
	}
	for words, want := range map[string]string{
		"ex":                                 "explain",
		"help l":                             "lint",
		"explain --profile prod --b":         "--behavior",
		"explain --profile ":                 "default|my team|old|prod",
		"explain --config-file - --profile ": "",
		"explain --config-file /other --credentials-file /none --profile ": "elsewhere",
		"explain --behavior ":        "v2.0|v2.1",
		"explain --service dynamo":   "dynamodb|dynamodb-streams",
		"classify --modeled r":       "retryable",
		"classify --transport dns_t": "dns_temporary|dns_timeout",
		"completion ":                "bash|zsh|fish|powershell",
	} {
		out, _, status := invoke(t, world(files, nil), append([]string{"__complete"}, strings.Split(words, " ")...)...)
		require.Zero(t, status)
		var offered []string
		for line := range strings.Lines(out) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(word, ":") {
				offered = append(offered, word)
			}
		}
		require.ElementsMatch(t, strings.FieldsFunc(want, func(r rune) bool { return r == '|' }), offered, words)
	}
}

// Each of these reads the config file, once or several times.
func TestDashIsStandardInput(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"lint --config-file -":                         `-:2:16: error: [default] max_attempts: "x": must be`,
		"lint --config-file - --json":                  `"file":"-","line":2`,
		"profiles --config-file - --show-values":       "max_attempts = x",
		"explain --config-file -":                      `-:2: [default] max_attempts`,
		"profiles --show-values --credentials-file - ": "max_attempts = x",
		"simulate --config-file - --vs v2.0":           `-:2: [default] max_attempts`,
	} {
		var out bytes.Buffer
		status := run(t.Context(), strings.Fields(args), system{
			in: strings.NewReader("[default]\nmax_attempts = x\n"), out: &out, errs: &out, sources: world(nil, nil),
		})
		require.Contains(t, out.String(), want, args)
		require.Equal(t, strings.HasPrefix(args, "profiles"), status == exitFine, args)
	}
}
