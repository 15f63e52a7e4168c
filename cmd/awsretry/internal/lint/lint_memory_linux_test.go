//go:build linux && !race

package lint_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

const (
	// measuredSize is the size of the files. Memory grows in proportion to the size, so a small file
	// shows as much as the largest one.
	measuredSize = 1 << 18
	// perByte is how many bytes of memory the process may take for each byte of a hostile file.
	perByte = 64
)

// hostile returns files that take as much memory for each byte as possible.
func hostile() map[string][]byte {
	files := map[string][]byte{}
	for name, c := range map[string]struct{ head, unit string }{
		"one key a million times":            {"[default]\n", "max_attempts = 010\n"},
		"one bad value a million times":      {"[default]\n", "retry_mode=x\n"},
		"short keys with both signs":         {"[default]\n", "a:=\n"},
		"distinct keys":                      {"[default]\n", "%x:\n"},
		"one section again and again":        {"", "[a]\n"},
		"distinct profiles":                  {"", "[profile %04x]\n"},
		"distinct profiles with a setting":   {"", "[%04x]\nmax_attempts=0\n"},
		"one value of many lines":            {"[default]\nmax_attempts = 1\n", " b\n"},
		"one value of control characters":    {"[default]\nretry_mode = ", "\x01"},
		"sub-properties":                     {"[default]\ns3 =\n", " a=\n"},
		"indented malformed lines":           {"[default]\n", " x\n"},
		"malformed lines that are not UTF-8": {"[default]\n", "\xff=\n"},
		"malformed headers":                  {"", "[\n"},
		"keys that look like a setting":      {"[default]\n", "retries=\n"},
	} {
		text := []byte(c.head)
		for i := 0; len(text) < measuredSize; i++ {
			if strings.Contains(c.unit, "%") {
				text = fmt.Appendf(text, c.unit, i)
			} else {
				text = append(text, c.unit...)
			}
		}
		files[name] = text
	}
	return files
}

// This test is not parallel, because it measures the memory of the process.
func TestMemoryIsInProportionToTheSizeOfTheFile(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			for kind, src := range map[string]config.Sources{
				"config":      {ConfigFile: "/f", CredentialsFile: "/none"},
				"credentials": {ConfigFile: "/none", CredentialsFile: "/f"},
			} {
				src.LookupEnv, src.FS = world.LookupIn(nil), fstest.MapFS{"f": {Data: text}}
				for task, do := range map[string]func(){
					"lint":                      func() { _, _ = lint.Files(src, false) },
					"a profile that is missing": func() { _, _ = lint.Resolve(config.Query{Sources: world.As(src, "zzzz")}) },
					"profiles": func() {
						pair := sharedfile.Open(sharedfile.Sources(src))
						pair.Read("", true)
						for _, name := range pair.Profiles() {
							pair.Files[0].Sections[sharedfile.Place{Profile: true, Name: name}].Values()
							pair.Files[1].Sections[sharedfile.Place{Profile: true, Name: name}].Values()
						}
					},
				} {
					bytes := peak(t, do)
					for tries := 0; bytes >= perByte*len(text) && tries < 30; tries++ {
						bytes = min(bytes, peak(t, do)) // The collector may have been late, above all on a busy machine.
					}
					require.Less(t, bytes, perByte*len(text), "%s of the %s file: %d times the file", task, kind, bytes/len(text))
				}
			}
		})
	}
}

// peak returns by how many bytes the memory of the process grows while do runs.
func peak(t *testing.T, do func()) int {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // As the command has it.
	debug.FreeOSMemory()
	require.NoError(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // It resets the peak.
	before := resident(t, "VmRSS")
	do()
	return resident(t, "VmHWM") - before
}

// resident returns a number of bytes from the status of the process.
func resident(t *testing.T, field string) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(status), field+":")
	require.True(t, ok)
	n, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(t, err)
	return n << 10
}
