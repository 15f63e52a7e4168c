package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runProfiles runs the command for two files.
func runProfiles(t *testing.T, config, credentials string, flags ...string) (out, errs string) {
	t.Helper()
	files := map[string]string{"home/me/.aws/config": config, "home/me/.aws/credentials": credentials}
	out, errs, status := invoke(t, world(files, nil), append([]string{"profiles"}, flags...)...)
	require.Equal(t, exitFine, status)
	return out, errs
}

// profilesIn returns what the command prints in JSON.
func profilesIn(t *testing.T, config, credentials string, flags ...string) map[string]map[string]string {
	t.Helper()
	out, _ := runProfiles(t, config, credentials, append(flags, "--json")...)
	var all struct{ Profiles map[string]map[string]string }
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	return all.Profiles
}

func TestProfilesAreShownHiddenOrNotAtAll(t *testing.T) {
	t.Parallel()
	const config = "[default]\nregion = x\nempty =\ns3 =\n a = 1\nbad =\n x\n[profile b]\n[c]\nx = 1\n[services s]\nx = 1\n"
	const credentials = "[a]\naws_access_key_id = K\nretry_mode = bogus\npassword = p\n[default]\nREGION = y\n"
	require.Equal(t, map[string]map[string]string{
		"default": {"region": "***", "empty": "***", "s3": "", "bad": "***"},
		"a":       {"aws_access_key_id": "***", "retry_mode": "***", "password": "***"},
		"b":       {},
	}, profilesIn(t, config, credentials))
	require.Equal(t, map[string]map[string]string{
		"default": {"region": "y", "empty": "", "s3": "", "bad": ""},
		"a":       {"aws_access_key_id": "***", "retry_mode": "bogus", "password": "p"}, // No rule hides a password.
		"b":       {},
	}, profilesIn(t, config, credentials, "--show-values"))
}

func TestValueIsHiddenIfALineOfItHasTheKeyOfASecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, config, credentials, want string }{
		{"several lines", "key = v\n w = x\n  y\n", "", "v\nw = x\ny"},
		{"equals sign", "key = v\n aws_secret_access_key = x\n", "", "***"},
		{"colon", "key = v\n w\n aws_session_token: x\n", "", "***"},
		{"capitals", "key = v\n\tAWS_ACCESS_KEY_ID=x\n", "", "***"},
		{"behind a blank line and a comment", "key = v\n\n# c\n my_token = x\n", "", "***"},
		{"not a key", "key = v\n the secret of x\n x = secret\n", "", "v\nthe secret of x\nx = secret"},
		{"secret in a comment", "key = v\n # token = x\n", "", "v"},
		{"line that is not UTF-8", "key = v\n token = \xff\n", "", "v"},
		{"property of its own", "key = v\ntoken = x\n", "", "v"},
		{"repeated without one", "key = v\n token = x\nkey = w\n", "", "w"},
		{"overridden without one", "key = v\n token = x\n", "[default]\nkey = w\n", "w"},
		{"overriding", "key = v\n", "[default]\nkey = w\n token = x\n", "***"},
		{"sub-properties", "key =\n token = x\n", "", ""},
		{"overridden sub-properties", "key =\n token = x\n", "[default]\nkey = w\n", "w"},
		{"overriding sub-properties", "key = v\n", "[default]\nkey =\n x = y\n", ""},
		{"sub-properties of a secret", "key = v\nclient_secret =\n x = y\n", "", "v"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := profilesIn(t, "[default]\n"+c.config, c.credentials, "--show-values")
			require.Equal(t, c.want, all["default"]["key"])
		})
	}
}

func TestProfilesComeInOrder(t *testing.T) {
	t.Parallel()
	const config = "[profile b]\nz = 1\nA = 2\n[default]\n[profile é]\n[profile B]\n"
	const credentials = "[a]\n[b]\nm = 3\n\"q\"= 4\na: 5\n"
	out, _ := runProfiles(t, config, credentials, "--show-values")
	require.Equal(t, "[B]\n\n[a]\n\n[b]\na = 5\nm = 3\nz = 1\n\n[default]\n\n[é]\n", out)
	out, _ = runProfiles(t, config, credentials, "--show-values", "--json")
	require.Equal(t, `{"profiles":{"B":{},"a":{},"b":{"a":"5","m":"3","z":"1"},"default":{},"é":{}}}`+"\n", out) //nolint:testifylint // the order counts
}

func TestProfilesReportFilesAndMalformedLinesOnly(t *testing.T) {
	t.Parallel()
	const config = "x\n[default]\nretry-mode = 1\nretry_mode = bogus\nretry_mode = standard\n"
	_, errs := runProfiles(t, config, "[a]\n \xff\n")
	require.Equal(t, "/home/me/.aws/config:1:1: warning: expected a section header such as [default] before the first property; the line is skipped [malformed-line]\n"+
		"/home/me/.aws/credentials:2:2: warning: the line is not valid UTF-8; the line is skipped [malformed-line]\n", errs)
	_, errs = runProfiles(t, config, "", "--credentials-file", "/none")
	require.Equal(t, 2, strings.Count(errs, "\n"), errs)
	require.True(t, strings.HasPrefix(errs, "/none: warning: the credentials file that an option names does not exist [missing-file]\n"), errs)
}
