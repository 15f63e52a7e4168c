package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

// lines gives findings as people see them.
func lines(found []config.Diagnostic) []string {
	all := []string{}
	for _, d := range found {
		all = append(all, d.String())
	}
	return all
}

func TestLintOfCleanFiles(t *testing.T) {
	t.Parallel()
	files := openTexts(t,
		"[default]\nregion = eu-west-1\nretry_mode = standard\n[profile a]\nmax_attempts = 4\ns3 =\n max_concurrent_requests = 20\n"+
			"[sso-session s]\nsso_region = x\n[services v]\ndynamodb =\n endpoint_url = x\n",
		"[default]\naws_access_key_id = x\n[a]\naws_session_token = y\n")
	require.Empty(t, files.Lint())
}

func TestLintSaysWhatIsOddInAllProfiles(t *testing.T) {
	t.Parallel()
	files := openTexts(t, strings.Join([]string{
		"[default]",                // 1
		"retry_mode = legacy",      // 2
		"[profile a]",              // 3
		"max_attempts = 0",         // 4
		"max-attempts = 4",         // 5
		"aws_retry_mode = x",       // 6
		"retry mode = x",           // 7
		"[profile b]",              // 8
		"max_attempts = x",         // 9
		"max_attempts = 2",         // 10
		"region = x",               // 11
		"Region = y",               // 12
		"  retry_mode = x",         // 13
		"[profile a]",              // 14
		"s3 =",                     // 15
		"\tmax_attempts = 3",       // 16
		"[c]",                      // 17
		"retry_mode = adaptive",    // 18
		"max_attempts = 3",         // 19
		"[profile d e]",            // 20
		"retry_mode = adaptive",    // 21
		"[profile f]",              // 22
		"max_attempts = 3 retries", // 23
		"maximum_retries = 3",      // 24
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
		`/c:13: warning: retry_mode has no effect here: the line is indented, so it belongs to the key above [indented-key]`,
		`/c:14: warning: profile "a" has a section on line 3 already; the two count as one [duplicate-section]`,
		`/c:16: warning: max_attempts has no effect here: the line is indented, so it belongs to the key above [indented-key]`,
		`/c:18: warning: retry settings in sections that are no profiles have no effect: [c] and 1 more [ignored-section]`,
		`/c:23: warning: [profile f] max_attempts: "3 retries": must be a decimal integer from 1 to 2147483647; another value wins, so it is ignored [invalid-value]`,
		`/c:23: warning: max_attempts of profile "f" has no effect: /k:2 overrides it [shadowed-key]`,
		`/k:4: error: [b] retry_mode: "bogus": must be standard or adaptive [invalid-value]`,
	}, lines(files.Lint()))
}

func TestLintOfAMalformedFile(t *testing.T) {
	t.Parallel()
	files := openTexts(t, "[default]\nretry_mode = legacy\n", "[default]\nx\n")
	require.Equal(t, []string{"/k:2: error: expected an '=' sign in a property [parse-error]"}, lines(files.Lint()))
	require.Equal(t, []string{
		`/c:1: error: "[a": a section header must end with ']' [parse-error]`,
		"/k:1: error: expected a section header before this indented line [parse-error]",
	}, lines(openTexts(t, "[a", " x").Lint()))
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
		profile, err := openTexts(t, text, "").Profile(name, config.Origin{})
		require.NoError(t, err)
		require.Equal(t, want, lines(profile.Diagnostics))
	}
}

func TestKeysThatLookLikeRetrySettings(t *testing.T) {
	t.Parallel()
	for key, meant := range map[string]string{
		"retry_mod": "retry_mode", "Retry-Mode": "retry_mode", "retrymodes": "retry_mode", "AWS_RETRY_MODE": "retry_mode",
		"max_attempt": "max_attempts", "maxAttempts": "max_attempts", "max_atempts": "max_attempts",
		"max_retries": "max_attempts", "retries": "max_attempts", `"max_attempts"`: "max_attempts",
		"region": "", "mode": "", "max_bandwidth": "", "metadata_service_num_attempts": "", "duration_seconds": "",
		"role_arn": "", "aws_access_key_id": "", strings.Repeat("retry_mode", 50): "", "max_attempts": "", "MAX_ATTEMPTS": "",
	} {
		found := openTexts(t, "[default]\n"+key+" = 3\n", "").Lint()
		if meant == "" {
			require.Empty(t, found, key)
			continue
		}
		require.Len(t, found, 1, key)
		require.Equal(t, config.CodeMisspeltKey, found[0].Code, key)
		require.True(t, strings.HasSuffix(found[0].Message, meant+" is"), found[0].Message)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 3, 0},
		{"abc", "abc", 0, 0},
		{"abc", "abd", 3, 1},
		{"abc", "ab", 3, 1},
		{"", "ab", 3, 2},
		{"kitten", "sitting", 5, 3},
		{"kitten", "sitting", 2, 3},
		{"a", strings.Repeat("a", 500), 1000, 1001},
	} {
		require.Equal(t, c.want, config.Distance(c.a, c.b, c.limit), "%q %q", c.a, c.b)
	}
}
