package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
)

// writeProfiles writes a config file with so many profiles of six keys each and
// returns its path and the name of the profile in the middle.
func writeProfiles(tb testing.TB, profiles int) (path, middle string) {
	tb.Helper()
	var text bytes.Buffer
	for i := range profiles {
		fmt.Fprintf(&text, "[profile p%05d]\nregion = eu-central-1\noutput = json\nretry_mode = adaptive\n"+
			"max_attempts = 7\nsts_regional_endpoints = regional\ncli_pager =\n\n", i)
	}
	path = filepath.Join(tb.TempDir(), "config")
	require.NoError(tb, os.WriteFile(path, text.Bytes(), 0o600))
	return path, fmt.Sprintf("p%05d", profiles/2)
}

func BenchmarkOneProfile(b *testing.B) {
	for _, profiles := range []int{10, 1_000, 10_000} {
		path, name := writeProfiles(b, profiles)
		missing := filepath.Join(filepath.Dir(path), "credentials")
		b.Run(fmt.Sprintf("profiles=%d/of=awsretry", profiles), func(b *testing.B) {
			b.ReportAllocs()
			defer reportCPU(b)()
			for b.Loop() {
				settings, err := awsretry.Resolve(context.Background(),
					awsretry.WithProfile(name),
					awsretry.WithConfigFile(path),
					awsretry.WithCredentialsFile(missing),
					awsretry.WithEnv(func(string) (string, bool) { return "", false }))
				if err != nil || settings.MaxAttempts.Value != 7 {
					b.Fatal(settings, err)
				}
			}
		})
		b.Run(fmt.Sprintf("profiles=%d/of=aws-sdk-go-v2", profiles), func(b *testing.B) {
			b.ReportAllocs()
			defer reportCPU(b)()
			for b.Loop() {
				profile, err := awsconfig.LoadSharedConfigProfile(context.Background(), name,
					func(o *awsconfig.LoadSharedConfigOptions) {
						o.ConfigFiles, o.CredentialsFiles = []string{path}, []string{missing}
					})
				if err != nil || profile.RetryMaxAttempts != 7 {
					b.Fatal(profile.RetryMaxAttempts, err)
				}
			}
		})
	}
}
