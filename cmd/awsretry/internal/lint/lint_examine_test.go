package lint_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

func TestExamineGoesOnAsAClientOfTheSDK(t *testing.T) {
	t.Parallel()
	const refused = "; Resolve and Load refuse it, and "
	const absent, unlimited = refused + "a client of awssdk goes on as if it were not there", refused + "a client of awssdk goes on without a limit"
	const both = refused + "so does aws-sdk-go-v2"
	const attempts, mode = "must be a decimal integer from 1 to 2147483647", "must be standard or adaptive"
	const line = "must be a single line (in a file, a line that is indented deeper continues the one above)"
	const inConfig, inCredentials = "[default] max_attempts", "[default] max_attempts"
	for name, c := range map[string]struct {
		config, credentials string
		env                 map[string]string
		attempts            int
		origin              string
		bad                 string // The place of the bad value, and what is said of it.
		fails               bool
	}{
		"0 in a variable before a profile":              {config: "[default]\nmax_attempts = 7\n", env: map[string]string{"AWS_MAX_ATTEMPTS": "0"}, attempts: 7, origin: "/c:2: [default] max_attempts", bad: `AWS_MAX_ATTEMPTS: "0": ` + attempts + absent},
		"0 in a file":                                   {config: "[default]\nmax_attempts = 0x0\n", attempts: 3, origin: "built-in default", bad: inConfig + `: "0x0": ` + attempts + absent},
		"0 in the stronger file":                        {config: "[default]\nmax_attempts = 7\n", credentials: "[default]\nmax_attempts = 0\n", attempts: 3, origin: "built-in default", bad: inCredentials + `: "0": ` + attempts + absent},
		"a negative number":                             {env: map[string]string{"AWS_MAX_ATTEMPTS": "-1"}, attempts: math.MaxInt32, origin: "AWS_MAX_ATTEMPTS", bad: `AWS_MAX_ATTEMPTS: "-1": ` + attempts + unlimited},
		"a number above the limit":                      {config: "[default]\nmax_attempts = 2147483648\n", attempts: math.MaxInt32, origin: "/c:2: [default] max_attempts", bad: inConfig + `: "2147483648": ` + attempts + unlimited},
		"no number in a variable":                       {config: "[default]\nmax_attempts = 7\n", env: map[string]string{"AWS_MAX_ATTEMPTS": "ten"}, attempts: 7, origin: "/c:2: [default] max_attempts", bad: `AWS_MAX_ATTEMPTS: "ten": ` + attempts + both, fails: true},
		"hexadecimal in a file":                         {config: "[default]\nmax_attempts = 0x10\n", attempts: 16, origin: "/c:2: [default] max_attempts", bad: inConfig + `: "0x10": ` + attempts + refused + "a client of awssdk goes on with 16"},
		"a number in quotes":                            {credentials: "[default]\nmax_attempts = '2147483647'\n", attempts: math.MaxInt32, origin: "/k:2: [default] max_attempts", bad: inCredentials + `: "'2147483647'": ` + attempts + refused + "a client of awssdk goes on with 2147483647"},
		"an indented number in quotes before a comment": {config: "[default]\n  max_attempts = '7' # c\n", attempts: 3, origin: "built-in default", bad: inConfig + `: "'7'": ` + attempts + both, fails: true},
		"a number in quotes before a comment":           {config: "[default]\nmax_attempts = '7' # c\n", attempts: 7, origin: "/c:2: [default] max_attempts", bad: inConfig + `: "'7'": ` + attempts + refused + "a client of awssdk goes on with 7"},
		"a mode in quotes":                              {config: "[default]\nretry_mode = \"adaptive\"\n", attempts: 3, origin: "built-in default", bad: `[default] retry_mode: "\"adaptive\"": ` + mode + refused + "a client of awssdk goes on with adaptive"},
		"a number above an indented property":           {config: "[default]\nmax_attempts = 7\n  # note\n  region = a\n", attempts: 7, origin: "/c:2: [default] max_attempts", bad: inConfig + `: "7\n...": ` + line + refused + "a client of awssdk goes on with 7"},
		"a number of two lines":                         {credentials: "[default]\nmax_attempts = 7\n  8\n  a = b\n", attempts: 3, origin: "built-in default", bad: inCredentials + `: "7\n...": ` + line + both, fails: true},
		"no number above an indented property":          {config: "[default]\nmax_attempts = x\n  a: b\n", attempts: 3, origin: "built-in default", bad: inConfig + `: "x\n...": ` + line + both, fails: true},
		"no number that the SDK does not see":           {config: "\uFEFF[default]\nmax_attempts = ten\n", attempts: 3, origin: "built-in default", bad: inConfig + `: "ten": ` + attempts + absent},
		"unknown mode":                                  {env: map[string]string{"AWS_RETRY_MODE": "foo"}, attempts: 3, origin: "built-in default", bad: `AWS_RETRY_MODE: "foo": ` + mode + both, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := config.Query{Sources: world.Texts(c.config, c.credentials)}
			q.LookupEnv = world.LookupIn(c.env)
			_, want := lint.Resolve(q)
			require.Error(t, want)

			settings, err := lint.Examine(q)
			require.NotNil(t, settings)
			if c.fails {
				require.Equal(t, want, err)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, c.attempts, settings.MaxAttempts.Value)
			require.Equal(t, c.origin, settings.MaxAttempts.Origin.String())
			bad := slices.DeleteFunc(settings.Diagnostics, func(d lint.Diagnostic) bool { return d.Severity != lint.SeverityError })
			require.Len(t, bad, 1)
			require.Equal(t, "invalid-value", bad[0].Code)
			require.Equal(t, c.bad, bad[0].Message)
		})
	}
}

func TestExamineIsResolveForGoodValues(t *testing.T) {
	t.Parallel()
	q := config.Query{Sources: world.As(world.Texts("[profile a]\nretry_mode = legacy\nmax_attempts = 7\n", "[a]\nmax_attempts = 5\n"), "a")}
	want, err := lint.Resolve(q)
	require.NoError(t, err)
	got, err := lint.Examine(q)
	require.NoError(t, err)
	require.Equal(t, want, got)
	q.Profile = "b"
	got, err = lint.Examine(q)
	require.Nil(t, got)
	require.ErrorContains(t, err, `profile "b" not found`)
}

func TestExamineNamesEachLineForWhichAToolRefusesTheWholeFile(t *testing.T) {
	t.Parallel()
	const wanted = "[profile dev]\nmax_attempts = 6\n"
	for name, c := range map[string]struct {
		config, credentials string
		want                []string
	}{
		"a section of another profile twice":   {wanted + "[profile x]\na = 1\n[profile x]\nb = 1\n", "", []string{"5 " + python}},
		"its second header twice":              {wanted + "[profile x]\na = 1\n[profile 'x']\nb = 1\n[profile 'x']\n", "", []string{"7 " + python}},
		"a CR within a header":                 {wanted + "[plugins]\ra = 1\r[x] # c\ry\n", "", []string{"3 " + python}},
		"a key of another profile twice":       {wanted + "[profile x]\na = 1\nA = 2\n", "", []string{"5 " + python}},
		"a colon in a sub-property":            {wanted + "[profile x]\ns3 =\n  a: b\n", "", []string{"5 " + python}},
		"a name that the JavaScript tool bars": {wanted + "[profile __proto__]\n", "", []string{"2 " + onlyJS}},
		"one quote below malformed headers":    {wanted + "[profile x\na = '\n[]\nb = \"\n  c = '\nd =\n  e = '\n# f = '\n", "", []string{"3 " + python, "4 " + onlyGo}},
		"in the credentials file":              {wanted, "[x]\na = 1\na = 2\n[x]\n", []string{"3 " + python}},
		"a CR within a line":                   {wanted + "[profile x]\nnote = a\rb\n", "", []string{"4 " + python}},
		"a malformed line":                     {wanted + "[profile x]\ny\n", "", []string{"4 " + python}},
		"a line that is read otherwise":        {wanted + "[profile x]\nretry_mode = Adaptive\nmax_attempts = 010\n[profile a b]\n", "", []string{}},
		"more of these than are kept":          {wanted + "[profile x]\n" + numbered("k%d = 1\n", 1) + numbered("[profile a %d]\n", 200) + "[profile x]\n", "", []string{"205 " + python}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings, err := lint.Examine(config.Query{Sources: world.As(world.Texts(c.config, c.credentials), "dev")})
			require.NoError(t, err)
			require.Equal(t, c.want, places(settings.Diagnostics), "%v", settings.Diagnostics)
		})
	}
}
