//go:build !race

package config_test

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

// measuredSize is the size of the files. Allocations grow in proportion to the size, so a small
// file shows as much as the largest one.
const measuredSize = 1 << 16

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

// perByte is how many bytes may be allocated for each byte of a hostile file, what is dropped
// at once included. Work that grows faster than the file takes thousands.
const perByte = 350

// This test is not parallel, because it counts the allocations of the process.
func TestMemoryIsInProportionToTheSizeOfTheFile(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			for kind, src := range map[string]config.Sources{
				"config":      {ConfigFile: "/f", CredentialsFile: "/none"},
				"credentials": {ConfigFile: "/none", CredentialsFile: "/f"},
			} {
				src.LookupEnv, src.FS = lookupIn(nil), fstest.MapFS{"f": {Data: text}}
				for task, do := range map[string]func(){
					"lint":    func() { _, _ = src.Lint(false) },
					"resolve": func() { _, _ = config.Query{Sources: src}.Resolve() },
					"a profile that is missing": func() {
						_, err := config.Query{Sources: src, Profile: "zzzz"}.Resolve()
						require.Error(t, err)
					},
					"profiles": func() {
						seq, _, err := src.Profiles(true, false)
						require.NoError(t, err)
						for _, values := range seq {
							for range values {
								continue
							}
						}
					},
				} {
					bytes := allocated(do)
					require.Less(t, bytes, uint64(perByte*len(text)), "%s of the %s file: %d times the file", task, kind, bytes/uint64(len(text)))
				}
			}
		})
	}
}

// allocated returns how many bytes are allocated while do runs. The heap cannot grow by more
// than that, whenever the collector runs.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestOneProfileAllocatesTheSameInAnyFile(t *testing.T) {
	count := func(n int) float64 {
		src := texts(manyProfiles(n), "[p5]\naws_access_key_id = x\n")
		return testing.AllocsPerRun(2, func() {
			settings, err := config.Query{Sources: src, Profile: "p5"}.Resolve()
			require.NoError(t, err)
			require.Equal(t, 6, settings.MaxAttempts.Value)
		})
	}
	require.InDelta(t, count(10), count(5000), 2)
}
