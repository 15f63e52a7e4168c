package lint_test

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

func TestLintOfCleanFiles(t *testing.T) {
	t.Parallel()
	require.Empty(t, findings(t, world.Texts(
		"[default]\nregion = eu-west-1\nretry_mode = standard\n[profile a]\nmax_attempts = 4\ns3 =\n max_concurrent_requests = 20\n"+
			"[sso-session s]\nsso_region = x\n[services v]\ndynamodb =\n endpoint_url = x\n",
		"[default]\naws_access_key_id = x\naws_secret_access_key = x\n[a]\naws_session_token = y\n"), true))
}

func TestLintSaysWhatIsOddInAllProfiles(t *testing.T) {
	t.Parallel()
	src := world.Texts(strings.Join([]string{
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
		" retry_mode = x",          // 28
		"[profile g]",              // 29
		"in valid = 1",             // 30
		" max_attempts = 3",        // 31
	}, "\n"), "[f]\nmax_attempts = 9\n[b]\nretry_mode = bogus\n")
	require.Equal(t, []string{
		`/c:2: warning: [default] retry_mode: "legacy": a mode of other tools, read as standard [mapped-mode]`,
		`/c:4: error: [profile a] max_attempts: "0": must be a decimal integer from 1 to 2147483647 [invalid-value]`,
		`/c:5: warning: "max-attempts" is not a retry setting and has no effect; max_attempts is [misspelt-key]`,
		`/c:6: warning: "aws_retry_mode" is not a retry setting and has no effect; retry_mode is [misspelt-key]`,
		`/c:7: warning: "retry mode" is not a retry setting and has no effect; retry_mode is [misspelt-key]`,
		`/c:9: warning: [profile b] max_attempts: "x": must be a decimal integer from 1 to 2147483647; another value wins, so it is ignored [invalid-value]`,
		`/c:13: warning: retry_mode has no effect here: the line is indented deeper than the property above, so it belongs to that [indented-key]`,
		`/c:16: warning: max_attempts has no effect here: the line is indented deeper than the property above, so it belongs to that [indented-key]`,
		`/c:17: warning: [c] lacks the word profile, so its lines have no effect; did you mean [profile c] [ignored-section]`,
		`/c:20: warning: [sso-session d] is no profile, so its retry settings have no effect [ignored-section]`,
		`/c:23: warning: [profile f] max_attempts: "3 retries": must be a decimal integer from 1 to 2147483647; another value wins, so it is ignored [invalid-value]`,
		`/c:23: warning: max_attempts of profile "f" has no effect: /k:2 overrides it [shadowed-key]`,
		`/c:25: warning: "[profile f": a section header must end with ']'; the line is skipped [malformed-line]`,
		`/c:27: warning: expected an '=' sign in a property; the line is skipped [malformed-line]`,
		`/c:31: warning: max_attempts has no effect here: the line is indented deeper than one that is skipped, so it is skipped too [indented-key]`,
		`/k:4: error: [b] retry_mode: "bogus": must be standard or adaptive [invalid-value]`,
	}, lines(without(findings(t, src, false))))
}

func TestLintOfMalformedLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       string // Without the file; empty for a line that is not malformed.
	}{
		{"no sign", "[default]\nx\n", `2: expected an '=' sign in a property`},
		{"no sign behind a retry setting", "[default]\nRETRY_MODE adaptive\n", `2: "RETRY_MODE": expected an '=' sign in a property`},
		{"no key", "[default]\n = x\n", `2: the property does not have a name: expected a key before the '=' or ':'`},
		{"no-break space for a key", "[default]\n\u00a0= x\n", `2: the property does not have a name: expected a key before the '=' or ':'`},
		{"comment in place of a sign", "[default]\nkey # = v\n", `2: expected an '=' sign in a property`},
		{"not UTF-8", "[default]\nx = \xff\n", `2: the line is not valid UTF-8`},
		{"open header", "[a", `1: "[a": a section header must end with ']'`},
		{"indented open header", "[a]\nx = 1\n  [b\n", `3: "[b": a section header must end with ']'`},
		{"CR in place of each LF", "[a]\rx = 1\r", `1: "[a]": a section header must end with ']', and a CR alone does not end a line: write LF, or CR and LF`},
		{"text behind a header", "[a] b", `1: "[a]": a section header must end with ']'`},
		{"comment in a header", "[a # b]", `1: "[a": a section header must end with ']'`},
		{"before the first section", " x = 1", `1: expected a section header such as [default] before the first property`},
		{"sub-property without a sign", "[a]\ns3 =\n x\n", `3: expected an '=' sign in a property`},
		{"continuation that is not UTF-8", "[a]\nx = 1\n \xff\n", `3: the line is not valid UTF-8`},
		{"below a malformed line", "[a]\nx\n \xff\n\ty\n", `2: expected an '=' sign in a property`},
		{"byte-order mark", "\uFEFF[a]\n", ""},
		{"no-break space around a header", "\u00a0[a]\u00a0\n\u2003\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := world.Texts("[default]\n", c.text)
			var warning, refusal []string
			if c.want != "" {
				warning = []string{"/k:" + strings.Replace(c.want, ": ", ": warning: ", 1) + "; the line is skipped [malformed-line]"}
				refusal = []string{"/k:" + strings.Replace(c.want, ": ", ": error: ", 1) + " [parse-error]"}
			}
			require.ElementsMatch(t, warning, lines(without(findings(t, src, false))))
			require.ElementsMatch(t, refusal, lines(without(findings(t, src, true))))

			_, err := lint.Resolve(config.Query{Sources: src, Strict: true})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "config: /k:"+c.want)
		})
	}
}

// TestInputsThatOtherToolsGetWrong has inputs that other tools drop, leak or refuse, as their users have reported.
func TestInputsThatOtherToolsGetWrong(t *testing.T) {
	t.Parallel()
	const mode, attempts = "AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS"
	for name, c := range map[string]struct {
		env                 map[string]string
		config, credentials string
		want                string // The mode, the attempts, and the codes of the findings.
	}{
		"legacy overridden by the environment":  {map[string]string{mode: "adaptive"}, "[default]\nretry_mode = legacy\n", "", "adaptive 3 read-differently"},
		"legacy that wins":                      {nil, "[default]\nretry_mode = legacy\n", "", "standard 3 mapped-mode read-differently"},
		"unknown mode that loses":               {map[string]string{mode: "adaptive"}, "[default]\nretry_mode = bogus\n", "", "adaptive 3 invalid-value read-differently"},
		"blank variable":                        {map[string]string{attempts: " ", mode: "\u00a0"}, "[default]\nmax_attempts = 7\n", "", "standard 7 read-differently read-differently"},
		"both spellings of the default profile": {nil, "[profile default]\nmax_attempts = 6\n[default]\nmax_attempts = 4\n", "", "standard 6 default-twice read-differently"},
		"both files":                            {nil, "[default]\nmax_attempts = 6\n", "[default]\nmax_attempts = 2\n", "standard 2 read-differently shadowed-key"},
		"file variable that points nowhere":     {map[string]string{"AWS_CONFIG_FILE": "/nowhere"}, "", "", "standard 3 missing-file"},
		"switches of other tools":               {map[string]string{"AWS_SDK_LOAD_CONFIG": "1", "AWS_NEW_RETRIES_2026": "false"}, "", "", "standard 3 no-effect no-effect"},
		"empty switches of other tools":         {map[string]string{"AWS_SDK_LOAD_CONFIG": "", "AWS_NEW_RETRIES_2026": "\t\u00a0"}, "", "", "standard 3"},
	} {
		s, err := lint.Resolve(world.Home{Env: c.env, Config: c.config, Credentials: c.credentials}.Query())
		require.NoError(t, err, name)
		got := append([]string{string(s.RetryMode.Value), strconv.Itoa(s.MaxAttempts.Value)}, codes(s.Diagnostics)...)
		require.Equal(t, c.want, strings.Join(got, " "), name)
	}
}

func TestProfileFindingsConcernThatProfileOnly(t *testing.T) {
	t.Parallel()
	text := "[profile a]\nretry-mode = x\n[profile b]\nmax_attempts = 4\n[profile b]\nmax_attempts = 5\n[profile c]\nretry_mode = x\n[a]\nregion = x\n"
	for name, want := range map[string][]string{
		"a": {
			`/c:2: warning: "retry-mode" is not a retry setting and has no effect; retry_mode is [misspelt-key]`,
			`/c:9: warning: [a] lacks the word profile, so its lines have no effect; did you mean [profile a] [ignored-section]`,
		},
		"b": {},
	} {
		settings, err := lint.Resolve(config.Query{Sources: world.As(world.Texts(text, ""), name)})
		require.NoError(t, err)
		require.Equal(t, want, lines(without(settings.Diagnostics)))
	}
}

func TestLintNamesEachSectionThatIsNoProfile(t *testing.T) {
	t.Parallel()
	const lacks, noEffect = " lacks the word profile, so its lines have no effect; did you mean ", " [ignored-section]"
	for name, c := range map[string]struct {
		config, credentials string
		want                []string
	}{
		"each": {
			config: "[profile prod-eu]\n[prodeu]\nregion = x\n[prod_eu]\nmax_attempts = 2\n", credentials: "[prodeu2]\n",
			want: []string{
				"/c:2: warning: [prodeu]" + lacks + "[profile prodeu]" + noEffect,
				"/c:4: warning: [prod_eu]" + lacks + "[profile prod_eu]" + noEffect,
			},
		},
		"beside the profile": {
			config: "[dev]\nmax_attempts = 2\n[profile dev]\n",
			want:   []string{"/c:1: warning: [dev]" + lacks + "[profile dev]" + noEffect},
		},
		"with a word like profile": {
			config: "[Profile dev]\nregion = x\n[profile.team]\n[profile team]\n",
			want: []string{
				"/c:1: warning: [Profile dev] is no profile, so its lines have no effect; did you mean [profile dev]" + noEffect,
				"/c:3: warning: [profile.team] is no profile, so its lines have no effect; did you mean [profile team]" + noEffect,
			},
		},
		"of other kinds": {
			config: "[services s]\nmax_attempts = 2\n[]\nmax_attempts = 2\n[sso-session s]\n[plugins]\na = b\n[DEFAULT]\n",
			want: []string{
				"/c:1: warning: [services s] is no profile, so its retry settings have no effect" + noEffect,
				"/c:3: warning: [] is no profile, so its retry settings have no effect" + noEffect,
			},
		},
		"with the word profile in the credentials file": {
			credentials: "[profile 'my team']\nmax_attempts = 2\n[Profile dev]\n",
			want:        []string{"/k:1: warning: [profile 'my team'] is no profile in the credentials file, so its lines have no effect; did you mean [my team]" + noEffect},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, c.want, lines(without(findings(t, world.Texts(c.config, c.credentials), false))))
		})
	}
}

func TestMissingProfileIsAnErrorOfLintUnlessAFileIsNamed(t *testing.T) {
	t.Parallel()
	const missing = `: profile "dev" not found in /h/.aws/config or /h/.aws/credentials (missing); /h/.aws/config:2 has [dev], which would have to be [profile dev] [profile-not-found]`
	src := world.WithHome(fstest.MapFS{"h/.aws/config": {Data: []byte("[profile prod]\n[dev]\n")}})
	for _, variable := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		for severity, path := range map[string]string{"error": "", "warning": "/h/.aws/credentials"} {
			src.LookupEnv = world.LookupIn(map[string]string{variable: "dev", "HOME": "/h"})
			src.CredentialsFile = path
			require.Contains(t, lines(findings(t, src, false)), severity+": "+variable+missing)
		}
	}
	src.LookupEnv = world.LookupIn(map[string]string{"AWS_PROFILE": "prod", "HOME": "/h"})
	require.NotContains(t, codes(findings(t, src, false)), "profile-not-found")
}

func TestMissingAndUnreadableFilesAreErrorsOfLint(t *testing.T) {
	t.Parallel()
	missing := world.WithHome(fstest.MapFS{})
	missing.LookupEnv = world.LookupIn(map[string]string{"AWS_CONFIG_FILE": "/nowhere", "HOME": "/h"})
	byCode := world.Texts("", "")
	byCode.ConfigFile, byCode.CredentialsFile = "/nowhere", "/k"
	require.Equal(t, []string{"/nowhere: error: the config file that AWS_CONFIG_FILE names does not exist [missing-file]"}, lines(findings(t, missing, false)))
	require.Equal(t, []string{"/h/.aws/config: error: the config file counts as empty: it cannot be read: not a regular file but a directory [unreadable-file]"},
		lines(without(findings(t, world.WithHome(fstest.MapFS{"h/.aws/config/x": {}}), false))))
	require.Equal(t, []string{"/nowhere: error: the config file that an option names does not exist [missing-file]"}, lines(findings(t, byCode, false)))
	require.Empty(t, findings(t, world.WithHome(fstest.MapFS{}), false), "a file of the usual name may be missing")
}

func TestFindingsAboutPathsAndFiles(t *testing.T) {
	t.Parallel()
	nowhere := func() (string, error) { return "", errors.New("no such user") }
	both := fstest.MapFS{"both": {Data: []byte("[default]\nmax_attempts = 4\n[dev]\nretry_mode = adaptive\n[profile dev]\nmax_attempts = 7\nx\n")}}
	for name, c := range map[string]struct {
		src  config.Sources
		want []string
	}{
		"no home directory": {
			config.Sources{LookupEnv: world.LookupIn(nil), FS: sharedfile.Machine{FS: fstest.MapFS{}, Platform: "linux", HomeDir: nowhere}},
			[]string{"warning: no home directory: HOME is not set and the system knows none, so the shared files in it are not read [no-home-directory]"},
		},
		"a directory": {
			world.WithHome(fstest.MapFS{"h/.aws/config/x": {}}),
			[]string{"/h/.aws/config: warning: the config file counts as empty: it cannot be read: not a regular file but a directory [unreadable-file]"},
		},
		"one file that is both": {
			config.Sources{ConfigFile: "/both", CredentialsFile: "/both", LookupEnv: world.LookupIn(nil), FS: world.On("linux", both)},
			[]string{"/both:7: warning: expected an '=' sign in a property; the line is skipped [malformed-line]"},
		},
		"two variables for the profile": {
			world.Home{Config: "[profile a]\n", Env: map[string]string{"AWS_PROFILE": "a", "AWS_DEFAULT_PROFILE": "b"}}.Query().Sources,
			[]string{"warning: AWS_DEFAULT_PROFILE is set and has no effect: AWS_PROFILE comes before it [no-effect]"},
		},
		"a variable for a profile that is missing": {
			world.Home{Config: "[profile a]\n", Env: map[string]string{"AWS_DEFAULT_PROFILE": "b"}}.Query().Sources,
			[]string{`warning: AWS_DEFAULT_PROFILE: profile "b" not found in /h/.aws/config or /h/.aws/credentials (missing); did you mean "a" [profile-not-found]`},
		},
	} {
		settings, err := lint.Resolve(config.Query{Sources: c.src})
		require.NoError(t, err)
		require.Equal(t, c.want, lines(without(settings.Diagnostics)), name)
	}
	src := world.Named("/")
	src.ConfigFile = "/"
	_, err := lint.Files(src, false)
	require.EqualError(t, err, "config: /: cannot be read: not a regular file but a directory")
}

func TestLongLineMakesNoLongFinding(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<18)
	for _, bad := range []string{"[" + long, "[default]\n" + long, "[default]\nretry_mode" + long + "\n", " " + long} {
		found := lines(without(findings(t, world.Texts(bad, ""), false)))
		require.Len(t, found, 1)
		require.Less(t, len(found[0]), 250)
	}
}

// Findings leave the settings as they are, and strict reading changes neither.
func TestSettingsAreThoseOfResolve(t *testing.T) {
	t.Parallel()
	q := world.Home{
		Env:         map[string]string{"AWS_DEFAULT_PROFILE": "a", "AWS_PROFILE": "default", "AWS_SDK_LOAD_CONFIG": "1"},
		Config:      "[default]\nretry-mode = adaptive\nx = 1\nx = 2\nmax_attempts = ten\n[profile a]\nmax_attempts = 4\n",
		Credentials: "[default]\nmax_attempts = 5\n",
	}.Query()
	alone, err := q.Resolve()
	require.NoError(t, err)
	loose, err := lint.Resolve(q)
	require.NoError(t, err)
	require.Equal(t, alone, loose.Settings)
	require.Len(t, loose.Diagnostics, 8)
	q.Strict = true
	strict, err := lint.Resolve(q)
	require.NoError(t, err)
	require.Equal(t, loose, strict)
}

func TestUTF16IsNamed(t *testing.T) {
	t.Parallel()
	encode := func(text string, order binary.AppendByteOrder) string {
		var b []byte
		for _, unit := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, unit)
		}
		return string(b)
	}
	const named = "the file is UTF-16, not UTF-8: convert it, such as with iconv -f UTF-16 -t UTF-8"
	for name, text := range map[string]string{
		"little-endian":     encode("\uFEFF[default]\n", binary.LittleEndian),
		"big-endian":        encode("\uFEFF[default]\n", binary.BigEndian),
		"plain":             encode("[default]\n", binary.LittleEndian),
		"plain, big-endian": encode("[default]\n", binary.BigEndian),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := world.Texts(text, "[default]\n")
			require.Equal(t, "/c:1: error: "+named+"; the file counts as empty [malformed-line]", lines(findings(t, src, false))[0])
			require.Equal(t, "/c:1: error: "+named+"; the file counts as empty [parse-error]", lines(findings(t, src, true))[0])
			settings, err := lint.Resolve(config.Query{Sources: src})
			require.NoError(t, err)
			require.Equal(t, "/c:1: warning: "+named+"; the file counts as empty [malformed-line]", lines(settings.Diagnostics)[0])
			_, err = config.Query{Sources: src, Strict: true}.Resolve()
			require.EqualError(t, err, "config: /c:1: "+named)
		})
	}
}

func TestOneNULMakesNoFileUTF16(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\x00[default]\n[profile a]\nmax_attempts = 5\n", "#\x00\n[profile a]\nmax_attempts = 5\n"} {
		settings, err := lint.Resolve(config.Query{Sources: world.As(world.Texts(text, ""), "a")})
		require.NoError(t, err)
		require.Equal(t, 5, settings.MaxAttempts.Value)
	}
}

// findings returns what lint finds in two files.
func findings(t *testing.T, src config.Sources, strict bool) []lint.Diagnostic {
	t.Helper()
	found, err := lint.Files(src, strict)
	require.NoError(t, err)
	return found
}
