package micro

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
)

// configGroups is reading the settings of one profile, the one in the middle of a
// file of so many. The least for it is to read the file.
func configGroups(sizes ...int) []group {
	var groups []group
	for _, profiles := range sizes {
		groups = append(groups, group{fmt.Sprintf("profiles=%d", profiles), []subject{
			{ours, resolve(profiles)},
			{sdk, loadShared(profiles)},
			{limit, readFile(profiles)},
		}})
	}
	return groups
}

func BenchmarkOneProfile(b *testing.B) { measure(b, configGroups(1, 10, 1_000, 10_000)) }

// writeProfiles writes a config file with so many profiles of six keys each and
// returns its path, that of a credentials file that does not exist, and the name of
// the profile in the middle.
func writeProfiles(tb testing.TB, profiles int) (path, missing, middle string) {
	tb.Helper()
	var text bytes.Buffer
	for i := range profiles {
		fmt.Fprintf(&text, "[profile p%05d]\nregion = eu-central-1\noutput = json\nretry_mode = adaptive\n"+
			"max_attempts = 7\nsts_regional_endpoints = regional\ncli_pager =\n\n", i)
	}
	dir := tb.TempDir()
	path = filepath.Join(dir, "config")
	require.NoError(tb, os.WriteFile(path, text.Bytes(), 0o600))
	return path, filepath.Join(dir, "credentials"), fmt.Sprintf("p%05d", profiles/2)
}

var errOtherSettings = errors.New("not the settings of the profile")

func resolve(profiles int) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		path, missing, name := writeProfiles(tb, profiles)
		return func(ctx context.Context) error {
			settings, err := awsretry.Resolve(ctx,
				awsretry.WithSources(awsretry.Sources{
					Profile: name, ConfigFile: path, CredentialsFile: missing,
					LookupEnv: func(string) (string, bool) { return "", false },
				}))
			if err == nil && settings.MaxAttempts.Value != 7 {
				err = errOtherSettings
			}
			return err
		}
	}
}

func loadShared(profiles int) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		path, missing, name := writeProfiles(tb, profiles)
		return func(ctx context.Context) error {
			profile, err := awsconfig.LoadSharedConfigProfile(ctx, name, func(o *awsconfig.LoadSharedConfigOptions) {
				o.ConfigFiles, o.CredentialsFiles = []string{path}, []string{missing}
			})
			if err == nil && profile.RetryMaxAttempts != 7 {
				err = errOtherSettings
			}
			return err
		}
	}
}

func readFile(profiles int) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		path, _, _ := writeProfiles(tb, profiles)
		return func(context.Context) error {
			_, err := os.ReadFile(path)
			return err
		}
	}
}
