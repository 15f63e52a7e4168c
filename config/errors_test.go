package config_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

func TestMissingProfileWhoseHeaderIsWrittenLikeTheOtherFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, config, credentials, want string }{
		{"without the word profile", "[dev]\n", "", "; /c:1 has [dev], which would have to be [profile dev]"},
		{"with the word profile in another case", "[Profile dev]\n", "", "; /c:1 has [Profile dev], which would have to be [profile dev]"},
		{"with a dot behind the word", "[profile.dev]\n", "", "; /c:1 has [profile.dev], which would have to be [profile dev]"},
		{"quoted in the credentials file", "", "[a]\n[\"dev\"]\n", `; /k:2 has ["dev"], which would have to be [dev]`},
		{"the config file first", "[dev]\n", "[profile dev]\n", "; /c:1 has [dev], which would have to be [profile dev]"},
		{"text behind it", "[profile dev] x\n", "", `; /c:1 has "[profile dev", which is skipped: a section header must end with ']'`},
		{"not closed", "", "[dev # a\n", `; /k:1 has "[dev", which is skipped: a section header must end with ']'`},
		{"not opened", "[a]\nprofile dev]\n", "", `; /c:2 has "profile dev", which is skipped: expected an '=' sign in a property`},
		{"another blank behind the word", "[profile \u00a0dev]\n", "", "; /c:1 has [profile \u00a0dev], which would have to be [profile dev]"},
		{"nothing alike", "[sso-session dev]\n", "[services dev]\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Query{Sources: world.As(world.Texts(c.config, c.credentials), "dev")}.Resolve()
			require.EqualError(t, err, `config: option WithSources: profile "dev" not found in /c or /k`+c.want)
		})
	}
}

func TestWinnerThatIsNotAcceptedNamesPlaceValueAndRange(t *testing.T) {
	t.Parallel()
	const attempts = "must be a decimal integer from 1 to 2147483647"
	const multiLine = "must be a single line (in a file, a line that is indented deeper continues the one above)"
	for _, c := range []struct {
		name string
		in   world.Home
		want string
	}{
		{"unknown mode", world.Home{Env: map[string]string{"AWS_RETRY_MODE": "bogus"}}, `AWS_RETRY_MODE: "bogus": must be standard or adaptive`},
		{
			"word for a number in credentials",
			world.Home{Credentials: "[x]\n\nmax_attempts = ten\n", Env: map[string]string{"AWS_PROFILE": "x"}},
			`/h/.aws/credentials:3: [x] max_attempts: "ten": ` + attempts,
		},
		{"group", world.Home{Config: "[default]\nmax_attempts =\n a = 1\n"}, `/h/.aws/config:2: [default] max_attempts: "": ` + attempts},
		{"newline in a variable", world.Home{Env: map[string]string{"AWS_RETRY_MODE": "standard\nx"}}, `AWS_RETRY_MODE: "standard\nx": ` + multiLine},
		{"indented line below", world.Home{Config: "[default]\nmax_attempts = 5\n region = x\n"}, `/h/.aws/config:2: [default] max_attempts: "5\n...": ` + multiLine},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := c.in.Query().Resolve()
			require.EqualError(t, err, "config: "+c.want)
			value, ok := errors.AsType[*config.ValueError](err)
			require.True(t, ok)
			require.NotEmpty(t, value.Key)
			require.ErrorIs(t, err, value.Err)
		})
	}
}

func TestErrorForAProfileThatNoFileHasNamesFilesAndSimilarProfiles(t *testing.T) {
	t.Parallel()
	const similar = "[profile prod-eu]\n[profile 'Prod']\n[profile test]\n"
	for want, h := range map[string]world.Home{
		`"prod" not found in /h/.aws/config or /h/.aws/credentials; did you mean "Prod" or "prof"`: {Config: similar, Credentials: "[prof]\n[x]\n", Env: map[string]string{"AWS_PROFILE": "prod"}},
		`"default" not found in /h/.aws/config (missing) or /h/.aws/credentials (missing)`:         {Env: map[string]string{"AWS_PROFILE": "default"}},
		`"x" not found in the config file (missing) or the credentials file (missing)`:             {Env: map[string]string{"AWS_PROFILE": "x", "HOME": ""}},
		`"profile x" not found in /h/.aws/config or /h/.aws/credentials (missing); /h/.aws/config:1 has [profile x], whose name is "x"`: {
			Config: "[profile x]\n", Env: map[string]string{"AWS_PROFILE": "profile x"},
		},
	} {
		_, err := h.Query().Resolve()
		require.EqualError(t, err, "config: AWS_PROFILE: profile "+want)
	}
}
