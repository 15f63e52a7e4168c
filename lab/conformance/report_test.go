package conformance_test

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the report of the README again")

// TestReportOfALoopOfTenLines runs the test of the README, which fails, in a process of its own.
func TestReportOfALoopOfTenLines(t *testing.T) {
	t.Parallel()
	test := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-tags", "tenlines", "-run", "^TestRetryThrice$", ".")
	got, err := test.CombinedOutput()
	require.ErrorContains(t, err, "exit status 1", "%s", got)
	got = regexp.MustCompile(`\(\d+\.\d+s\)|\t\d+\.\d+s`).ReplaceAll(got, nil)
	got = regexp.MustCompile(`_test\.go:\d+`).ReplaceAll(got, []byte("_test.go"))
	got = regexp.MustCompile(`(?m) +$`).ReplaceAll(got, nil)

	const golden = "testdata/ten-lines.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, got, 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "go test . -update writes it again")
}
