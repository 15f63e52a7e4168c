package examples_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
)

// A serviceFunc answers the requests of a client in the place of a service.
type serviceFunc func(r *http.Request) (*http.Response, error)

// Do is the method that clients of the SDK call.
func (f serviceFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// answer makes a response in the protocol of DynamoDB.
func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// configFor returns a config that depends neither on the environment nor on files.
func configFor(service aws.HTTPClient) aws.Config {
	return aws.Config{
		Region:      "eu-central-1",
		Credentials: credentials.NewStaticCredentialsProvider("ID", "SECRET", ""),
		HTTPClient:  service,
	}
}

// A client of the SDK is tested in virtual time, without environment, files and network.
func TestThrottledCallIsMadeAgain(t *testing.T) {
	requests := 0
	service := serviceFunc(func(*http.Request) (*http.Response, error) {
		if requests++; requests == 1 {
			return answer(http.StatusBadRequest, `{"__type": "ThrottlingException"}`), nil
		}
		return answer(http.StatusOK, `{"TableNames":["orders"]}`), nil
	})

	synctest.Test(t, func(t *testing.T) {
		cfg := aws.Config{
			Region:      "eu-central-1",
			Credentials: credentials.NewStaticCredentialsProvider("ID", "SECRET", ""),
			HTTPClient:  service,
		}
		require.NoError(t, awssdk.Install(&cfg, awssdk.WithSettings(
			awsretry.WithEnv(func(string) (string, bool) { return "", false }),
			awsretry.WithFS(fstest.MapFS{}),
			awsretry.WithRandom(func() float64 { return 1 }), // the longest delays
		)))
		start := time.Now()
		tables, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
		require.NoError(t, err)
		require.Equal(t, []string{"orders"}, tables.TableNames)
		require.Equal(t, time.Second, time.Since(start))
	})
}

// TestExamplesRun runs the examples whose output depends on the environment.
func TestExamplesRun(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "", "AWS_RETRY_MODE": "", "AWS_MAX_ATTEMPTS": "",
	} {
		t.Setenv(name, value)
	}
	Example_behaviorBefore()
	Example_scopeOfTheClient()
}

var (
	readmeProgram  = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")
	readmeCommands = regexp.MustCompile("(?s)```sh\n(go mod init .*?)```")
)

// TestProgramOutsideUsesTheCheckout makes the README's program in a temporary folder, with the README's commands. It
// builds the program offline and does not run it. The list before the build downloads what a workspace needs beyond the
// modules of the tests.
func TestProgramOutsideUsesTheCheckout(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	program, commands := readmeProgram.FindSubmatch(readme), readmeCommands.FindSubmatch(readme)
	require.NotNil(t, program)
	require.NotNil(t, commands)

	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "main.go"), program[1], 0o600))
	do := func(line string, env ...string) {
		words := strings.Fields(line)
		for i, word := range words {
			words[i] = strings.Replace(word, "../awsretry", root, 1)
		}
		command := exec.CommandContext(t.Context(), words[0], words[1:]...)
		command.Dir = outside
		command.Env = append(append(command.Environ(), "GOWORK=", "GOFLAGS="), env...)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
	}
	for line := range strings.Lines(string(commands[1])) {
		if line == "go run .\n" {
			do("go list -deps .")
			line = "go build ."
		}
		do(line, "GOPROXY=off")
	}
	built, err := filepath.Glob(filepath.Join(outside, "tables*"))
	require.NoError(t, err)
	require.Len(t, built, 1)
}
