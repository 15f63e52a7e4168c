//go:build !race

package awsretry_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
)

func TestResolveAllocatesNoMoreForMoreProfiles(t *testing.T) {
	allocations := func(profiles int) float64 {
		var text strings.Builder
		for i := range profiles {
			fmt.Fprintf(&text, "[profile p%05d]\nregion = eu-central-1\nretry_mode = adaptive\nmax_attempts = 7\n\n", i)
		}
		files := fstest.MapFS{"config": {Data: []byte(text.String())}}
		return testing.AllocsPerRun(20, func() {
			settings, err := awsretry.Resolve(t.Context(),
				awsretry.WithFS(files),
				awsretry.WithProfile("p00005"),
				awsretry.WithConfigFile("/config"),
				awsretry.WithCredentialsFile("/credentials"),
				awsretry.WithEnv(func(string) (string, bool) { return "", false }))
			require.NoError(t, err)
			require.Equal(t, 7, settings.MaxAttempts.Value)
		})
	}
	require.InDelta(t, allocations(10), allocations(1000), 5)
}
