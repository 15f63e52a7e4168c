//go:build servers

package readers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cases is how many pairs of files are read.
const cases = 1000

// world is the environment of a case.
type world map[string]string

func TestExplainToolsSaysWhatTheToolsRead(t *testing.T) {
	t.Parallel()
	fetched, err := exec.CommandContext(t.Context(), "../scripts/aws-tools").Output()
	require.NoError(t, err)
	dir := strings.TrimSpace(string(fetched))
	packages := "/usr/lib/python3/dist-packages"
	cli := filepath.Dir(dir) + "/aws-cli" + packages

	program := filepath.Join(t.TempDir(), "awsretry")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../cmd/awsretry", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The same files in each run.
	var worlds []world
	said := map[string][]string{}
	for n := range cases {
		w := written(t, filepath.Join(t.TempDir(), strconv.Itoa(n)), random)
		reads := inExplain(t, program, w)
		if len(reads) == 0 { // awsretry has refused the profile.
			continue
		}
		worlds = append(worlds, w)
		for tool, read := range reads {
			said[tool] = append(said[tool], read)
		}
	}
	for tool, read := range map[string][]string{
		"botocore": readBy(t, worlds, "PYTHONPATH="+dir+packages, "python3", "testdata/tools.py"),
		"aws-cli":  readBy(t, worlds, "PYTHONPATH="+cli+"/awscli:"+cli+":"+dir+packages, "python3", "testdata/tools.py"),
		"js":       readBy(t, worlds, "NODE_PATH="+dir+"/node_modules", "node", "testdata/tools.js"),
	} {
		require.Len(t, read, len(worlds), tool)
		for i, w := range worlds {
			require.Equal(t, read[i], said[tool][i], "%s: %s", tool, w.shown(t))
		}
	}
}

// written writes a pair of files with odd lines, and returns an environment for them.
func written(t *testing.T, dir string, random *rand.Rand) world {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	one := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	w := world{"HOME": dir, "AWS_CONFIG_FILE": filepath.Join(dir, "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "credentials")}
	lines := []string{
		"[default]", "  [default]", "[profile default]", "[ default ] # c", "[default] x", "[default]#]", "[profile x]", "[x]", "[profile x ]", "[profile \"x\"]",
		"[]", "[default", "[DEFAULT]", "[profile.x]", "[profile  x]", "max_attempts = 5", "max_attempts: 6", "MAX_ATTEMPTS = 010", "max_attempts = 0x7 # c",
		"  max_attempts = 8", "max_attempts = '9'", "max_attempts = ten", "max_attempts = 1_0", "max_attempts = +2", "max_attempts = \u0663", "retry_mode = adaptive",
		"  retry_mode: standard", "retry_mode = Adaptive", "retry_mode = legacy", "retry_mode = \"standard\" ; c", "retry_mode =", "note =", "  a = b",
		"note = ''", "  more", "\tx", "note = '", "region = x", "\u00a0max_attempts = 4", "\u2003retry_mode = standard", "= x", "junk", "# c", "  ; c", "",
		"\r", "max_attempts = 3\r", "\uFEFF", "a = \xff", "[__proto__]",
	}
	for _, name := range [...]string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		chosen := []string{lines[random.IntN(9)]}
		for range random.IntN(5) {
			chosen = append(chosen, lines[random.IntN(len(lines))])
		}
		if random.IntN(10) == 0 {
			chosen[0] = "\uFEFF" + chosen[0]
		}
		require.NoError(t, os.WriteFile(w[name], []byte(strings.Join(chosen, "\n")+"\n"), 0o600))
	}
	for name, texts := range map[string][]string{
		"AWS_PROFILE": {"x", "default", ""}, "AWS_DEFAULT_PROFILE": {"x", "gone"}, "AWS_RETRY_MODE": {"standard", "", "Adaptive"}, "AWS_MAX_ATTEMPTS": {"7", "", " 7", "010"},
	} {
		if text := one(texts...); random.IntN(6) == 0 {
			w[name] = text
		}
	}
	return w
}

func (w world) shown(t *testing.T) string {
	t.Helper()
	config, err := os.ReadFile(w["AWS_CONFIG_FILE"])
	require.NoError(t, err)
	credentials, err := os.ReadFile(w["AWS_SHARED_CREDENTIALS_FILE"])
	require.NoError(t, err)
	return fmt.Sprintf("%v\n%q\n%q", map[string]string(w), config, credentials)
}

// readBy returns what a tool reads in each world: mode/attempts, or that it refuses.
func readBy(t *testing.T, worlds []world, environment string, command ...string) (read []string) {
	t.Helper()
	var input bytes.Buffer
	for _, w := range worlds {
		require.NoError(t, json.NewEncoder(&input).Encode(w))
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...) //nolint:gosec // One of ours.
	cmd.Env, cmd.Stdin, cmd.Stderr = append(cmd.Environ(), environment), &input, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	for line := range bytes.Lines(out) {
		var answer string
		require.NoError(t, json.Unmarshal(line, &answer))
		switch mode, attempts, both := strings.Cut(answer, "/"); {
		case answer == "missing":
			answer = "refused"
		case both && !slices.Contains([]string{"standard", "adaptive", "legacy", "-"}, mode):
			answer = "one that is not known/" + attempts
		}
		read = append(read, answer)
	}
	return read
}

// inExplain returns what awsretry says of each tool.
func inExplain(t *testing.T, program string, w world) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "explain", "--tools", "--json")
	cmd.Env = []string{}
	for name, text := range w {
		cmd.Env = append(cmd.Env, name+"="+text)
	}
	out, _ := cmd.Output() // The exit status is that of awsretry's own reading.
	type value struct{ Value string }
	var answer struct {
		Tools []struct {
			Tool        string
			RetryMode   *value `json:"retry_mode"`
			MaxAttempts *value `json:"max_attempts"`
			Refused     *value `json:"refused"`
		}
	}
	require.NoError(t, json.Unmarshal(out, &answer), "%s: %s", w.shown(t), out)
	said := map[string]string{}
	for _, tool := range answer.Tools {
		text := func(v *value) string {
			if v == nil {
				return "-"
			}
			return v.Value
		}
		if said[tool.Tool] = text(tool.RetryMode) + "/" + text(tool.MaxAttempts); tool.Refused != nil {
			said[tool.Tool] = "refused"
		}
	}
	return said
}
