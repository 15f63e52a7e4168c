//go:build linux && !race

package lint_test

import (
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/lint"
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
func hostile() iter.Seq2[string, []byte] {
	repeated := func(head, unit string) []byte {
		return []byte(head + strings.Repeat(unit, (measuredSize-len(head))/len(unit)))
	}
	counted := func(head, format string) []byte {
		text := []byte(head)
		for i := 0; len(text) < measuredSize; i++ {
			text = fmt.Appendf(text, format, i)
		}
		return text
	}
	return func(yield func(string, []byte) bool) {
		for _, f := range []struct {
			name string
			text []byte
		}{
			{"one key a million times", repeated("[default]\n", "max_attempts = 010\n")},
			{"one bad value a million times", repeated("[default]\n", "retry_mode=x\n")},
			{"short keys with a colon", repeated("[default]\n", "a:\n")},
			{"short keys with both signs", repeated("[default]\n", "a:=\n")},
			{"distinct keys", counted("[default]\n", "%x:\n")},
			{"one section again and again", repeated("", "[a]\n")},
			{"sections without a name", repeated("", "[]\n")},
			{"distinct profiles", counted("", "[profile %04x]\n")},
			{"distinct profiles of the credentials file", counted("", "[%04x]\n")},
			{"distinct profiles with a setting", counted("", "[%04x]\nmax_attempts=0\n")},
			{"one value of many lines", repeated("[default]\nmax_attempts = 1\n", " b\n")},
			{"one value of control characters", repeated("[default]\nretry_mode = ", "\x01")},
			{"sub-properties", repeated("[default]\ns3 =\n", " a=\n")},
			{"malformed lines", repeated("[default]\n", "x\n")},
			{"indented malformed lines", repeated("[default]\n", " x\n")},
			{"malformed lines that are not UTF-8", repeated("[default]\n", "\xff=\n")},
			{"malformed headers", repeated("", "[\n")},
			{"comments that are not UTF-8", repeated("", "#\xff\n")},
			{"keys that look like a setting", repeated("[default]\n", "retries=\n")},
		} {
			if !yield(f.name, f.text) {
				return
			}
		}
	}
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
					"lint": func() { _, _ = lint.Files(src, false) },
					"a profile that is missing": func() {
						_, err := lint.Resolve(config.Query{Sources: src, Profile: "zzzz"})
						require.Error(t, err)
					},
					"profiles": func() {
						pair, err := src.Open()
						require.NoError(t, err)
						pair.Read("", true)
						for _, name := range pair.Profiles() {
							p := sharedfile.Place{Profile: true, Name: name}
							pair.Files[0].Sections[p].Values()
							pair.Files[1].Sections[p].Values()
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

// manyProfiles returns a config file with n profiles of six keys each.
func manyProfiles(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[profile p%d]\nregion = eu-west-1\noutput = json\nretry_mode = adaptive\n"+
			"max_attempts = %d\nrole_arn = arn:aws:iam::1:role/r%d\nsource_profile = default\n", i, i%9+1, i)
	}
	return b.String()
}

func TestOneProfileAllocatesTheSameInAnyFile(t *testing.T) {
	count := func(n int) float64 {
		src := world.Texts(manyProfiles(n), "[p5]\naws_access_key_id = x\n")
		return testing.AllocsPerRun(2, func() {
			settings, err := lint.Resolve(config.Query{Sources: src, Profile: "p5"})
			require.NoError(t, err)
			require.Equal(t, 6, settings.MaxAttempts.Value)
		})
	}
	require.InDelta(t, count(10), count(5000), 2)
}
