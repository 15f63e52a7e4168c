package tools

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// opened returns the files of a case beside awsretry's reading.
func opened(f vectors.ToolFiles) *Comparison {
	tree := fstest.MapFS{}
	for name, file := range map[string]*vectors.ToolFile{"h/.aws/config": f.Config, "h/.aws/credentials": f.Credentials} {
		if file != nil {
			tree[name] = &fstest.MapFile{Data: file.Data()}
		}
	}
	env := map[string]string{"HOME": "/h"}
	maps.Copy(env, f.Env)
	src := config.Sources{FS: world.On("linux", tree), LookupEnv: world.LookupIn(env)}
	return Open(src, sharedfile.Open(sharedfile.Sources(src)))
}

// reads returns what a tool makes of the profile in use, as the vectors have it.
func (c *Comparison) reads(t tool) string {
	b := &beside{Comparison: c, tool: t}
	b.read()
	switch o := t.of(b.its, c.env); o.state {
	case refused:
		return "refused"
	case missing:
		return "NOT-FOUND"
	default:
		return strings.Replace(cmp.Or(o.texts[mode], "-"), jsEmpty, "-", 1) + "/" + cmp.Or(o.texts[attempts], "-")
	}
}

func TestReadersReadWhatAllToolsReadAlike(t *testing.T) {
	t.Parallel()
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	for source, file := range vectors.Load[vectors.ToolsAgree](t, "tools-agree.json") {
		for _, c := range file.Cases {
			files := opened(c.ToolFiles)
			want := text(c.Want.RetryMode) + "/" + text(c.Want.MaxAttempts)
			for _, tool := range all() {
				require.Equal(t, want, files.reads(tool), "%s %s %s", source, c.ID, tool.name)
			}
			if c.Env["AWS_RETRY_MODE"] == "" && c.Env["AWS_MAX_ATTEMPTS"] == "" { // they hide what the files differ in
				files.Differences(false, false, func(d Difference) { t.Errorf("%s %s: %v", source, c.ID, d) })
			}
		}
	}
}

func TestReadersReadWhatEachToolReads(t *testing.T) {
	t.Parallel()
	for source, file := range vectors.Load[vectors.ToolsTable](t, "tools-table.json") {
		for _, c := range file.Cases {
			files := opened(c.ToolFiles)
			for i, name := range [...]string{"go", "boto", "cli2", "js"} {
				want := c.ReadAs[name]
				if !strings.Contains(want, "/") && want != "NOT-FOUND" { // Any other error.
					want = "refused"
				}
				if strings.HasPrefix(want, "/") { // An empty mode is none.
					want = "-" + want
				}
				require.Equal(t, want, files.reads(all()[i]), "%s %s %s", source, c.Title, name)
			}
		}
	}
}

// For a file four times as long each reader allocates about four times as much: it builds nothing of
// sections times keys, and adds no text to a text in a loop.
func TestReadersTakeMemoryInProportionToTheSizeOfTheFile(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"sections below [DEFAULT]": func(n int) string {
			return "[DEFAULT]\n" + numbered("k%d = 1\n", n) + numbered("[profile %d]\nmax_attempts = 010\n", n)
		},
		"one value of many lines":    func(n int) string { return "[default]\nmax_attempts = 1\n" + strings.Repeat("  x\n", n) },
		"one group of many lines":    func(n int) string { return "[default]\nmax_attempts =\n" + strings.Repeat("  x = 1\n", n) },
		"a CR in place of each LF":   func(n int) string { return strings.Repeat("[default]\rmax_attempts = 1\r", n) },
		"profiles that are a chain":  func(n int) string { return numbered("[profile %[1]d]\nrole_arn = a\nsource_profile = %[1]d0\n", n) },
		"headers that are malformed": func(n int) string { return "[default]\n" + strings.Repeat("[profile a\nmax_attempts = 1\n", n) },
	} {
		bytes := func(n int) uint64 {
			c := opened(vectors.ToolFiles{Config: &vectors.ToolFile{Text: text(n)}})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c.Differences(true, true, func(Difference) {})
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		require.Less(t, bytes(2000), 8*bytes(500), name)
	}
}

// numbered returns a text n times, with the numbers from 0 in it.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestPythonReadsDigitsOfAnyScript(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"\u0663": "3", "\U0001D7D9\U0001D7D8": "10", " +1_0\t": "10", "_1": "", "1__0": "", "1_": "", "-1": "", "0": ""} {
		number, ok := pythonInt(text)
		require.Equal(t, want != "", ok, text)
		if ok {
			require.Equal(t, want, number, text)
		}
	}
}

// Two profiles have the same reason in the same line, and profiles come in any order.
func TestDifferencesAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	files := vectors.ToolFiles{
		Config:      &vectors.ToolFile{Text: "[default]\n[profile x]\n"},
		Credentials: &vectors.ToolFile{Text: "[x]\nnote = a\n  [default]\nmax_attempts = 5\n"},
	}
	differences := func() (found []Difference) {
		opened(files).Differences(true, true, func(d Difference) { found = append(found, d) })
		return found
	}
	want := differences()
	require.NotEmpty(t, want)
	for range 50 {
		require.Equal(t, want, differences())
	}
}
