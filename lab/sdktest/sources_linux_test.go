//go:build !race

package sdktest

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
)

// TestInstallTakesFromTheSDKWhatCanBeReadOnce has a pipe, as <(command) of a shell makes one.
func TestInstallTakesFromTheSDKWhatCanBeReadOnce(t *testing.T) {
	for _, byOption := range []bool{false, true} {
		start(t, map[string]string{"AWS_RETRY_MODE": "adaptive"})
		r, w, err := os.Pipe()
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, r.Close()) })
		_, err = w.WriteString("[default]\nmax_attempts = 70\nretry_mode = standard\n")
		require.NoError(t, err)
		require.NoError(t, w.Close())
		path := fmt.Sprintf("/dev/fd/%d", r.Fd())
		var options []load
		if byOption {
			options = append(options, config.WithSharedConfigFiles([]string{path}))
		} else {
			t.Setenv("AWS_CONFIG_FILE", path)
		}
		cfg, err := config.LoadDefaultConfig(t.Context(), options...)
		require.NoError(t, err)
		require.NoError(t, awssdk.Install(&cfg))
		require.Equal(t, 70, cfg.Retryer().MaxAttempts())
		require.Equal(t, "adaptive", string(cfg.RetryMode))
	}
}

// asAnotherUser makes the permissions of files hold for the test. They do not hold for root.
func asAnotherUser(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	require.NoError(t, syscall.Setfsuid(65534))
	t.Cleanup(func() {
		require.NoError(t, syscall.Setfsuid(0))
		runtime.UnlockOSThread()
	})
}

// TestFileOfAnOptionThatMayNotBeOpenedCountsAsEmpty for awsretry as for the SDK.
func TestFileOfAnOptionThatMayNotBeOpenedCountsAsEmpty(t *testing.T) {
	start(t, nil)
	require.NoError(t, os.Chmod("work/config", 0))
	if os.Geteuid() == 0 {
		asAnotherUser(t)
	}
	_, err := os.ReadFile("work/config")
	require.ErrorIs(t, err, fs.ErrPermission)
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithSharedConfigFiles([]string{"work/config"}))
	require.NoError(t, err)
	require.Zero(t, cfg.RetryMaxAttempts)
	require.NoError(t, awssdk.Install(&cfg))
	require.Equal(t, 3, cfg.Retryer().MaxAttempts())
}
