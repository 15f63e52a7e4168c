package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

func TestLintOfCleanFiles(t *testing.T) {
	t.Parallel()
	require.Empty(t, lint(t, texts(
		"[default]\nregion = eu-west-1\nretry_mode = standard\n[profile a]\nmax_attempts = 4\ns3 =\n max_concurrent_requests = 20\n"+
			"[sso-session s]\nsso_region = x\n[services v]\ndynamodb =\n endpoint_url = x\n",
		"[default]\naws_access_key_id = x\naws_secret_access_key = x\n[a]\naws_session_token = y\n"), true))
}

func TestLintSaysWhatIsOddInAllProfiles(t *testing.T) {
	t.Parallel()
	src := texts(strings.Join([]string{
		"[default]",                // 1
		"retry_mode = legacy",      // 2
		"[profile a]",              // 3
		"max_attempts = 0",         // 4
		"max-attempts = 4",         // 5
		"aws_retry_mode = x",       // 6
		"retry mode: x",            // 7
		"[profile b]",              // 8
		"max_attempts = x",         // 9
		"max_attempts = 2",         // 10
		"region = x",               // 11
		"Region = y",               // 12
		"  retry_mode = x",         // 13
		"  [profile a]",            // 14
		"s3 =",                     // 15
		"\tmax_attempts = 3",       // 16
		"[c]",                      // 17
		"retry_mode = adaptive",    // 18
		"max_attempts = 3",         // 19
		"[sso-session d]",          // 20
		"retry_mode: adaptive",     // 21
		"[profile f]",              // 22
		"max_attempts = 3 retries", // 23
		"maximum_retries = 3",      // 24
		"[profile f",               // 25
		"max_attempts = 3",         // 26
		"x",                        // 27
		" y",                       // 28
	}, "\n"), "[f]\nmax_attempts = 9\n[b]\nretry_mode = bogus\n")
	require.Equal(t, []string{
		`/c:2: warning: [default] retry_mode: "legacy": a mode of other tools, read as standard [mapped-mode]`,
		`/c:4: error: [profile a] max_attempts: "0": must be a decimal integer from 1 to 2147483647 [invalid-value]`,
		`/c:5: warning: "max-attempts" is not a retry setting and has no effect; max_attempts is [misspelt-key]`,
		`/c:6: warning: "aws_retry_mode" is not a retry setting and has no effect; retry_mode is [misspelt-key]`,
		`/c:7: warning: "retry mode" is not a retry setting and has no effect; retry_mode is [misspelt-key]`,
		`/c:9: warning: [profile b] max_attempts: "x": must be a decimal integer from 1 to 2147483647; another value wins, so it is ignored [invalid-value]`,
		`/c:10: warning: max_attempts of profile "b" is set on line 9 already; the later one counts [duplicate-key]`,
		`/c:12: warning: a key of profile "b" is set on line 11 already; the later one counts [duplicate-key]`,
		`/c:13: warning: retry_mode has no effect here: the line is indented deeper than the property above, so it belongs to that [indented-key]`,
		`/c:14: warning: profile "a" has a section on line 3 already; the two count as one [duplicate-section]`,
		`/c:16: warning: max_attempts has no effect here: the line is indented deeper than the property above, so it belongs to that [indented-key]`,
		`/c:18: warning: retry settings in sections that are no profiles have no effect: [c] and 1 more [ignored-section]`,
		`/c:23: warning: [profile f] max_attempts: "3 retries": must be a decimal integer from 1 to 2147483647; another value wins, so it is ignored [invalid-value]`,
		`/c:23: warning: max_attempts of profile "f" has no effect: /k:2 overrides it [shadowed-key]`,
		`/c:25: warning: "[profile f": a section header must end with ']'; the line is skipped [malformed-line]`,
		`/c:27: warning: expected an '=' sign in a property; the line is skipped [malformed-line]`,
		`/k:4: error: [b] retry_mode: "bogus": must be standard or adaptive [invalid-value]`,
	}, lines(without(lint(t, src, false))))
}

func TestLintOfMalformedLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       string // Without the file; empty for a line that is not malformed.
	}{
		{"no sign", "[default]\nx\n", `2: expected an '=' sign in a property`},
		{"no sign behind a retry setting", "[default]\nRETRY_MODE adaptive\n", `2: "RETRY_MODE": expected an '=' sign in a property`},
		{"no sign behind a likeness", "[default]\nretry-mode adaptive\n", `2: "retry-mode": expected an '=' sign in a property`},
		{"no key", "[default]\n = x\n", `2: the property did not have a name: expected a key before the '=' sign`},
		{"no key before a colon", "[default]\n: x\n", `2: the property did not have a name: expected a key before the ':' sign`},
		{"no-break space for a key", "[default]\n\u00a0= x\n", `2: the property did not have a name: expected a key before the '=' sign`},
		{"comment in place of a sign", "[default]\nkey # = v\n", `2: expected an '=' sign in a property`},
		{"not UTF-8", "[default]\nx = \xff\n", `2: the line is not valid UTF-8`},
		{"header that is not UTF-8", "[def\xffault]\n", `1: "[def` + "\uFFFD" + `ault]": the line is not valid UTF-8`},
		{"open header", "[a", `1: "[a": a section header must end with ']'`},
		{"indented open header", "[a]\nx = 1\n  [b\n", `3: "[b": a section header must end with ']'`},
		{"text behind a header", "[a] b", `1: "[a]": a section header must end with ']'`},
		{"comment in a header", "[a # b]", `1: "[a": a section header must end with ']'`},
		{"before the first section", " x = 1", `1: expected a section header such as [default] before the first property`},
		{"sub-property without a sign", "[a]\ns3 =\n x\n", `3: expected an '=' sign in a property`},
		{"sub-property without a key", "[a]\ns3:\n =x\n", `3: the property did not have a name: expected a key before the '=' sign`},
		{"continuation that is not UTF-8", "[a]\nx = 1\n \xff\n", `3: the line is not valid UTF-8`},
		{"below a malformed line", "[a]\nx\n \xff\n\ty\n", `2: expected an '=' sign in a property`},
		{"comment that is not UTF-8", "[a]\n# \xff\n", ""},
		{"empty header", "[]\nx = 1\n", ""},
		{"indented header", "[a]\nx = 1\n  [b] ; c\n", ""},
		{"byte-order mark", "\uFEFF[a]\n", ""},
		{"no-break space around a header", "\u00a0[a]\u00a0\n\u2003\n", ""},
		{"dropped property", "[a]\nin valid = 1\n x\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := texts("[default]\n", c.text)
			var warning, refusal []string
			if c.want != "" {
				warning = []string{"/k:" + strings.Replace(c.want, ": ", ": warning: ", 1) + "; the line is skipped [malformed-line]"}
				refusal = []string{"/k:" + strings.Replace(c.want, ": ", ": error: ", 1) + " [parse-error]"}
			}
			require.ElementsMatch(t, warning, lines(without(lint(t, src, false))))
			require.ElementsMatch(t, refusal, lines(without(lint(t, src, true))))

			_, err := config.Query{Sources: src, Strict: true}.Resolve()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "config: /k:"+c.want)
		})
	}
}

func TestStrictReadingRefusesTheFirstMalformedLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, config, credentials, want string }{
		{"config before credentials", "[a]\nx = 1\n\nx\n", "x\n", "/c:4: expected an '=' sign in a property"},
		{"by line", "[a]\ny\nx = 1\n[b\n", "", "/c:2: expected an '=' sign in a property"},
		{"in a section that is no profile", "[services s]\ny\n", "", "/c:2: expected an '=' sign in a property"},
		{"in another profile", "[default]\n", "[x]\n =\n", "/k:2: the property did not have a name: expected a key before the '=' sign"},
		{"in a hidden [default]", "[default]\nx\n[profile default]\n", "", "/c:2: expected an '=' sign in a property"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Query{Sources: texts(c.config, c.credentials), Profile: "missing", Strict: true}.Resolve()
			require.EqualError(t, err, "config: "+c.want)
			_, _, err2 := texts(c.config, c.credentials).Profiles(false, true)
			require.Equal(t, err, err2)
		})
	}
}

func TestProfileFindingsConcernThatProfileOnly(t *testing.T) {
	t.Parallel()
	text := "[profile a]\nretry-mode = x\n[profile b]\nmax_attempts = 4\n[profile b]\nmax_attempts = 5\n[profile c]\nretry_mode = x\n"
	for name, want := range map[string][]string{
		"a": {
			`/c:2: warning: "retry-mode" is not a retry setting and has no effect; retry_mode is [misspelt-key]`,
			`/c:4: warning: retry settings of other profiles have no effect on profile "a": [profile b] and 2 more [unused-profile]`,
		},
		"b": {
			`/c:5: warning: profile "b" has a section on line 3 already; the two count as one [duplicate-section]`,
			`/c:6: warning: max_attempts of profile "b" is set on line 4 already; the later one counts [duplicate-key]`,
			`/c:8: warning: retry settings of other profiles have no effect on profile "b": [profile c] [unused-profile]`,
		},
	} {
		settings, err := config.Query{Sources: texts(text, ""), Profile: name}.Resolve()
		require.NoError(t, err)
		require.Equal(t, want, lines(without(settings.Diagnostics)[:len(want)]))
	}
}
