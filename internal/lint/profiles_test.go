package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/lint"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// profiles returns everything that the two files have.
func profiles(t *testing.T, src config.Sources, showValues bool) map[string]map[string]string {
	t.Helper()
	seq, _, err := lint.Profiles(src, showValues, false)
	require.NoError(t, err)
	all := map[string]map[string]string{}
	for name, values := range seq {
		require.NotContains(t, all, name)
		all[name] = map[string]string{}
		for key, value := range values {
			require.NotContains(t, all[name], key)
			all[name][key] = value
		}
	}
	return all
}

func TestProfilesAreShownHiddenOrNotAtAll(t *testing.T) {
	t.Parallel()
	src := world.Texts(
		"[default]\nregion = x\nempty =\ns3 =\n a = 1\nbad =\n x\n[profile b]\n[c]\nx = 1\n[services s]\nx = 1\n",
		"[a]\naws_access_key_id = K\nretry_mode = bogus\n[default]\nREGION = y\n")
	require.Equal(t, map[string]map[string]string{
		"default": {"region": "***", "empty": "***", "s3": "", "bad": "***"},
		"a":       {"aws_access_key_id": "***", "retry_mode": "***"},
		"b":       {},
	}, profiles(t, src, false))
	require.Equal(t, map[string]map[string]string{
		"default": {"region": "y", "empty": "", "s3": "", "bad": ""},
		"a":       {"aws_access_key_id": "***", "retry_mode": "bogus"},
		"b":       {},
	}, profiles(t, src, true))
}

func TestValueIsHiddenIfALineOfItHasTheKeyOfASecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, config, credentials, want string }{
		{"one line", "key = v\n", "", "v"},
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
			all := profiles(t, world.Texts("[default]\n"+c.config, c.credentials), true)
			require.Equal(t, c.want, all["default"]["key"])
		})
	}
}

func TestProfilesComeInOrder(t *testing.T) {
	t.Parallel()
	seq, _, err := lint.Profiles(world.Texts("[profile b]\nz = 1\nA = 2\n[default]\n[profile é]\n[profile B]\n", "[a]\n[b]\nm = 3\n\"q\"= 4\na: 5\n"), true, false)
	require.NoError(t, err)
	listed := func() []string {
		var all []string
		for name, values := range seq {
			all = append(all, name)
			for key, value := range values {
				all = append(all, key+"="+value)
			}
		}
		return all
	}
	want := []string{"B", "a", "b", "a=5", "m=3", "z=1", "default", "é"}
	require.Equal(t, want, listed())
	require.Equal(t, want, listed(), "the second time")
	for name, values := range seq {
		for range values {
			break
		}
		if name == "b" {
			break
		}
	}
}

func TestProfilesReportFilesAndMalformedLinesOnly(t *testing.T) {
	t.Parallel()
	src := world.Texts("x\n[default]\nretry-mode = 1\nretry_mode = bogus\nretry_mode = standard\n", "[a]\n \xff\n")
	_, found, err := lint.Profiles(src, false, false)
	require.NoError(t, err)
	require.Equal(t, []string{
		"/c:1: warning: expected a section header such as [default] before the first property; the line is skipped [malformed-line]",
		"/k:2: warning: the line is not valid UTF-8; the line is skipped [malformed-line]",
	}, world.Lines(found))
	src.CredentialsFile = "/none"
	_, found, err = lint.Profiles(src, false, false)
	require.NoError(t, err)
	require.Equal(t, []string{"missing-file", "malformed-line"},
		[]string{found[0].Code, found[1].Code})
}

// manyProfiles returns a config file with n profiles of six keys each.
func manyProfiles(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[profile p%d]\nregion = eu-west-1\noutput = json\nretry_mode = adaptive\n"+
			"max_attempts = %d\nrole_arn = arn:aws:iam::1:role/r%d\nsource_profile = default\n", i, i%9+1, i)
	}
	return b.String()
}

func TestManyProfilesAndManyKeysAreMergedAlike(t *testing.T) {
	t.Parallel()
	const n = 1500
	var extra strings.Builder
	extra.WriteString("[p7]\n")
	for i := range n {
		fmt.Fprintf(&extra, "k%d = %d\n", i%(n/2), i)
	}
	src := world.Texts(manyProfiles(n), extra.String())
	all := profiles(t, src, true)
	require.Len(t, all, n)
	raw, err := world.RawProfiles(src)
	require.NoError(t, err)
	require.Equal(t, shown(raw), all)
	require.Equal(t, "1095", all["p7"]["k345"])
	require.Len(t, all["p7"], n/2+6)
}

// shown returns the values of profiles that may be shown.
func shown(raw map[string]map[string]any) map[string]map[string]string {
	all := map[string]map[string]string{}
	for name, values := range raw {
		all[name] = map[string]string{}
		for key, value := range values {
			text, single := value.(string)
			switch {
			case !single: // Sub-properties.
			case slices.ContainsFunc(strings.Split(text, "\n")[1:], hasSecretKey), sharedfile.IsSecret(key):
				text = "***"
			}
			all[name][key] = text
		}
	}
	return all
}

func hasSecretKey(line string) bool {
	for _, sign := range []string{"=", ":"} {
		if key, _, ok := strings.Cut(line, sign); ok {
			return sharedfile.IsSecret(key)
		}
	}
	return false
}
