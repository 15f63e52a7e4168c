package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

func TestNearNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, asked string
		has         []string
		want        []string
	}{
		{"a typing error", "production", []string{"staging", "prodution"}, []string{"prodution"}},
		{"up to a third of the letters", "abcdefghi", []string{"abcdefxyz", "abcdewxyz"}, []string{"abcdefxyz"}},
		{"the nearest first, then by name", "prod-eu", []string{"a-od-eu", "prod-us", "prod-eu1", "PROD-EU"}, []string{"PROD-EU", "prod-eu1", "a-od-eu", "prod-us"}},
		{"two letters the other way round", "pord", []string{"prod", "stage"}, []string{"prod"}},
		{"one letter of a short name", "ab", []string{"abc", "xy", "a"}, []string{"a", "abc"}},
		{"at most five", "pp", []string{"p1", "p6", "p3", "p4", "p5", "p2"}, []string{"p1", "p2", "p3", "p4", "p5"}},
		{"without the quotes of a name", "a b", []string{`"a c"`}, []string{"a c"}},
		{"nothing alike", "zebra", []string{"default", "prod"}, nil},
		{"a name too long to compare", strings.Repeat("x", 200), []string{strings.Repeat("x", 199)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := texts("[profile "+strings.Join(c.has, "]\n[profile ")+"]\n", "["+c.has[0]+"]\n")
			_, err := config.Query{Sources: src, Profile: c.asked}.Resolve()
			var missing *config.ProfileNotFoundError
			require.ErrorAs(t, err, &missing)
			require.Equal(t, c.want, missing.Near)
			require.Empty(t, config.HintOf(missing))
		})
	}
}

func TestMissingProfileWhoseHeaderIsWrittenLikeTheOtherFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, config, credentials, want string }{
		{"without the word profile", "[dev]\n", "", "/c:1 has [dev], which would have to be [profile dev]"},
		{"quoted without the word profile", "\n['dev']\n", "", "/c:2 has ['dev'], which would have to be [profile dev]"},
		{"with the word profile", "", "[a]\n[profile dev]\n", "/k:2 has [profile dev], which would have to be [dev]"},
		{"quoted in the credentials file", "", "[a]\n[\"dev\"]\n", `/k:2 has ["dev"], which would have to be [dev]`},
		{"the config file first", "[dev]\n", "[profile dev]\n", "/c:1 has [dev], which would have to be [profile dev]"},
		{"nothing alike", "[sso-session dev]\n", "[services dev]\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Query{Sources: texts(c.config, c.credentials), Profile: "dev"}.Resolve()
			var missing *config.ProfileNotFoundError
			require.ErrorAs(t, err, &missing)
			require.Equal(t, c.want, config.HintOf(missing))
			require.Equal(t, config.Origin{Kind: "option", Name: "WithProfile"}, missing.Origin)
		})
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
		found := without(lint(t, texts("[default]\n"+key+" = 3\n", ""), false))
		if meant == "" {
			require.Empty(t, found, key)
			continue
		}
		require.Len(t, found, 1, key)
		require.Equal(t, "misspelt-key", found[0].Code, key)
		require.True(t, strings.HasSuffix(found[0].Message, meant+" is"), found[0].Message)
	}
}
