package ten_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// program says where one of the ten programs is, with this module and with the shortest of the others.
type program struct {
	title, file, function string
	rival, rivalFunction  string // none where no other library has such a program
	mostLines             int
}

const core, sdk, metrics = "../../examples/ten/example_test.go", "../sdktest/example_clients_test.go", "../telemetry/example_test.go"

var programs = []program{
	{"SDK, defaults", sdk, "Example_sdkDefaults", "aws-sdk-go-v2", "Example_sdkDefaults", 5},
	{"SDK, adaptive, 10 attempts", sdk, "Example_sdkAdaptive", "aws-sdk-go-v2", "Example_sdkAdaptive", 5},
	{"Retry every error", core, "Example_retryEveryError", "cenkalti/backoff", "TestRetryEveryError", 5},
	{"5 attempts, 200 ms to 2 s", core, "Example_fiveAttempts", "failsafe-go", "TestFiveAttempts", 5},
	{"HTTP client", core, "Example_httpClient", "go-retryablehttp", "Example_httpClient", 5},
	{"Stop on one error", core, "Example_stopOnOneError", "failsafe-go", "TestStopOnOneError", 5},
	{"Poll for a minute", core, "TestPollForAMinute", "failsafe-go", "TestPollForAMinute", 5},
	{"Log the retries", core, "Example_logRetries", "cenkalti/backoff", "TestLogRetries", 5},
	{"Test without waiting", core, "TestWithoutWaiting", "cenkalti/backoff", "TestWithoutWaiting", 5},
	{"Metrics of SDK calls", metrics, "Example_metrics", "", "", 8},
}

// TestProgramsOfTheRecipesAreShort holds that docs/recipes.md has the programs. With -v it prints their imports, lines and
// names.
func TestProgramsOfTheRecipesAreShort(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/recipes.md")
	require.NoError(t, err)
	t.Log("| program | awsretry | shortest of the others |")
	for _, p := range programs {
		require.Contains(t, string(page), "\n## "+p.title+"\n")
		ours := measure(t, p.file, p.function)
		require.LessOrEqual(t, ours.lines, p.mostLines, p.title)
		if p.rival == "" {
			t.Logf("| %s | %v | none |", p.title, ours)
			continue
		}
		theirs := measure(t, "ten_rivals_test.go", p.rivalFunction)
		require.LessOrEqual(t, ours.lines, theirs.lines+2, p.title)
		t.Logf("| %s | %v | %s %v |", p.title, ours, p.rival, theirs)
	}
}

// size is what a program takes. A line that only handles an error is not counted.
type size struct {
	lines           int
	packages, names map[string]bool
}

func (s size) String() string { return fmt.Sprintf("%d/%d/%d", len(s.packages), s.lines, len(s.names)) }

var (
	handling = regexp.MustCompile(`(?m)^\s*(if err != nil \{\n.*\n\s*\}|require\.NoError\(t, err\)|defer .*)\n`)
	handled  = regexp.MustCompile(`(?m)^(\s*)if (err := .*); err != nil \{\n.*\n\s*\}\n`)
	// Selectors of this module, of the SDK and of the other libraries. The package retry of aws-sdk-go-v2 is
	// in none of the programs.
	selector = regexp.MustCompile(
		`\b(awsretry|awssdk|retry|classify|httpretry|otelretry|aws|config|backoff|failsafe|retrypolicy|retryablehttp)\.([A-Z]\w*)`)
)

// measure counts the second paragraph of a function, which is the program: the first one makes what
// the program is given, and the third one looks at what it did.
func measure(t *testing.T, file, function string) size {
	t.Helper()
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	_, body, found := strings.Cut(string(source), "\nfunc "+function+"(")
	require.True(t, found, function)
	body, _, _ = strings.Cut(body, "\n}\n")
	paragraphs := strings.Split(body, "\n\n")
	require.Len(t, paragraphs, 3, function)
	text := handled.ReplaceAllString(handling.ReplaceAllString(paragraphs[1]+"\n", ""), "$1$2\n")
	s := size{strings.Count(text, "\n"), map[string]bool{}, map[string]bool{}}
	for _, found := range selector.FindAllStringSubmatch(text, -1) {
		s.packages[found[1]], s.names[found[0]] = true, true
	}
	require.NotEmpty(t, s.packages, function)
	return s
}
