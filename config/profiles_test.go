package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

func TestProfilesAreShownHiddenOrNotAtAll(t *testing.T) {
	t.Parallel()
	files := openTexts(t, "[default]\nregion = x\nempty =\ns3 =\n a = 1\n[profile b]\n", "[a]\naws_access_key_id = K\nretry_mode = bogus\n")
	profiles, err := files.Profiles()
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "default"}, profiles.Names())
	require.Equal(t, map[string]map[string]string{
		"default": {"region": "***", "empty": "***", "s3": ""},
		"a":       {"aws_access_key_id": "***", "retry_mode": "***"},
		"b":       {},
	}, profiles.Map(false))
	require.Equal(t, map[string]map[string]string{
		"default": {"region": "x", "empty": "", "s3": ""},
		"a":       {"aws_access_key_id": "***", "retry_mode": "bogus"},
		"b":       {},
	}, profiles.Map(true))
	profiles.Map(true)["default"]["region"] = "y"
	require.Equal(t, "x", profiles.Map(true)["default"]["region"])
}

// manyProfiles is a config file with so many profiles of six keys each.
func manyProfiles(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[profile p%d]\nregion = eu-west-1\noutput = json\nretry_mode = adaptive\n"+
			"max_attempts = %d\nrole_arn = arn:aws:iam::1:role/r%d\nsource_profile = default\n", i, i%9+1, i)
	}
	return b.String()
}

func TestOneProfileCostsTheSameInAnyFile(t *testing.T) {
	count := func(n int) float64 {
		files := openTexts(t, manyProfiles(n), "[p5]\naws_access_key_id = x\n")
		return testing.AllocsPerRun(2, func() {
			profile, err := files.Profile("p5", config.Origin{})
			require.NoError(t, err)
			require.Equal(t, "6", profile.Candidates(config.KeyMaxAttempts)[0].Raw)
		})
	}
	require.InDelta(t, count(10), count(5000), 2)
}

func TestManyProfilesAndManyKeysAreMergedAlike(t *testing.T) {
	t.Parallel()
	const n = 4000
	var extra strings.Builder
	extra.WriteString("[p7]\n")
	for i := range n {
		fmt.Fprintf(&extra, "k%d = %d\n", i%(n/2), i)
	}
	files := openTexts(t, manyProfiles(n), extra.String())
	profiles, err := files.Profiles()
	require.NoError(t, err)
	require.Len(t, profiles.Names(), n)
	want, err := files.LastValues()
	require.NoError(t, err)
	require.Equal(t, want, profiles.Raw())
	require.Equal(t, "2345", profiles.Raw()["p7"]["k345"])
}
