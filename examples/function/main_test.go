package main

import (
	"io"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestProgramPrintsWhatThePagesShow(t *testing.T) {
	for _, name := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = write
	synctest.Test(t, func(*testing.T) { main() })
	os.Stdout = stdout
	require.NoError(t, write.Close())
	printed, err := io.ReadAll(read)
	require.NoError(t, err)
	golden, err := os.ReadFile("testdata/output.golden")
	require.NoError(t, err)
	require.Equal(t, string(golden), string(printed))
}
