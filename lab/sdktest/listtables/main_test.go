package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramRetriesOneFailure runs the program as it is, against a service that fails once.
func TestProgramRetriesOneFailure(t *testing.T) {
	requests := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests++; requests == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"TableNames": ["orders", "users"]}`)
	}))
	defer service.Close()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": service.URL, "AWS_REGION": "eu-central-1",
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "", "AWS_RETRY_MODE": "", "AWS_MAX_ATTEMPTS": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	read, write, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = write
	main()
	os.Stdout = stdout
	require.NoError(t, write.Close())
	printed, err := io.ReadAll(read)
	require.NoError(t, err)
	require.Equal(t, "[orders users]\n", string(printed))
	require.Equal(t, 2, requests)
}
