//go:build !race

package pages_test

import (
	"go/build"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	shellBlock = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	inlineGo   = regexp.MustCompile("(?s)`(go (?:-C|run|test|doc|install|generate) [^`]*)`" +
		"(?:,?\\s+in\\s+(?:\\[[^\\]]*\\]\\(([^)#]+)\\)|`([^`]+)`))?")
	inlineMake = regexp.MustCompile("`((?:[A-Z]+=\\S+ )*make [^`]*)`")
	shellWord  = regexp.MustCompile(`'[^']*'|\S+`)
)

// command is a command of a page, and the folder in which the page says to run it: that of a link or of code behind it
// ("in [sdktest](...)"), or of the cd before it, or that of a page in lab or in another module, or the root.
type command struct{ page, folder, line string }

var testPattern = regexp.MustCompile(`^go (-C \S+ )?test `)

func (c command) isTest() bool { return testPattern.MatchString(c.line) }

// targets returns the targets of a command of make.
func (c command) targets() []string {
	assigns := func(word string) bool { return strings.Contains(word, "=") }
	words := slices.DeleteFunc(strings.Fields(c.line), assigns)
	if words[0] != "make" {
		return nil
	}
	return words[1:]
}

func commandsOf(t *testing.T) (found []command) {
	t.Helper()
	for _, page := range markdown(t) {
		text, home := read(t, page), filepath.Dir(page)
		if home == "docs" || home == ".github" {
			home = "."
		}
		for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
			folder := "."
			for line := range strings.Lines(block[1]) {
				line, _, _ = strings.Cut(line, " #")
				line = strings.TrimSpace(line)
				if to, ok := strings.CutPrefix(line, "cd "); ok {
					folder = to
				} else if line != "" {
					found = append(found, command{page, folder, line})
				}
			}
		}
		for _, inline := range inlineGo.FindAllStringSubmatch(text, -1) {
			folder := home
			switch {
			case inline[2] != "":
				folder = filepath.Join(filepath.Dir(page), inline[2])
				if info, err := os.Stat(folder); err == nil && !info.IsDir() {
					folder = filepath.Dir(folder)
				}
			case inline[3] != "":
				folder = inline[3]
			}
			found = append(found, command{page, folder, strings.Join(strings.Fields(inline[1]), " ")})
		}
		for _, inline := range inlineMake.FindAllStringSubmatch(text, -1) {
			found = append(found, command{page, ".", strings.Join(strings.Fields(inline[1]), " ")})
		}
	}
	return found
}

const prometheusTools = ".bin/prometheus/usr/bin" // of make prometheus

// notRun are the commands that TestCommandsOfThePagesRun does not run, and why.
var notRun = map[string]string{
	"go run ./example": "it takes half a minute; TestExampleOfThePagesRuns, of make no-race, runs it",
	"go run ./live":    "it serves until it is stopped; TestLiveOfThePagesServes, of make no-race, runs it",
	"go install github.com/awsretry/awsretry/cmd/awsretry@latest": "nothing is released yet",
	"ACL SETUSER": "a server of Redis runs it, in TestUserOfThePageMayDoWhatAFleetDoesAndNoMore of make servers",
}

var (
	// made are the targets that TestTargetsOfThePagesRun, of make no-race, makes, with variables for the least of them.
	made = map[string]string{
		"help": "", "soak": "SOAK=1s", "mutants": "PART=internal/body N=1", "bench": "ROUNDS=1 BENCH=Classify BENCHTIME=1x",
	}
	// notMade are the targets of pages that neither that test nor continuous integration makes, and why.
	notMade = map[string]string{
		"quick":        "make race runs these tests",
		"test":         "make race runs these tests",
		"fmt":          "it writes, and make lint compares",
		"tidy":         "it writes, and make tidy-diff compares",
		"readme":       "it writes, and its test in make no-race compares",
		"pictures":     "it writes, and make race and make no-race compare",
		"never-worse":  "make no-race runs its test",
		"bench-effect": "it takes 80 s with one seed; make race plays a few of the scenarios",
		"fleet-tables": "it takes a quarter of an hour",
	}
)

// TestTargetsOfThePagesAreMade finds each target of make on a page among those that continuous integration makes, for a
// push or every night, or in one of the two lists.
func TestTargetsOfThePagesAreMade(t *testing.T) {
	t.Parallel()
	makefile, workflow := read(t, "Makefile"), read(t, ".github/workflows/ci.yml")
	require.Contains(t, workflow, " run: .ci/run\n")
	require.Contains(t, read(t, ".ci/run"), "\nexec make check\n")
	integrated := []string{"check"}
	for _, targets := range regexp.MustCompile(`(?m)^(?:TOOLS|STEPS) := (.*)$|run: make (.*)$`).FindAllStringSubmatch(makefile+workflow, -1) {
		integrated = append(integrated, strings.Fields(strings.Join(targets[1:], " "))...)
	}
	require.Subset(t, integrated, []string{"race", "no-race", "redis", "servers"})
	listed := maps.Clone(notMade)
	maps.Copy(listed, made)
	unused := maps.Clone(listed)
	for _, c := range commandsOf(t) {
		for _, target := range c.targets() {
			require.Contains(t, makefile, "\n"+target+": ", "%s: %s", c.page, c.line)
			if !slices.Contains(integrated, target) {
				require.Contains(t, listed, target, "%s: nothing makes it", c.page)
				delete(unused, target)
			}
		}
	}
	require.Empty(t, unused, "no page has these, or continuous integration makes them")
}

// TestCommandsOfThePagesRun runs every command of a block for the shell and every go command of a sentence, where the page
// says. The settings of the machine do not count.
func TestCommandsOfThePagesRun(t *testing.T) {
	t.Parallel()
	ran, unused, home := map[string]bool{}, maps.Clone(notRun), t.TempDir()
	for _, c := range commandsOf(t) {
		line := c.line
		if ran[c.folder+line] {
			continue
		}
		ran[c.folder+line] = true
		words := shellWord.FindAllString(line, -1)
		begins := func(command string) bool { return strings.HasPrefix(line+" ", command+" ") }
		switch {
		case slices.ContainsFunc(slices.Collect(maps.Keys(notRun)), begins):
			maps.DeleteFunc(unused, func(command, _ string) bool { return begins(command) })
			continue
		case words[0] == "awsretry":
			continue // package main of cmd/awsretry
		case c.targets() != nil:
			continue // TestTargetsOfThePagesAreMade
		case isWorkspace(line):
			continue // TestWorkspaceOfTheReadmeRuns
		case c.isTest():
			continue // TestTestsOfThePagesExist
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(prometheusTools); words[0] == "promtool" && err != nil && os.Getenv("CI") == "" {
				t.Skip("make prometheus fetches promtool")
			}
			shell := exec.CommandContext(t.Context(), "sh", "-c", "PATH=$PATH:"+prometheusTools+"; "+line)
			shell.Dir, shell.Env = c.folder, clean(t, home)
			out, err := shell.CombinedOutput()
			require.NoError(t, err, "%s, in %s: %s\n%s", c.page, c.folder, c.line, out)
		})
	}
	require.Greater(t, len(ran), 20)
	require.Empty(t, unused, "no page has these")
}

// ofGo are the flags of go test on pages. All others are those of the package.
var ofGo = []string{"-C", "-v", "-run", "-bench", "-tags", "-count", "-benchtime", "-timeout"}

// TestTestsOfThePagesExist holds that every go test of a page finds a test or a benchmark where the page says, and its
// flags. Continuous integration runs all tests anyway, and TestBenchmarksOfThePagesRun the benchmarks.
func TestTestsOfThePagesExist(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, c := range commandsOf(t) {
		if !c.isTest() {
			continue
		}
		checked++
		words := shellWord.FindAllString(c.line, -1)
		value := func(flag, otherwise string) string {
			if at := slices.Index(words, flag); at >= 0 {
				return strings.Trim(words[at+1], "'")
			}
			return otherwise
		}
		kinds, pattern := "Test|Example|Fuzz", value("-run", ".")
		if bench := value("-bench", ""); bench != "" {
			kinds, pattern = "Benchmark", bench
		}
		tags := value("-tags", "")
		require.Contains(t, []string{"", "long"}, tags, "%s: %s: make check has no such tags", c.page, c.line)
		for _, word := range words {
			if !strings.HasPrefix(word, ".") {
				continue
			}
			text := testsIn(t, filepath.Join(c.folder, value("-C", ""), strings.TrimSuffix(word, "/...")), tags)
			names := regexp.MustCompile(`(?m)^func ((?:`+kinds+`)\w*)\(`).FindAllStringSubmatch(text, -1)
			matches := func(name []string) bool { return regexp.MustCompile(pattern).MatchString(name[1]) }
			require.True(t, slices.ContainsFunc(names, matches), "%s: %s, in %s: nothing to run", c.page, c.line, c.folder)
			for _, word := range words {
				if flag, is := strings.CutPrefix(word, "-"); is && !slices.Contains(ofGo, word) {
					require.Regexp(t, `flag\.\w+\("`+flag+`"`, text, "%s: %s, in %s: no such flag", c.page, c.line, c.folder)
				}
			}
		}
	}
	require.Greater(t, checked, 15)
}

// testsIn returns the text of the test files of the package in a folder, as they are compiled with the tags.
func testsIn(t *testing.T, folder, tags string) string {
	t.Helper()
	context := build.Default
	context.BuildTags = strings.Split(tags, ",")
	pkg, err := context.ImportDir(folder, 0)
	require.NoError(t, err)
	var text strings.Builder
	for _, name := range slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles) {
		text.WriteString(read(t, filepath.Join(folder, name)))
	}
	return text.String()
}

// clean is the environment of the machine without settings of AWS, and with another home directory.
func clean(t *testing.T, home string) []string {
	t.Helper()
	kept := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") }) //nolint:forbidigo // go needs PATH
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		require.NoError(t, err)
		kept = append(kept, name+"="+strings.TrimSpace(string(value)))
	}
	return append(kept, "HOME="+home, "GOBIN="+home)
}

func isWorkspace(line string) bool {
	return strings.HasPrefix(line, "go mod init ") || strings.HasPrefix(line, "go work init ") ||
		strings.HasPrefix(line, "go get ") || line == "go run ."
}

// TestWorkspaceOfTheReadmeRuns follows README.md in a folder beside the checkout: its commands, with its main.go, which
// lists the tables of a server that stands for DynamoDB. Modules come from the cache first.
func TestWorkspaceOfTheReadmeRuns(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = w.Write([]byte(`{"TableNames":["orders"]}`))
	}))
	t.Cleanup(server.Close)
	text := read(t, "README.md")
	_, program, found := strings.Cut(text, "```go\npackage main")
	require.True(t, found)
	program, _, _ = strings.Cut(program, "```")
	var script string
	for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
		if strings.Contains(block[1], "go work init") {
			script = block[1]
		}
	}
	require.NotEmpty(t, script)

	beside := t.TempDir()
	checkout, err := filepath.Abs(".")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(checkout, filepath.Join(beside, "awsretry")))
	tables := filepath.Join(beside, "tables")
	require.NoError(t, os.Mkdir(tables, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(tables, "main.go"), []byte("package main"+program), 0o600))
	environment := slices.DeleteFunc(clean(t, t.TempDir()), func(v string) bool { return strings.HasPrefix(v, "GOWORK=") })
	for i, v := range environment {
		if proxies, ok := strings.CutPrefix(v, "GOPROXY="); ok {
			cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
			require.NoError(t, err)
			environment[i] = "GOPROXY=file://" + strings.TrimSpace(string(cache)) + "/cache/download," + proxies
		}
	}
	shell := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
	shell.Dir, shell.Env = tables, append(environment, "AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=ID", "AWS_SECRET_ACCESS_KEY=SECRET",
		"AWS_ENDPOINT_URL="+server.URL)
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "[orders]")
}
