package config_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

// secret stands in for what must not get out. It has the characters and the
// length of a real one.
const secret = "hUnTeR2/SeCrEt+EXAMPLEKEYwJalrXUtnFEMIK7=="

// tellAll gives every way to print a value.
func tellAll(t *testing.T, values ...any) string {
	t.Helper()
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "%v %+v %#v %s\n", v, v, v, v)
		fmt.Fprintf(&b, "%x %d\n", v, v)
		if data, err := json.Marshal(v); err == nil {
			b.Write(data)
		}
	}
	return b.String()
}

func requireNoSecret(t *testing.T, text string) {
	t.Helper()
	hex := fmt.Sprintf("%x", secret[:12])
	decimals := strings.Trim(fmt.Sprintf("%d", []byte(secret[:12])), "[]")
	for _, part := range []string{secret, strings.TrimRight(secret, "="), secret[:12], hex, decimals} {
		i := strings.Index(strings.ToLower(text), strings.ToLower(part))
		require.Negative(t, i, "a secret is in ...%s", text[max(0, i-100):max(0, i)])
	}
}

func TestSecretsStayInGoodFiles(t *testing.T) {
	t.Parallel()
	credentials := strings.Join([]string{
		"[default]", "aws_access_key_id = " + secret, "aws_secret_access_key = " + secret, "aws_session_token = " + secret,
		"max_attempts = 4", "  aws_secret_access_key = " + secret, "# " + secret, "  " + secret,
		"retry_mode =", "  x = " + secret, "retry-mode = " + secret, "password = " + secret,
		"[a]", "max_attempts = 3", "max_attempts = 9 ", " " + secret, secret, secret, "s3 =", " token = " + secret,
		"[profile x]", "retry_mode = adaptive", "aws_secret_access_key = " + secret,
	}, "\n")
	src := config.Sources{
		ConfigFile: "/c", CredentialsFile: "/k", LookupEnv: lookupIn(map[string]string{"AWS_SECRET_ACCESS_KEY": secret}),
		FS: fstest.MapFS{"c": {Data: []byte(credentials)}, "k": {Data: []byte(credentials)}},
	}
	files, err := config.Open(src)
	require.NoError(t, err)
	printed := []any{files, *files, files.Status(), files.Diagnostics(), files.Lint()}
	for _, name := range []string{"default", "a"} {
		profile, err := files.Profile(name, config.Origin{})
		require.NoError(t, err)
		printed = append(printed, profile, *profile, profile.Candidates(config.KeyMaxAttempts), profile.Candidates(config.KeyRetryMode))
	}
	_, err = files.Profile("nobody", config.Origin{Kind: config.OriginOption})
	require.Error(t, err)
	printed = append(printed, err)
	requireNoSecret(t, tellAll(t, printed...)+fmt.Sprintf("%+v %#v", src, src))

	profiles, err := files.Profiles()
	require.NoError(t, err)
	require.Equal(t, secret, profiles.Raw()["default"]["aws_access_key_id"], "the test has no secrets to find")
	shown := profiles.Map(true)["default"]
	require.Equal(t, secret, shown["password"], "a value that no rule hides")
	require.Equal(t, config.Hidden, shown["aws_secret_access_key"])
	requireNoSecret(t, tellAll(t, profiles, *profiles, profiles.Names(), profiles.Map(false)["default"]))
}

func TestSecretsStayInBadFiles(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		secret, secret + "\n[default]\n", "aws_secret_access_key = " + secret, " " + secret,
		"[default]\n" + strings.TrimRight(secret, "="), "[default]\n " + secret, "[default]\n= " + secret,
		"[default]\naws_secret_access_key " + strings.TrimRight(secret, "="),
		"[default]\nretry_mode " + strings.TrimRight(secret, "="),
		"[default]\naws_secret_access_key: " + strings.TrimRight(secret, "="),
		"[default]\ns3 =\n " + strings.TrimRight(secret, "="), "[default]\ns3 =\n = " + secret,
		"[default]" + secret, "[default aws_secret_access_key = " + secret, "[default] " + secret + "\n",
		"[default # " + secret + "]", "[default]\na = \xff" + secret,
	} {
		files := openTexts(t, "", bad)
		_, err := files.Profile("default", config.Origin{})
		require.Error(t, err, bad)
		_, err2 := files.Profiles()
		require.Error(t, err2, bad)
		requireNoSecret(t, tellAll(t, err, err2, files.Lint()))
	}
}

func TestNamesOfSecrets(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"aws_secret_access_key": true, "AWS_ACCESS_KEY_ID": true, "aws_session_token": true, "x_security_token": true,
		"client_secret": true, "sso_registration_Token_x": true,
		"region": false, "password": false, "credential_process": false, "accesskey": false,
	} {
		require.Equal(t, want, config.IsSecret(key), key)
	}
}
