package lint_test

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// Beside those of tools-table.json.
func TestLintAndResolveNameTheToolsThatReadAVariableDifferently(t *testing.T) {
	t.Parallel()
	const (
		pythonAndJS = python + " " + onlyJS
		all         = onlyGo + " " + pythonAndJS
	)
	for name, c := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"mode":                             {env: map[string]string{"AWS_RETRY_MODE": "adaptive"}},
		"mode legacy":                      {map[string]string{"AWS_RETRY_MODE": "legacy"}, []string{all}},
		"mode of blanks":                   {map[string]string{"AWS_RETRY_MODE": " \t"}, []string{all}},
		"attempts":                         {env: map[string]string{"AWS_MAX_ATTEMPTS": "+04"}},
		"attempts of blanks":               {map[string]string{"AWS_MAX_ATTEMPTS": "  "}, []string{onlyGo + " " + python}},
		"AWS_PROFILE":                      {env: map[string]string{"AWS_PROFILE": "a"}},
		"the two with one name":            {env: map[string]string{"AWS_PROFILE": "a", "AWS_DEFAULT_PROFILE": "a"}},
		"empty AWS_DEFAULT_PROFILE beside": {map[string]string{"AWS_PROFILE": "a", "AWS_DEFAULT_PROFILE": ""}, []string{"botocore"}},
		"empty AWS_PROFILE beside":         {map[string]string{"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "a"}, []string{"aws-cli", onlyJS}},
		"path":                             {env: map[string]string{"AWS_CONFIG_FILE": "/c"}},
		"path in the home directory":       {map[string]string{"AWS_CONFIG_FILE": "~/config"}, []string{onlyGo}},
		"path in another home directory":   {env: map[string]string{"AWS_CONFIG_FILE": "~me/config"}},
		"variable in a path":               {map[string]string{"AWS_CONFIG_FILE": "$DIR/config", "DIR": ""}, []string{python}},
		"variable in braces":               {map[string]string{"AWS_CONFIG_FILE": "${HOME}config"}, []string{python}},
		"variable that is unset":           {env: map[string]string{"AWS_CONFIG_FILE": "$NOTHING/config"}},
		"dollar sign":                      {env: map[string]string{"AWS_CONFIG_FILE": "/a$/${b"}},
		"empty path":                       {map[string]string{"AWS_SHARED_CREDENTIALS_FILE": ""}, []string{python}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const file = "[default]\nmax_attempts = 5\n[profile a]\nretry_mode = adaptive\n"
			src := shared([]byte(file), nil, nil)
			src.FS.(fstest.MapFS)[".aws/credentials"] = &fstest.MapFile{Data: []byte("[default]\nretry_mode = adaptive\n")}
			named := maps.Clone(c.env)
			if _, ok := named["HOME"]; !ok {
				named["HOME"] = "/"
			}
			if _, ok := named["AWS_CONFIG_FILE"]; !ok {
				named["AWS_CONFIG_FILE"] = "/config"
			}
			src.LookupEnv = world.LookupIn(named)
			want := []string{}
			for _, names := range c.want {
				want = append(want, "0 "+names)
			}
			found, err := lint.Files(src, false)
			require.NoError(t, err)
			require.Equal(t, want, places(found), "%v", found)
			settings, err := lint.Resolve(config.Query{Sources: src})
			require.NoError(t, err)
			require.Equal(t, want, places(settings.Diagnostics))
		})
	}
}

func TestLintAndResolveNameTheToolThatRefusesAnOverriddenValue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config, credentials string
		env                 map[string]string
		want                []string
	}{
		"mode":     {"[default]\nretry_mode = foo\n", "", map[string]string{"AWS_RETRY_MODE": "standard"}, []string{"2 " + onlyGo + " " + onlyJS}},
		"attempts": {"", "[default]\nmax_attempts = ten\n", map[string]string{"AWS_MAX_ATTEMPTS": "4"}, []string{"2 " + onlyGo + " " + onlyJS}},
		"attempts that it accepts": {
			"", "[default]\nmax_attempts = '7'\n", map[string]string{"AWS_MAX_ATTEMPTS": "4"}, []string{"2 " + onlyGo + " " + onlyJS},
		},
		"attempts that it does not see": {
			"\uFEFF[default]\nmax_attempts = ten\n", "",
			map[string]string{"AWS_MAX_ATTEMPTS": "4"},
			[]string{"1 " + onlyGo + " " + python, "2 " + onlyJS},
		},
		"another value of the file wins": {
			"[default]\n[profile a]\nretry_mode = foo\n", "[a]\nretry_mode = standard\n",
			map[string]string{"AWS_RETRY_MODE": "standard"},
			[]string{"3 " + onlyJS},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := shared([]byte(c.config), []byte(c.credentials), c.env)
			found, err := lint.Files(src, false)
			require.NoError(t, err)
			require.Equal(t, append([]string{}, c.want...), places(found), "%v", found)
			profile := ""
			if strings.Contains(c.config, "[profile a]") {
				profile = "a"
			}
			settings, err := lint.Resolve(config.Query{Sources: world.As(src, profile)})
			require.NoError(t, err)
			require.Equal(t, append([]string{}, c.want...), places(settings.Diagnostics), "%v", settings.Diagnostics)
			for _, d := range settings.Diagnostics {
				require.Equal(t, lint.SeverityWarning, d.Severity, "%v", d)
			}
		})
	}
}

func TestNothingIsSaidOfAVariableThatCodeReplaces(t *testing.T) {
	t.Parallel()
	src := shared([]byte("[profile a]\n"), nil, map[string]string{
		"AWS_CONFIG_FILE": "~/cfg", "AWS_SHARED_CREDENTIALS_FILE": "$HOME/x", "HOME": "/h", "AWS_DEFAULT_PROFILE": "b",
	})
	src.ConfigFile, src.CredentialsFile = "/config", "/credentials"
	settings, err := lint.Resolve(config.Query{Sources: world.As(src, "a")})
	require.NoError(t, err)
	require.Empty(t, readDifferently(settings.Diagnostics))
	require.Equal(t, []string{"0 " + python}, places(findings(t, src, false)))
}

func TestLintGivesAReasonForEachVariable(t *testing.T) {
	t.Parallel()
	found, err := lint.Files(shared(nil, nil, map[string]string{
		"AWS_CONFIG_FILE": "~/$X", "X": "y", "HOME": "/h", "AWS_RETRY_MODE": "Adaptive", "AWS_MAX_ATTEMPTS": "4 ", "AWS_DEFAULT_PROFILE": "a",
	}), false)
	require.NoError(t, err)
	texts := []string{}
	for _, d := range readDifferently(found) {
		texts = append(texts, d.String())
	}
	require.Equal(t, []string{
		`warning: AWS_RETRY_MODE: "Adaptive": aws-sdk-go-v2, botocore, aws-cli: the value is refused; js: the value is one that is not known [read-differently]`,
		`warning: AWS_MAX_ATTEMPTS: "4 ": aws-sdk-go-v2: the value is refused [read-differently]`,
		`warning: AWS_DEFAULT_PROFILE: "a": botocore, aws-cli: a profile that no file has is refused; js: the variable does not count [read-differently]`,
		`warning: AWS_CONFIG_FILE: "~/$X": aws-sdk-go-v2: the path is taken as it is; botocore, aws-cli: '$' stands for a variable in a path [read-differently]`,
	}, texts)
}
