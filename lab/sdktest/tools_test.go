package sdktest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"
)

// What "awsretry explain --tools" says of aws-sdk-go-v2 is what the SDK reads from generated files. So a version of the
// SDK that reads them otherwise is seen here.
func TestExplainToolsSaysWhatTheSDKReads(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("../../cmd/awsretry/internal/tools/*.go")
	require.NoError(t, err)
	for _, source := range sources { // So that a result of other sources does not count as one of these.
		_, err := os.Stat(source)
		require.NoError(t, err)
	}
	dir := t.TempDir()
	program, file := filepath.Join(dir, "awsretry"), filepath.Join(dir, "config")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join("..", "..", "cmd", "awsretry"), "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The same files in each run.
	for range 200 {
		text := oddFile(random)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.Equal(t, inSDK(t, file), inExplain(t, program, file), "%q", text)
	}
}

// oddFile returns a config file of lines that tools read in different ways.
func oddFile(random *rand.Rand) string {
	lines := []string{
		"[default]", "[default]", "  [default]", "[profile default]", "[ default ] # c", "[default] x", "[default]#]", "[profile x]", "[]", "[default",
		"max_attempts = 5", "max_attempts: 6", "MAX_ATTEMPTS = 010", "max_attempts = 0x7 # c", "  max_attempts = 8", "max_attempts = '9'", "max_attempts = ten",
		"retry_mode = adaptive", "  retry_mode: standard", "retry_mode = Adaptive", "retry_mode = \"standard\" ; c", "retry_mode =",
		"s3 =", "  a = b", "note = ''", "  more", "\tx", "note = '", "region = x", "\u00a0max_attempts = 4", "= x", "junk", "# c", "  ; c", "",
		"aws_access_key_id = a", "source_profile = x", "role_arn = a", "\r", "max_attempts = 3\r", "\uFEFF",
	}
	chosen := []string{lines[random.IntN(4)]}
	for range 2 + random.IntN(5) {
		chosen = append(chosen, lines[random.IntN(len(lines))])
	}
	return strings.Join(chosen, "\n") + "\n"
}

// inSDK returns what the SDK reads: mode/attempts, or that it refuses the file or the profile.
func inSDK(t *testing.T, file string) (read string) {
	t.Helper()
	defer func() {
		if recover() != nil {
			read = "refused"
		}
	}()
	profile, err := awsconfig.LoadSharedConfigProfile(t.Context(), "default", func(o *awsconfig.LoadSharedConfigOptions) {
		o.ConfigFiles, o.CredentialsFiles = []string{file}, []string{}
	})
	if _, missing := err.(awsconfig.SharedConfigProfileNotExistError); missing { //nolint:errorlint // The SDK asks this too.
		return "/"
	}
	if err != nil {
		return "refused"
	}
	return fmt.Sprintf("%s/%s", profile.RetryMode, strings.TrimPrefix(strconv.Itoa(profile.RetryMaxAttempts), "0"))
}

// inExplain returns what awsretry says of it.
func inExplain(t *testing.T, program, file string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "explain", "--tools", "--json", "--config-file", file, "--credentials-file", os.DevNull) //nolint:gosec // a program of ours
	cmd.Env = []string{"HOME=" + filepath.Dir(file)}
	out, _ := cmd.Output() // The exit status is that of awsretry's own reading.
	type value struct{ Value string }
	var answer struct {
		Tools []struct {
			Tool        string
			RetryMode   value  `json:"retry_mode"`
			MaxAttempts value  `json:"max_attempts"`
			Refused     *value `json:"refused"`
		}
	}
	require.NoError(t, json.Unmarshal(out, &answer), "%s", out)
	sdk := answer.Tools[0]
	require.Equal(t, "aws-sdk-go-v2", sdk.Tool)
	if sdk.Refused != nil {
		return "refused"
	}
	return sdk.RetryMode.Value + "/" + sdk.MaxAttempts.Value
}
